"""Publishing an integration out of its folder, and packing it into one file, which the app publishes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from .api import Api, integration_path
from .bundling import bundle, install_packages
from .manifest import publication, read_manifest


def pack_folder(
    place: Path, target: Path | None, say: Callable[[str], None], *, environment: str | None = None
) -> Path:
    """Bundles the script and writes what publishing takes into one JSON file, ``NAME.integration.json`` unless ``target``
    says another place: the body of publishIntegration with the ``name`` of the integration, without the organization
    that publishes and with the names of its secrets alone. Gives the path of the file.

    Raises BadRequest, BundleFailed, Unavailable, OSError.
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
    api: Api,
    place: Path,
    say: Callable[[str], None],
    *,
    organization: str | None = None,
    environment: str | None = None,
) -> dict[str, Any]:
    """Bundles the script and publishes the next version; the integration as the API shows it. ``organization`` (id or
    subdomain) goes before what the manifest says.

    Raises BadRequest, BundleFailed, RefusedCall, Unavailable.
    """
    read = read_manifest(place, environment)
    for sentence in read.unknown:
        say(sentence)
    install_packages(read.path.parent, say)
    script = bundle(read.entry)
    publisher = organization or read.manifest.organization or api.only_organization()
    body = msgspec.to_builtins(publication(read, script, publisher))
    published: dict[str, Any] = api.call("POST", integration_path(read.manifest.name), body)
    return published
