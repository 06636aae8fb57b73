"""The integrations that come with Octavo, each a folder with its source; and the one that a new one begins as."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from octavo.errors import BadRequest, NotFound
from octavo.kit.temporary import TemporaryFolder

from .api import Api
from .bundling import bundle, install_packages
from .manifest import FILE, publication, read_manifest

_STARTER = "starter"
_SHARED = ("package.json", "package-lock.json", "tsconfig.json")
"""Beside the folders, for all of them."""


def builtin_folder() -> Path:
    """Where they are: inside the installed package, or beside the source. Raises NotFound."""
    package = Path(str(files("octavo")))
    for folder in (package / "builtin_integrations", package.parent.parent / "integrations"):
        if (folder / "package.json").is_file():
            return folder
    raise NotFound("This installation came without the built-in integrations.")


def list_builtin() -> list[str]:
    """Their names, in order."""
    found = [path.parent.name for path in builtin_folder().glob(f"*/{FILE}")]
    return sorted(name for name in found if name != _STARTER)


def build_builtin(target: Path, say: Callable[[str], None]) -> None:
    """Writes what publishing each of them takes into the folder ``target``: ``NAME.json``, and ``NAME.js``, its script.
    Raises BadRequest, BundleFailed, Unavailable."""
    target.mkdir(parents=True, exist_ok=True)
    with TemporaryFolder("integration") as place:
        # Packages are fetched beside the source, which stays as it is.
        source = Path(place) / "integrations"
        shutil.copytree(builtin_folder(), source, ignore=shutil.ignore_patterns("node_modules"))
        install_packages(source, say)
        for name in list_builtin():
            read = read_manifest(source / name)
            script = bundle(read.entry)
            # Who publishes it and its script are put in when that is done.
            body = msgspec.structs.replace(publication(read, script, name), script=f"{name}.js")
            (target / f"{name}.js").write_text(script, encoding="utf-8")
            (target / f"{name}.json").write_bytes(msgspec.json.encode(body))


def install_builtin(api: Api, name: str, *, organization: str | None = None) -> dict[str, Any]:
    """Publishes one by an organization, and installs it there; the installation as the API shows it. Done again after an
    update, it is its next version. Raises BadRequest, RefusedCall, Unavailable."""
    publisher = organization or api.only_organization()
    path = f"/orgs/{quote(publisher, safe='')}/builtin-integrations"
    installed: dict[str, Any] = api.call("POST", path, {"name": name})
    return installed


def start_integration(folder: Path) -> None:
    """Writes a first integration, named as the folder is. Raises BadRequest where there is something already."""
    name = re.sub(r"[^a-z0-9]+", "-", folder.resolve().name.lower()).strip("-")
    if not name:
        raise BadRequest(
            f"{folder}: the folder's name becomes that of the integration; expected letters in it"
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadRequest(f"{folder}: there is something already; expected a new folder")
    source = builtin_folder()
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copytree(source / _STARTER, folder, dirs_exist_ok=True)
    for file in _SHARED:
        shutil.copy(source / file, folder / file)
    title = name.replace("-", " ").capitalize().ljust(2, ".")[:30]
    manifest = folder / FILE
    text = (
        manifest.read_text()
        .replace("name: starter", f"name: {name}")
        .replace("title: Starter", f"title: {title}")
    )
    manifest.write_text(text)
