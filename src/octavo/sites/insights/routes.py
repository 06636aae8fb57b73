"""Insights: record and query site visitors' activity."""

from __future__ import annotations

from msgspec import structs

from octavo.content.revisions.page_versions import find_pages
from octavo.content.revisions.restrictions import main_seen_by
from octavo.core.url_parts import host_of
from octavo.errors import NotFound
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Listing
from octavo.kit.http.operation import PUBLIC, Area, Call
from octavo.kit.ids import new_id
from octavo.organization.access.authorization import SiteAccess, space_access
from octavo.organization.access.roles import Can
from octavo.organization.orgs.store import get_organization
from octavo.sites.site.published import published_url
from octavo.sites.site.store import get_site, list_hosts
from octavo.sites.site.structure.store import load_structure

from . import querying
from .collecting import collect
from .feedback_wire import (
    DocumentationSubject,
    SubmitFeedback,
    SubmitPageFeedback,
    SubmittedFeedback,
)
from .questions import Aggregate, Aggregation, Segment
from .types import AgentFeedback, VisitorLocation, VisitorSession
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
    """Record up to 100 visitor events on a published site. Events are stored without IP addresses and cookies. Bots are
    recorded separately from people, by kind. Events of unknown types are skipped and listed in the `Octavo-Unread-Keys`
    header."""
    events, unknown = read_events(body.events)
    if unknown:
        call.response_headers["octavo-unread-keys"] = ", ".join(unknown)
    collect(call.context, organization_id, site_id, events)


@operation(
    "submitAgentFeedbackToSite",
    "POST",
    "/orgs/{organizationId}/sites/{siteId}/agents/feedback",
    needs=Can.VIEW,
    status=201,
    errors=(404,),
)
def submit_feedback(call: Call, site: SiteAccess, body: SubmitFeedback) -> SubmittedFeedback:
    """Submit an agent's feedback about a tool, a command, an endpoint, a page, or the product. It appears in
    the insights of the published site."""
    subject = body.subject
    with call.db.read() as tx:
        url = subject.url if isinstance(subject, DocumentationSubject) else _address(call, tx, site)
    location = VisitorLocation(url, None, None, None, None, None, None)
    user_agent = body.reported_by.user_agent or _user_agent(call)
    return _record_feedback(call, site, location, user_agent, body.feedback.goal, body.text)


@operation(
    "submitSiteAgentFeedback",
    "POST",
    "/orgs/{organizationId}/sites/{siteId}/agent-feedback",
    needs=Can.VIEW,
    errors=(404,),
    deprecated=True,
)
def submit_page_feedback(call: Call, site: SiteAccess, body: SubmitPageFeedback) -> None:
    """Submit an agent's feedback about a page. Use `submitAgentFeedbackToSite` instead."""
    with call.db.read() as tx:
        spaces = load_structure(tx, site.site_id).site_spaces.values()
        shown = next((one for one in spaces if one.space_id == body.space_id), None)
        if shown is None:
            raise NotFound(f"spaceId: there is no space with the ID {body.space_id!r} on this site")
        state = main_seen_by(tx, space_access(tx, site.actor, Can.VIEW, body.space_id))
        if body.page_id not in find_pages(tx, state, [body.page_id]):
            raise NotFound(f"pageId: there is no page with the ID {body.page_id!r} in this space")
    location = VisitorLocation(
        body.url,
        shown.section_id,
        shown.id,
        None,
        shown.space_id,
        None,
        body.page_id,
    )
    _record_feedback(call, site, location, _user_agent(call), body.goal, body.feedback)


def _user_agent(call: Call) -> str:
    return call.headers.get(b"user-agent", b"").decode("latin-1")[:1024]


def _record_feedback(
    call: Call, site: SiteAccess, location: VisitorLocation, user_agent: str, goal: str, text: str
) -> SubmittedFeedback:
    session = VisitorSession(new_id(), new_id(), {}, user_agent, None, None)
    # It is an agent, regardless of its name.
    location = structs.replace(location, display_context="mcp")
    event = AgentFeedback(session=session, location=location, goal=goal, comment=text)
    if collect(call.context, site.organization_id, site.site_id, [event]):
        return SubmittedFeedback(
            session.session_id, "Thank you. The authors of this site can read your feedback."
        )
    return SubmittedFeedback(
        session.session_id, "Your feedback wasn't stored, because this server doesn't record what agents do."
    )


@operation("aggregateSiteEvents", "POST", f"{_INSIGHTS}/events/aggregate", needs=Can.VIEW, agents="docs:gaps")
def aggregate(call: Call, site: SiteAccess, body: Aggregate) -> Aggregation:
    """Aggregate a site's events in the spaces that you can see: `select` specifies the values to count,
    `where` filters events, and `groupBy` groups the result. Only people are counted unless the query refers
    to `visitorBot`, which is null for people and `crawler`, `assistant`, `coding-agent`, or `unknown` for
    bots."""
    with call.db.read() as tx:
        servers = [host_of(call.settings.url), host_of(call.settings.sites_url)]
        return querying.aggregate(tx, site, [*servers, *list_hosts(tx, site.organization_id)], body)


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
