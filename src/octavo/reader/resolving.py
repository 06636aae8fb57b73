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
from ..references import Files, SpaceView, ViewFiles, load_view
from ..sites import SiteRow, SiteSpaceRow, find_site_by_basename, find_site_by_hostname, list_site_spaces

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
    view: SpaceView


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
    view = load_view(tx, main_state(tx, (chosen or default).space_id))
    if chosen is None:
        return SpaceVisit(visit, default, site_spaces, visit.base, visit.rest, view)
    return SpaceVisit(visit, chosen, site_spaces, f"{visit.base}{chosen.path}/", below, view)


class Visitor:
    """A visitor of a site, for whom of other spaces those are there that the site publishes (``Viewer``)."""

    members = False

    def __init__(self, tx: Transaction, space: SpaceVisit) -> None:
        self._tx = tx
        self._space = space
        self._visits: dict[str, SpaceVisit | None] = {space.site_space.space_id: space}

    def visit(self, space_id: str) -> SpaceVisit | None:
        """The start of a space of the site; None when the site does not show it."""
        if space_id not in self._visits:
            self._visits[space_id] = self._find(space_id)
        return self._visits[space_id]

    def _find(self, space_id: str) -> SpaceVisit | None:
        site_space = next((s for s in self._space.site_spaces if s.space_id == space_id), None)
        rest = "" if site_space is None or site_space.is_default else f"{site_space.path}/"
        found = enter_space(self._tx, replace(self._space.visit, rest=rest)) if site_space else None
        return found if found is not None and found.site_space.space_id == space_id else None

    def sees(self, space_id: str) -> bool:
        return self.visit(space_id) is not None

    def files(self, space_id: str) -> Files | None:
        there = self.visit(space_id)
        return ViewFiles(self._tx, there.view, withheld=False) if there is not None else None
