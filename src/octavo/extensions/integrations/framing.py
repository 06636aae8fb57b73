"""Which addresses the blocks of an integration may show in frames on pages.

Its own public endpoint, whose answers have no origin; and the hosts that its manifest names, as ``frame-src`` of its
content security policy or in ``urlUnfurl``, whose addresses its blocks stand for. Whoever installs it is shown them.
Hosts of this installation are never among these: a frame of ours would be more than its sandbox lets others be.
"""

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
    """``own``: the address below which the integration's own pages are; ``others``: origins, as policies name them."""

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
    """Those of the integration ``name``, as it is now."""
    row = store.find_integration(tx, name)
    return frames_of(context, name, row.manifest if row is not None else Manifest())


@lru_cache(512)
def _covers(origin: str, hosts: frozenset[str]) -> bool:
    addresses = (read_address(f"{origin.partition('://')[0]}://{host}/") for host in hosts)
    without_port = origin if origin.count(":") == 1 else origin.rpartition(":")[0]
    return any(address is not None and fits(without_port, address) is not None for address in addresses)
