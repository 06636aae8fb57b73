"""Makes what is published of a version: the wheel, a list of all that is in it, and their checksums.

    python packaging/release.py [FOLDER]     into FOLDER, which is made; "dist" unless another one is named

The wheel of the last commit is built twice, in folders of their own, around one app, and nothing is published when the
two differ by a byte. The list (an SBOM in the format of CycloneDX) is made of an environment into which \
the wheel and the
locked packages were installed, and of the app's packages. Needs `uv sync --group release`.
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
"""What is built of the folder `web`."""
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
        raise SystemExit(f"{' '.join(str(part) for part in command)} ended with {done.returncode}")
    return done.stdout


def build(sources: Path, output: Path, app: Path | None = None) -> Path:
    """Builds the wheel from the files of the last commit, which are put into an empty folder, with the app that was
    built in another such folder, or one that is built here."""
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
    """The SBOM of an installed wheel, as JSON; of the same wheel it is the same. ``web``: where its app was built."""
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
        raise SystemExit(f"{wheel.name} says that it is {version}")
    command = Path(sys.executable).with_name("cyclonedx-py")
    listed = _run(command, "environment", "--output-reproducible", "--pyproject", "pyproject.toml", python)
    bom = Bom.from_json(json.loads(listed))  # type: ignore[attr-defined]
    for package in shipped(web):
        named = package.name.rpartition("/")
        bom.components.add(
            Component(
                name=package.name,
                version=package.version,
                licenses=[LicenseFactory().make_from_string(package.licence)],
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
            raise SystemExit("The app was not built (see above); nothing was written.")
        second = build(temporary / "or" / "there", temporary / "second", app=temporary / "here")
        if first.read_bytes() != second.read_bytes():
            raise SystemExit("The same sources gave two wheels that differ; nothing was written.")
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
