"""Insights: tracking what visitors of sites do, and asking about it."""

from __future__ import annotations

from ..access import Can, SiteAccess
from ..kit.operation import PUBLIC, Area, Call
from ..kit.pagination import Listing
from . import querying
from .collecting import collect
from .wire import Aggregate, Aggregation, Segment, TrackEvents

operation = Area("sites").operation

_INSIGHTS = "/orgs/{organizationId}/sites/{siteId}/insights"


@operation("trackEventsInSiteById", "POST", f"{_INSIGHTS}/events", needs=PUBLIC, body_limit=256 * 1024)
def track_events(call: Call, organization_id: str, site_id: str, body: TrackEvents) -> None:
    """Keeps what visitors of a published site did: at most 100 events, without addresses and cookies. Programs are
    left out."""
    collect(call.context, organization_id, site_id, body.events)


@operation(
    "aggregateSiteEvents",
    "POST",
    f"{_INSIGHTS}/events/aggregate",
    needs=Can.VIEW,
    returns=Aggregation,
)
def aggregate(call: Call, site: SiteAccess, body: Aggregate) -> Aggregation:
    """Counts events of a site: `select` says what, `where` of which events, `groupBy` for each of what."""
    with call.db.read() as tx:
        return querying.aggregate(tx, site.site_id, body)


@operation(
    "listSiteVisitorSegments",
    "GET",
    f"{_INSIGHTS}/visitor-segments",
    needs=Can.VIEW,
    returns=Listing[Segment],
)
def list_segments(call: Call, site: SiteAccess) -> Listing[Segment]:
    """Groups of visitors with the same signed claims, the most active first."""
    with call.db.read() as tx:
        found = querying.list_segments(tx, site.site_id)
    return Listing(found, len(found))
