"""Restrict a site's events to those that a caller can see: events in visible spaces."""

from __future__ import annotations

from typing import Any, NamedTuple

from octavo.kit.db.database import Transaction
from octavo.organization.access.authorization import SiteAccess
from octavo.organization.access.visibility import select_visible_spaces
from octavo.organization.spaces.store import list_visible_space_ids
from octavo.sites.site.structure.store import load_structure


class EventSight(NamedTuple):
    """SQL fragments for queries on events ``e``. ``where``: the condition, which must come after ``prefix``
    and uses ``parameters``. ``whole``: whether the caller can see all spaces of the site."""

    prefix: str
    where: str
    parameters: dict[str, Any]
    whole: bool


def sight_of(tx: Transaction, site: SiteAccess) -> EventSight:
    """Return the condition for events that the caller can see. If a space of the site is hidden from the
    caller, events without a space are hidden too, because their URLs and words could be about that space.
    Organization administrators also see events in deleted spaces."""
    if site.member_role == "admin":
        return EventSight("", "1 = 1", {}, True)
    shown = {one.space_id for one in load_structure(tx, site.site_id).site_spaces.values()}
    whole = shown == set(list_visible_space_ids(tx, site.organization, among=list(shown)))
    seen = select_visible_spaces(site.organization, "s.deleted_at IS NULL")
    inside = f"e.space_id IN (SELECT v.id FROM {seen.visible} v)"
    return EventSight(
        seen.prefix, f"({inside} OR e.space_id IS NULL)" if whole else inside, seen.parameters, whole
    )
