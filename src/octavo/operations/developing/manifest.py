"""The manifest of an integration, ``gitbook-manifest.yaml``, as the public command-line tool reads it."""

from __future__ import annotations

import base64
import difflib
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec
import yaml
from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.errors import BadRequest
from octavo.extensions.integrations.manifest import PublishIntegration
from octavo.kit.http.dispatcher import invalid

FILE = "gitbook-manifest.yaml"
_DEFAULT = "default"
"""The environment whose values count when none is named."""
_REFERENCE = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")


class Environment(Struct, rename="camel"):
    """What an integration has in place of its own values where it is published for ``envs.<name>``."""

    organization: str | UnsetType = UNSET
    visibility: Literal["public", "private", "unlisted"] | UnsetType = UNSET
    secrets: dict[str, str] | UnsetType = UNSET


class Manifest(PublishIntegration, rename="camel", kw_only=True):
    """What is published of an integration, with the paths of files in place of the script and the images."""

    name: Annotated[str, Meta(min_length=1, max_length=100, pattern=r"^[a-zA-Z0-9-_.]+\Z")]
    script: str
    description: Annotated[str, Meta(max_length=100)] = ""
    organization: str = ""
    icon: str | UnsetType = UNSET
    preview_images: Annotated[list[str], Meta(max_length=3)] = []
    envs: dict[str, Environment] = {}


class Read(Struct, frozen=True):
    """``path``: of the file. ``unknown``: sentences about keys that nobody reads."""

    path: Path
    manifest: Manifest
    unknown: list[str]

    @property
    def entry(self) -> Path:
        """The file that the script begins in."""
        return self.path.parent / self.manifest.script


def find_manifest(place: Path) -> Path:
    """The file in a folder, or the file itself. Raises BadRequest."""
    path = place / FILE if place.is_dir() else place
    if not path.is_file():
        raise BadRequest(f"{path}: there is no manifest here. `octavo integrations new` makes one.")
    return path


def read_manifest(
    place: Path,
    environment: str | None = None,
    variables: Mapping[str, str] | None = None,
    *,
    secrets: bool = True,
) -> Read:
    """The manifest in a folder, with the values of an environment in it, and its secrets out of ``variables`` (those of
    the process); without ``secrets`` with their names alone. Raises BadRequest that names the file and what is wrong in
    it."""
    path = find_manifest(place)
    try:
        given = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(f"{path}: {error}") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}" if mark else str(path)
        raise BadRequest(f"{where}: {getattr(error, 'problem', None) or 'this is not YAML'}") from None
    if not isinstance(given, dict):
        raise BadRequest(f"{path}: expected keys such as name, title, script and scopes")
    try:
        manifest = msgspec.convert(given, Manifest)
    except msgspec.ValidationError as error:
        raise BadRequest(f"{path}: {invalid(error, 'manifest')}{_allowed(str(error))}") from None
    manifest = _for_environment(path, manifest, environment)
    if secrets:
        filled = _filled(path, manifest.secrets, os.environ if variables is None else variables)
    else:
        filled = dict.fromkeys(manifest.secrets, "")
    read = Read(path, msgspec.structs.replace(manifest, secrets=filled), list(_unknown(path, given)))
    if not read.entry.is_file():
        raise BadRequest(f"{path}: script: there is no file {read.entry}")
    return read


def publication(read: Read, script: str, organization: str) -> PublishIntegration:
    """What is sent to publish it. Raises BadRequest for images that cannot be read."""
    manifest = read.manifest
    fields: dict[str, Any] = {name: getattr(manifest, name) for name in PublishIntegration.__struct_fields__}
    images = [
        _image(read.path, f"previewImages[{n}]", name) for n, name in enumerate(manifest.preview_images)
    ]
    icon = UNSET if manifest.icon is UNSET else _image(read.path, "icon", manifest.icon)
    made = {"runtime": "v2", "script": script, "organization": organization}
    return PublishIntegration(**{**fields, **made, "icon": icon, "preview_images": images})


def _for_environment(path: Path, manifest: Manifest, name: str | None) -> Manifest:
    found = manifest.envs.get(name or _DEFAULT)
    if found is None:
        if name is not None:
            known = ", ".join(sorted(manifest.envs)) or "none"
            raise BadRequest(f"{path}: envs: there is no environment {name!r}; there are: {known}")
        return manifest
    given = {key: value for key, value in msgspec.structs.asdict(found).items() if value is not UNSET}
    return msgspec.structs.replace(manifest, **given)


def _filled(path: Path, secrets: Mapping[str, str], variables: Mapping[str, str]) -> dict[str, str]:
    """Secrets with ``${{ env.NAME }}`` in them replaced."""

    def value(name: str, reference: str) -> str:
        kind, _, variable = reference.partition(".")
        if kind != "env" or not variable:
            raise BadRequest(f"{path}: secrets.{name}: expected ${{{{ env.NAME }}}}, got {reference!r}")
        if not variables.get(variable):
            raise BadRequest(f"{path}: secrets.{name}: the variable {variable} is not set in the environment")
        return variables[variable]

    return {
        name: _REFERENCE.sub(lambda found, name=name: value(name, found[1]), text)  # type: ignore[misc]
        for name, text in secrets.items()
    }


def _image(path: Path, field: str, name: str) -> str:
    try:
        return base64.b64encode((path.parent / name).read_bytes()).decode()
    except OSError as error:
        raise BadRequest(f"{path}: {field}: {error}") from None


def _unknown(path: Path, given: dict[Any, Any]) -> Iterator[str]:
    known = [field.encode_name for field in msgspec.structs.fields(Manifest)]
    for key in given:
        if key not in known:
            close = difflib.get_close_matches(str(key), known, 1)
            yield f"{path}: nothing reads {key!r}" + (f"; did you mean {close[0]!r}?" if close else "")


def _allowed(message: str) -> str:
    """The values that a field takes, when it was given another one."""
    found = re.fullmatch(r"Invalid enum value .* - at `\$\.(\w+)(?:\[\d+\])?`", message)
    fields = {field.encode_name: field.name for field in msgspec.structs.fields(Manifest)}
    if found is None or found[1] not in fields:
        return ""
    values = _literals(get_type_hints(Manifest)[fields[found[1]]])
    return f"; expected one of {', '.join(values)}"


def _literals(kind: Any) -> list[str]:
    if get_origin(kind) is Literal:
        return list(get_args(kind))
    return [value for part in get_args(kind) for value in _literals(part)]
