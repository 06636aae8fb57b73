"""URLs that an integration's blocks can show in frames on pages.

These are the integration's public endpoint, whose responses have no origin, and the hosts in the manifest, which
are listed in ``frame-src`` of its Content-Security-Policy or in ``urlUnfurl``. People see these hosts before they
install the integration. This server's hosts are never included, because a frame from this server could do more than
the sandbox allows."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from octavo.core.url_parts import read_address
from octavo.core.url_patterns import fits
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction

from . import store
from .manifest import Manifest
from .policies import list_origins
from .presenting import public_endpoint


class Frames(NamedTuple):
    """Frame sources. ``own``: the base URL of the integration's own pages. ``others``: other origins, in the format
    that policies use."""

    own: str
    others: tuple[str, ...] = ()

    @property
    def sources(self) -> tuple[str, ...]:
        return self.own, *self.others

    def is_other(self, url: str) -> bool:
        address = read_address(url)
        return address is not None and any(fits(origin, address) is not None for origin in self.others)


def frames_of(context: Context, name: str, manifest: Manifest) -> Frames:
    ours = frozenset((context.settings.address.host, context.settings.sites_address.host))
    others = tuple(origin for origin in list_origins(manifest) if not _covers(origin, ours))
    return Frames(f"{public_endpoint(context, name)}/", others)


def find_frames(tx: Transaction, context: Context, name: str) -> Frames:
    """Return the frame sources of the current version of the integration ``name``."""
    row = store.find_integration(tx, name)
    return frames_of(context, name, row.manifest if row is not None else Manifest())


@lru_cache(512)
def _covers(origin: str, hosts: frozenset[str]) -> bool:
    addresses = (read_address(f"{origin.partition('://')[0]}://{host}/") for host in hosts)
    without_port = origin if origin.count(":") == 1 else origin.rpartition(":")[0]
    return any(address is not None and fits(without_port, address) is not None for address in addresses)
