"""From a URL to what it shows: a visit at a site, then at a space of it, and the path below.

A visit is the proof that whoever asks may see what it is at; every route of a site takes one.

A site is found by its own host name, or by ``/{organization hostname}/{site basename}/`` below the address of
sites. Only published sites of an open audience are there for everybody; all others look as if nothing were.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from ..content import main_state
from ..kit.db import Transaction
from ..orgs import find_organization_by_hostname
from ..sites import SiteRow, SiteSpaceRow, find_site_by_basename, find_site_by_hostname, list_site_spaces
from .state import SpaceState, load_state

_OPEN = ("public", "unlisted")


class SiteVisit(Struct, frozen=True):
    """A visit at a site. ``base`` is the site's path with slashes at both ends, ``rest`` what follows it."""

    site: SiteRow
    organization_id: str
    base: str
    rest: str


class SpaceVisit(Struct, frozen=True):
    """A visit at one space of a site; ``base`` is where the space starts."""

    visit: SiteVisit
    site_space: SiteSpaceRow
    site_spaces: tuple[SiteSpaceRow, ...]
    base: str
    rest: str
    state: SpaceState


def host_name(host: str) -> str:
    """The name in a Host header, without the port."""
    return host.partition(":")[0].lower()


def enter_site(tx: Transaction, host: str, path: str) -> SiteVisit | None:
    """The visit at the site that an address names; None where nobody else may know that there is one.

    ``path`` is decoded and begins with a slash.
    """
    name = host_name(host)
    by_host = find_site_by_hostname(tx, name) if "." in name else None
    if by_host is not None:
        site, base, rest = by_host, "/", path.lstrip("/")
    else:
        parts = path.lstrip("/").split("/", 2)
        if len(parts) < 2:
            return None
        org = find_organization_by_hostname(tx, parts[0].lower())
        found = find_site_by_basename(tx, org.id, parts[1].lower()) if org else None
        if found is None:
            return None
        site, base, rest = found, f"/{parts[0].lower()}/{found.basename}/", parts[2] if len(parts) > 2 else ""
    if not site.published or site.visibility not in _OPEN:
        return None
    return SiteVisit(site, site.organization_id, base, rest)


def list_spaces(tx: Transaction, visit: SiteVisit) -> list[SpaceVisit]:
    """Every space of the site, as if each were visited at its start."""
    first = enter_space(tx, replace(visit, rest=""))
    if first is None:
        return []
    others = [other for other in first.site_spaces if other.id != first.site_space.id]
    visits = [enter_space(tx, replace(visit, rest=f"{other.path}/")) for other in others]
    return [first, *(found for found in visits if found is not None)]


def enter_space(tx: Transaction, visit: SiteVisit) -> SpaceVisit | None:
    """The visit at the space that the rest of the path is in: one named by its first part, else the default."""
    site_spaces = tuple(list_site_spaces(tx, visit.site.id))
    if not site_spaces:
        return None
    default = next((s for s in site_spaces if s.is_default), site_spaces[0])
    first, _, below = visit.rest.partition("/")
    chosen = next((s for s in site_spaces if s.path == first.lower() and s.id != default.id), None)
    state = load_state(tx, main_state(tx, (chosen or default).space_id))
    if chosen is None:
        return SpaceVisit(visit, default, site_spaces, visit.base, visit.rest, state)
    return SpaceVisit(visit, chosen, site_spaces, f"{visit.base}{chosen.path}/", below, state)
