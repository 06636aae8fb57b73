"""Built-in integrations, each in a folder with its source, and the template for new integrations."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

import msgspec

from octavo.core.json_types import JsonObject
from octavo.errors import BadRequest, NotFound
from octavo.kit.temporary import TemporaryFolder

from .api import ApiClient
from .bundling import bundle, install_packages
from .manifest import FILE, publication, read_manifest

_STARTER = "starter"
_SHARED = ("package.json", "package-lock.json", "tsconfig.json")
"""Files that are in the same folder as the integrations' folders, and that all integrations share."""


def builtin_folder() -> Path:
    """Return the folder of the built-in integrations, which is inside the installed package or next to the source.
    Raises NotFound if there is none."""
    package = Path(str(files("octavo")))
    for folder in (package / "builtin_integrations", package.parent.parent / "integrations"):
        if (folder / "package.json").is_file():
            return folder
    raise NotFound("This server doesn't include the built-in integrations.")


def list_builtin() -> list[str]:
    """Return the sorted names of the built-in integrations."""
    found = [path.parent.name for path in builtin_folder().glob(f"*/{FILE}")]
    return sorted(name for name in found if name != _STARTER)


def build_builtin(target: Path, say: Callable[[str], None]) -> None:
    """For each built-in integration, write the files that publishing requires to the folder ``target``: ``NAME.json``
    and the script ``NAME.js``. Raises BadRequest, BundleFailed, or Unavailable if that fails."""
    target.mkdir(parents=True, exist_ok=True)
    with TemporaryFolder("integration") as place:
        # Packages must not be installed into the source folder.
        source = Path(place) / "integrations"
        shutil.copytree(builtin_folder(), source, ignore=shutil.ignore_patterns("node_modules"))
        install_packages(source, say)
        for name in list_builtin():
            read = read_manifest(source / name)
            script = bundle(read.entry)
            # The publisher and the script are added when it is published.
            body = msgspec.structs.replace(publication(read, script, name), script=f"{name}.js")
            (target / f"{name}.js").write_text(script, encoding="utf-8")
            (target / f"{name}.json").write_bytes(msgspec.json.encode(body))


def install_builtin(api: ApiClient, name: str, *, organization: str | None = None) -> JsonObject:
    """Publish a built-in integration and install it in an organization. Return the installation in the API format.
    After an Octavo update, this publishes a new version of the integration. Raises BadRequest, RefusedCall, or
    Unavailable if that fails."""
    publisher = organization or api.only_organization()
    path = f"/orgs/{quote(publisher, safe='')}/builtin-integrations"
    installed: JsonObject = api.call("POST", path, {"name": name})
    return installed


def start_integration(folder: Path) -> None:
    """Create a new integration, named after the folder. Raises BadRequest if the folder isn't empty."""
    name = re.sub(r"[^a-z0-9]+", "-", folder.resolve().name.lower()).strip("-")
    if not name:
        raise BadRequest(
            f"{folder}: the folder name must contain letters, because the integration is named after the"
            " folder"
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadRequest(f"{folder} already exists and isn't empty. Choose a new or empty folder.")
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
