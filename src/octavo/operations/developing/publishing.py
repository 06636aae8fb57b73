"""Publish an integration from its folder, or pack it into a single file that can be published in the app."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from octavo.core.json_types import JsonObject

from .api import ApiClient, integration_path
from .bundling import bundle, install_packages
from .manifest import publication, read_manifest


def pack_folder(
    place: Path, target: Path | None, say: Callable[[str], None], *, environment: str | None = None
) -> Path:
    """Bundle the script, write all data that is needed for publishing to one JSON file (by default,
    ``NAME.integration.json``), and return the path of the file. The file contains the integration's ``name`` and
    the body of ``publishIntegration``, without the organization and without the values of secrets.

    Raises BadRequest, BundleFailed, Unavailable, or OSError if that fails.
    """
    read = read_manifest(place, environment, secrets=False)
    for sentence in read.unknown:
        say(sentence)
    install_packages(read.path.parent, say)
    body = msgspec.to_builtins(publication(read, bundle(read.entry), ""))
    del body["organization"]
    name = read.manifest.name
    path = target or Path(f"{name}.integration.json")
    path.write_bytes(msgspec.json.format(msgspec.json.encode({"name": name, **body})))
    return path


def publish_folder(
    api: ApiClient,
    place: Path,
    say: Callable[[str], None],
    *,
    organization: str | None = None,
    environment: str | None = None,
) -> JsonObject:
    """Bundle the script, publish it as the next version, and return the integration in the API format.
    ``organization``: the ID or subdomain of the organization, which takes precedence over the manifest.

    Raises BadRequest, BundleFailed, RefusedCall, or Unavailable if that fails.
    """
    read = read_manifest(place, environment)
    for sentence in read.unknown:
        say(sentence)
    install_packages(read.path.parent, say)
    script = bundle(read.entry)
    publisher = organization or read.manifest.organization or api.only_organization()
    body = msgspec.to_builtins(publication(read, script, publisher))
    published: JsonObject = api.call("POST", integration_path(read.manifest.name), body)
    return published
