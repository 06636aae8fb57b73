"""Events about site visits that integrations receive: which pages visitors read, and how they rated these pages.

Integrations receive the data that insights store, which doesn't identify visitors: it contains neither IP addresses nor
browser details, and a visitor's ID is different on every site. The only cookie that it contains is the one with the
visitor's consent, which scripts must respect."""

from __future__ import annotations

from collections.abc import Sequence

from octavo.content.revisions.restrictions import HiddenPages, restricted_pages
from octavo.core.json_types import JsonObject
from octavo.core.url_parts import origin_of
from octavo.kit.clock import now
from octavo.kit.db.database import Transaction
from octavo.kit.work.outbox import emit
from octavo.sites.insights.collecting import on_events
from octavo.sites.insights.store import EventRow
from octavo.sites.insights.types import CONSENT

from . import store
from .delivering import EVENT_MAPPINGS

_TYPES = {
    "page_view": "site_view",
    "page_post_feedback": "page_feedback",
    "page_post_feedback_comment": "page_feedback",
}
"""Names of insights events that integrations receive, with the corresponding types of integration events."""


def _queue_visits(tx: Transaction, rows: Sequence[EventRow]) -> None:
    """Queue visits for integrations, except visits to restricted pages. Writes nothing if no integration subscribes
    to visits.

    In an organization with restricted pages, visits without a page are omitted, because their URL could belong to a
    restricted page. For the same reason, paths are removed from referrers."""
    listening: dict[tuple[str, str], str | None] = {}
    restricted: dict[str, HiddenPages] = {}
    for row in rows:
        type = _TYPES.get(row.type)
        if type is None:
            continue
        key = (row.site_id, type)
        if key not in listening:
            listening[key] = _find_listening(tx, row.site_id, type)
        organization_id = listening[key]
        if organization_id is None:
            continue
        if organization_id not in restricted:
            restricted[organization_id] = restricted_pages(tx, organization_id)
        hidden = restricted[organization_id]
        if not hidden:
            emit(tx, type, organization_id=organization_id, siteId=row.site_id, **_fields(row))
        elif row.space_id is not None and row.page_id is not None:
            if row.page_id not in hidden.of(row.space_id):
                fields = {**_fields(row), "referrer": origin_of(row.referrer or "")}
                emit(tx, type, organization_id=organization_id, siteId=row.site_id, **fields)


def _find_listening(tx: Transaction, site_id: str, type: str) -> str | None:
    """Return a site's organization if one of its integrations subscribes to this type of event."""
    organization_id = store.find_organization_of_site(tx, site_id)
    if organization_id is None:
        return None
    recipients = store.list_recipients(
        tx, organization_id, "site", site_id, EVENT_MAPPINGS[type].scope, now()
    )
    return organization_id if recipients else None


def _fields(row: EventRow) -> JsonObject:
    cookies = {CONSENT: row.consent} if row.consent else {}
    visitor: JsonObject = {"anonymousId": row.visitor, "cookies": cookies, "userAgent": "", "ip": ""}
    if row.language:
        visitor["language"] = row.language
    fields: JsonObject = {"visitor": visitor, "url": row.url, "referrer": row.referrer or ""}
    places = {"siteSpaceId": row.site_space_id, "spaceId": row.space_id, "pageId": row.page_id}
    fields |= {name: value for name, value in places.items() if value}
    if row.page_rating is not None:
        fields["feedback"] = {"rating": row.page_rating} | ({"comment": row.comment} if row.comment else {})
    return fields


on_events(_queue_visits)
