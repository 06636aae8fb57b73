"""Which events of a site somebody may know of: those in spaces that they see."""

from __future__ import annotations

from typing import Any, NamedTuple

from octavo.kit.db.database import Transaction
from octavo.organization.access.authorization import SiteAccess
from octavo.organization.access.visibility import select_visible_spaces
from octavo.organization.spaces.store import list_visible_space_ids
from octavo.sites.site.structure.store import load_structure


class Sight(NamedTuple):
    """SQL around questions about events ``e``: ``where`` behind ``prefix``, with ``parameters``. ``whole``: no space of
    the site is closed to whoever asks."""

    prefix: str
    where: str
    parameters: dict[str, Any]
    whole: bool


def sight_of(tx: Transaction, site: SiteAccess) -> Sight:
    """What the caller may know. Where a space of the site is closed to them, so are events that belong to no space: the
    URLs and words in them may be about that one. Administrators also see what is left of deleted spaces."""
    if site.role == "admin":
        return Sight("", "1 = 1", {}, True)
    shown = {one.space_id for one in load_structure(tx, site.site_id).site_spaces.values()}
    whole = shown == set(list_visible_space_ids(tx, site.organization, among=list(shown)))
    seen = select_visible_spaces(site.organization, "s.deleted_at IS NULL")
    inside = f"e.space_id IN (SELECT v.id FROM {seen.visible} v)"
    return Sight(
        seen.prefix, f"({inside} OR e.space_id IS NULL)" if whole else inside, seen.parameters, whole
    )
