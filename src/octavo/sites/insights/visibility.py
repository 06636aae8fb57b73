"""Restrict a site's events to those that a caller can see: events in visible spaces, except on hidden pages."""

from __future__ import annotations

from typing import Any, NamedTuple

from octavo.content.revisions.restrictions import hidden_from
from octavo.kit.db.database import Transaction
from octavo.organization.access.authorization import SiteAccess
from octavo.organization.access.visibility import select_visible_spaces
from octavo.sites.site.shown_spaces import sees_all_ever_shown

from . import store


class EventSight(NamedTuple):
    """SQL fragments for queries on events ``e``. ``where``: the condition for events that the caller can see.
    ``target``: the condition for link targets within Octavo. Both must come after ``prefix`` and use ``parameters``.
    ``whole``: whether the caller can see all spaces of the site and all of their pages."""

    prefix: str
    where: str
    target: str
    parameters: dict[str, Any]
    whole: bool


def sight_of(tx: Transaction, site: SiteAccess) -> EventSight:
    """Return the condition for events that the caller can see. If a space that is or was on the site, or one of its
    pages, is hidden from the caller, events without a space are hidden, too, because their URLs and search terms might
    reveal that space or page. For the same reason, events without a page are hidden in spaces with hidden pages.
    Organization administrators also see events in deleted spaces."""
    if site.member_role == "admin":
        return EventSight("", "1 = 1", "1 = 1", {}, True)
    hidden = hidden_from(tx, site.organization)
    whole = sees_all_ever_shown(tx, site, hidden)
    seen = select_visible_spaces(site.organization, "s.deleted_at IS NULL")

    def within(space: str, page: str) -> str:
        return f"{space} IN (SELECT v.id FROM {seen.visible} v){hidden.condition(space, page)}"

    # Where a space has hidden pages, the condition isn't met by events without a page.
    inside = within("e.space_id", "e.page_id")
    target_page = f"COALESCE({store.link_expression(tx, 'page')}, '')"
    target_space = f"COALESCE({store.link_expression(tx, 'space')}, e.space_id)"
    return EventSight(
        seen.prefix,
        f"({inside} OR e.space_id IS NULL)" if whole else f"({inside})",
        f"({within(target_space, target_page)})",
        {**seen.parameters, **hidden.parameters},
        whole,
    )
