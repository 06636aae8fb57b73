"""The integrations that come with Octavo, each a folder with its source; and the one that a new one begins as."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..errors import BadRequest, NotFound
from ..kit.temporary import TemporaryFolder
from .api import Api, integration_path
from .manifest import FILE
from .publishing import publish_folder

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


def install_builtin(
    api: Api, name: str, say: Callable[[str], None], *, organization: str | None = None
) -> dict[str, Any]:
    """Publishes one for an organization, and installs it there; the installation as the API shows it. Done again, it
    is its next version. Raises NotFound, and what publishing raises."""
    if name not in list_builtin():
        raise NotFound(f"There is no built-in integration {name!r}; there are: {', '.join(list_builtin())}.")
    publisher = organization or api.only_organization()
    with TemporaryFolder("integration") as place:
        # Packages are fetched beside the source, and where that is need not be writable.
        folder = Path(place) / "integrations"
        shutil.copytree(builtin_folder(), folder, ignore=shutil.ignore_patterns("node_modules"))
        publish_folder(api, folder / name, say, organization=publisher)
    path = f"{integration_path(name)}/installations"
    installed: dict[str, Any] = api.call("POST", path, {"organization": publisher})
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
