"""Create the files of a release: the wheel, an SBOM, and checksums.

    python packaging/release.py [FOLDER]     FOLDER is created if necessary; "dist" by default

Builds the wheel from the last commit twice, in different folders, with the same app. If the two wheels differ, no
files are written. The SBOM (in CycloneDX format) lists an environment with the wheel and the locked packages, and
the app's packages. Requires `uv sync --group release`.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

ROOT = Path(__file__).parents[1]
UV = ROOT / ".uv" / "bin" / "uv"
APP = "src/octavo/*/*/dist"
"""Build output of the folder `web`."""
sys.path.insert(0, str(ROOT / "web"))

from packages import shipped  # noqa: E402


def _run(*command: str | Path, folder: Path = ROOT, **variables: str) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env={**os.environ, **variables},
        check=False,
        stdout=subprocess.PIPE,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(str(part) for part in command)} failed with exit code {done.returncode}")
    return done.stdout


def build(sources: Path, output: Path, app: Path | None = None) -> Path:
    """Build the wheel from the last commit and return its path.

    ``sources`` is created and receives the files of the commit. ``app``: such a folder in which the app has already
    been built; None builds it.
    """
    sources.mkdir(parents=True)
    _run("git", "archive", "--output", sources / "sources.tar", "HEAD")
    _run("tar", "--extract", "--file", "sources.tar", folder=sources)
    (sources / "sources.tar").unlink()
    if app is None:
        _run(sys.executable, "web/build.py", folder=sources, PYTHONPATH=str(sources / "src"))
    else:
        for part in app.glob(APP):
            shutil.copytree(part, sources / part.relative_to(app))
    moment = _run("git", "log", "-1", "--format=%ct").strip()
    _run(
        UV,
        "build",
        "--quiet",
        "--wheel",
        "--out-dir",
        output,
        "--python",
        sys.executable,
        sources,
        SOURCE_DATE_EPOCH=moment,
    )
    (wheel,) = output.glob("*.whl")
    return wheel


def describe(wheel: Path, folder: Path, web: Path) -> str:
    """Return the SBOM of a wheel as JSON. It is the same each time for the same wheel. ``web``: the folder in which its
    app was built."""
    python = folder / "installed" / "bin" / "python"
    _run(UV, "venv", "--quiet", "--python", sys.executable, folder / "installed")
    _run(
        UV,
        "export",
        "--frozen",
        "--quiet",
        "--no-dev",
        "--all-extras",
        "--no-emit-project",
        "--output-file",
        folder / "locked.txt",
    )
    _run(UV, "pip", "install", "--quiet", "--python", python, "--require-hashes", "-r", folder / "locked.txt")
    _run(UV, "pip", "install", "--quiet", "--python", python, "--no-deps", wheel)
    version = _run(python.with_name("octavo"), "--version").strip()
    if wheel.name.split("-")[1] not in version:
        raise SystemExit(f"{wheel.name} reports another version: {version}")
    command = Path(sys.executable).with_name("cyclonedx-py")
    listed = _run(command, "environment", "--output-reproducible", "--pyproject", "pyproject.toml", python)
    bom = Bom.from_json(json.loads(listed))  # type: ignore[attr-defined]
    for package in shipped(web):
        named = package.name.rpartition("/")
        bom.components.add(
            Component(
                name=package.name,
                version=package.version,
                licenses=[LicenseFactory().make_from_string(package.license)],
                purl=PackageURL("npm", named[0] or None, named[2], package.version),
            )
        )
    return JsonV1Dot6(bom).output_as_string(indent=1)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        temporary = Path(name)
        first = build(temporary / "here", temporary / "first")
        if not (temporary / "here" / "src" / "octavo" / "delivery" / "studio" / "dist").exists():
            raise SystemExit("The app couldn't be built (see above). No files were written.")
        second = build(temporary / "or" / "there", temporary / "second", app=temporary / "here")
        if first.read_bytes() != second.read_bytes():
            raise SystemExit("The same sources resulted in two different wheels. No files were written.")
        made = {
            first.name: first.read_bytes(),
            f"{first.stem}.cdx.json": describe(first, temporary, temporary / "here" / "web").encode(),
        }
    made["SHA256SUMS"] = "".join(
        f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in made.items()
    ).encode()
    for name, data in made.items():
        (folder / name).write_bytes(data)
        print(folder / name)


if __name__ == "__main__":
    main(Path((sys.argv[1:] or ["dist"])[0]))
