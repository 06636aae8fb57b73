"""Insights: record and query the activity of visitors of sites."""

from __future__ import annotations

from octavo.core.url_parts import host_of
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Listing
from octavo.kit.http.operation import PUBLIC, Area, Call
from octavo.organization.access.authorization import SiteAccess
from octavo.organization.access.roles import Can
from octavo.organization.orgs.store import get_organization
from octavo.sites.site.published import published_url
from octavo.sites.site.store import get_site

from . import querying
from .collecting import collect
from .questions import Aggregate, Aggregation, Segment
from .wire import TrackEvents, read_events

operation = Area("sites").operation

_INSIGHTS = "/orgs/{organizationId}/sites/{siteId}/insights"


@operation(
    "trackEventsInSiteById",
    "POST",
    f"{_INSIGHTS}/events",
    needs=PUBLIC,
    body_limit=256 * 1024,
    in_maintenance=True,
)
def track_events(call: Call, organization_id: str, site_id: str, body: TrackEvents) -> None:
    """Record events of visitors of a published site: at most 100 events, stored without IP addresses and
    cookies. Bots are recorded separately from people, by kind. Events of unknown types are skipped and listed
    in the header Octavo-Unread-Keys."""
    events, unknown = read_events(body.events)
    if unknown:
        call.response_headers["octavo-unread-keys"] = ", ".join(unknown)
    collect(call.context, organization_id, site_id, events)


@operation("aggregateSiteEvents", "POST", f"{_INSIGHTS}/events/aggregate", needs=Can.VIEW, agents="docs:gaps")
def aggregate(call: Call, site: SiteAccess, body: Aggregate) -> Aggregation:
    """Aggregate the events of a site in the spaces that you can see: `select` names the values to count,
    `where` filters events, and `groupBy` groups the result. Only people are counted unless the query names
    `visitorBot`, which is null for people and otherwise `crawler`, `assistant`, `coding-agent`, or
    `unknown`."""
    with call.db.read() as tx:
        return querying.aggregate(tx, site, host_of(_address(call, tx, site)), body)


@operation("listSiteVisitorSegments", "GET", f"{_INSIGHTS}/visitor-segments", needs=Can.VIEW)
def list_segments(call: Call, site: SiteAccess) -> Listing[Segment]:
    """List groups of visitors with the same signed claims, most active first."""
    with call.db.read() as tx:
        found = querying.list_segments(tx, site)
    return Listing(found, len(found))


def _address(call: Call, tx: Transaction, site: SiteAccess) -> str:
    """Return the URL of a site."""
    row = get_site(tx, site.site_id)
    return published_url(call.settings.sites_url, get_organization(tx, site.organization_id), row)
