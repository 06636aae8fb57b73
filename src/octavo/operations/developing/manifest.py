"""Manifest of an integration, ``gitbook-manifest.yaml``, in the format of the public command-line tool."""

from __future__ import annotations

import base64
import difflib
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import yaml
from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.errors import BadRequest
from octavo.extensions.integrations.manifest import PublishIntegration
from octavo.kit.http.dispatcher import invalid
from octavo.kit.texts import pattern

FILE = "gitbook-manifest.yaml"
_DEFAULT = "default"
"""Name of the default environment."""
_REFERENCE = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")


class Environment(Struct, rename="camel"):
    """Values that override those in the manifest if the integration is published for the environment
    ``envs.<name>``."""

    organization: str | UnsetType = UNSET
    visibility: Literal["public", "private", "unlisted"] | UnsetType = UNSET
    secrets: dict[str, str] | UnsetType = UNSET


class ManifestFile(PublishIntegration, rename="camel", kw_only=True):
    """Manifest of an integration. It has the same fields as the body of ``publishIntegration``, but file paths in
    place of the script and the images."""

    name: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=100,
            pattern=pattern(
                r"^[a-zA-Z0-9-_.]+\Z", "consist of letters, digits, hyphens, underscores, and periods"
            ),
        ),
    ]
    script: str
    description: Annotated[str, Meta(max_length=100)] = ""
    organization: str = ""
    icon: str | UnsetType = UNSET
    preview_images: Annotated[list[str], Meta(max_length=3)] = []
    envs: dict[str, Environment] = {}


class LoadedManifest(Struct, frozen=True):
    """Manifest that was read from the file ``path``. ``unknown``: messages about unknown keys."""

    path: Path
    manifest: ManifestFile
    unknown: list[str]

    @property
    def entry(self) -> Path:
        """Return the path of the script's entry file."""
        return self.path.parent / self.manifest.script


def find_manifest(place: Path) -> Path:
    """Return the manifest in a folder, or the given file itself. Raises BadRequest if there is none."""
    path = place / FILE if place.is_dir() else place
    if not path.is_file():
        raise BadRequest(
            f"{path}: there is no manifest. Create an integration with `octavo integrations new`."
        )
    return path


def read_manifest(
    place: Path,
    environment: str | None = None,
    variables: Mapping[str, str] | None = None,
    *,
    secrets: bool = True,
) -> LoadedManifest:
    """Read the manifest in a folder, apply the values of an environment, and fill in secrets. ``variables``: the
    environment variables; by default, those of the process. ``secrets``: whether to fill in secrets; otherwise,
    only their names are kept. Raises BadRequest with the file and the problem if the manifest is invalid."""
    path = find_manifest(place)
    try:
        given = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(f"{path}: {error}") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}" if mark else str(path)
        raise BadRequest(f"{where}: {getattr(error, 'problem', None) or 'invalid YAML'}") from None
    if not isinstance(given, dict):
        raise BadRequest(f"{path}: must contain keys such as name, title, script, and scopes")
    try:
        manifest = msgspec.convert(given, ManifestFile)
    except msgspec.ValidationError as error:
        raise BadRequest(f"{path}: {invalid(error, 'manifest', ManifestFile)}") from None
    manifest = _for_environment(path, manifest, environment)
    if secrets:
        filled = _fill_secrets(path, manifest.secrets, os.environ if variables is None else variables)
    else:
        filled = dict.fromkeys(manifest.secrets, "")
    read = LoadedManifest(
        path, msgspec.structs.replace(manifest, secrets=filled), list(_unknown_keys(path, given))
    )
    if not read.entry.is_file():
        raise BadRequest(f"{path}: script: there is no file {read.entry}")
    return read


def publication(read: LoadedManifest, script: str, organization: str) -> PublishIntegration:
    """Return the request body for ``publishIntegration``. Raises BadRequest if an image can't be read."""
    manifest = read.manifest
    fields: dict[str, Any] = {name: getattr(manifest, name) for name in PublishIntegration.__struct_fields__}
    images = [
        _image(read.path, f"previewImages[{n}]", name) for n, name in enumerate(manifest.preview_images)
    ]
    icon = UNSET if manifest.icon is UNSET else _image(read.path, "icon", manifest.icon)
    made = {"runtime": "v2", "script": script, "organization": organization}
    return PublishIntegration(**{**fields, **made, "icon": icon, "preview_images": images})


def _for_environment(path: Path, manifest: ManifestFile, name: str | None) -> ManifestFile:
    found = manifest.envs.get(name or _DEFAULT)
    if found is None:
        if name is not None:
            known = ", ".join(sorted(manifest.envs)) or "none"
            raise BadRequest(f"{path}: envs: there is no environment named {name!r}. Available: {known}")
        return manifest
    given = {key: value for key, value in msgspec.structs.asdict(found).items() if value is not UNSET}
    return msgspec.structs.replace(manifest, **given)


def _fill_secrets(path: Path, secrets: Mapping[str, str], variables: Mapping[str, str]) -> dict[str, str]:
    """Return the secrets with every ``${{ env.NAME }}`` replaced with the value of the variable."""

    def value(name: str, reference: str) -> str:
        kind, _, variable = reference.partition(".")
        if kind != "env" or not variable:
            raise BadRequest(f"{path}: secrets.{name}: must be ${{{{ env.NAME }}}}, not {reference!r}")
        if not variables.get(variable):
            raise BadRequest(f"{path}: secrets.{name}: the environment variable {variable} isn't set")
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


def _unknown_keys(path: Path, given: dict[object, object]) -> Iterator[str]:
    known = [field.encode_name for field in msgspec.structs.fields(ManifestFile)]
    for key in given:
        if key not in known:
            close = difflib.get_close_matches(str(key), known, 1)
            yield f"{path}: unknown key {key!r}" + (f"; did you mean {close[0]!r}?" if close else "")
