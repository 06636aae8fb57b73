"""Events that the reader records for insights: page views, searches, and clicks.

The events don't identify anyone, and the only cookie involved is the visitor's answer to the cookie banner."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple
from urllib.parse import quote

import msgspec
from msgspec import Meta, Struct

from octavo.core.pages import Page
from octavo.core.url_parts import read_address
from octavo.delivery.visits.admission import PREVIEW_COOKIE
from octavo.delivery.visits.authorization import ResponseDependencies, SiteVisit, SpaceVisit
from octavo.errors import BadRequest
from octavo.kit.http.edge import Request
from octavo.kit.http.proxies import address_key
from octavo.kit.texts import pattern
from octavo.sites.insights.queueing import Events
from octavo.sites.insights.types import (
    CONSENT,
    AskQuestion,
    DisplayContext,
    Event,
    Link,
    LinkClick,
    LinkPosition,
    LinkTarget,
    PageMissing,
    PageView,
    SearchMissing,
    SearchOpenResult,
    SearchResult,
    SearchTypeQuery,
    VisitorLocation,
    VisitorSession,
)

SEEN_PATH = "~seen"
"""Path for events that a page's script reports because the server can't see them."""
MAX_SEEN = 4096
"""Maximum size of a report, in bytes."""
MAX_WORDS = 512
"""Maximum number of characters to store from a search or question."""
_URL, _AGENT = 2048, 1024
_PREVIEW, _CONSENT = f"{PREVIEW_COOKIE}=".encode(), CONSENT.encode()


class _PendingEvent(Struct, frozen=True, gc=False):
    """Action of a visitor at a location, with the relevant request headers. The event is created only when this object
    is called, so that visitors don't have to wait."""

    make: Callable[..., Event]
    location: VisitorLocation
    values: Mapping[str, Any]
    host: bytes
    referrer: bytes
    agent: bytes
    languages: bytes
    consent: Mapping[str, str]

    def __call__(self) -> Event:
        return self.make(session=self.session(), location=self.location, **self.values)

    def session(self) -> VisitorSession:
        language, referrer = self.languages.decode("latin-1"), self.referrer.decode("latin-1")
        if referrer:
            # An owner's proxy uses a different host than browsers do.
            own = (self.host.decode("latin-1"), _authority(self.location.url))
            referrer = "" if _authority(referrer) in own else referrer
        both = secrets.token_hex(16)
        return VisitorSession(
            visitor_id=both[:16],
            session_id=both[16:],
            cookies=dict(self.consent),
            user_agent=self.agent.decode("latin-1"),
            language=language.partition(",")[0][:64] or None,
            referrer=referrer or None,
        )


_NOTHING: Mapping[str, Any] = MappingProxyType({})


def _make_pending(
    request: Request,
    make: Callable[..., Event],
    location: VisitorLocation,
    values: Mapping[str, object] = _NOTHING,
) -> _PendingEvent:
    find = request.headers.get
    cookie = find(b"cookie")
    return _PendingEvent(
        make,
        location,
        values,
        find(b"host", b""),
        find(b"referer", b"")[:_URL],
        find(b"user-agent", b"")[:_AGENT],
        find(b"accept-language", b"")[:_AGENT],
        _consent(cookie) if cookie is not None and _CONSENT in cookie else _NOTHING,
    )


def session_of(request: Request, location: VisitorLocation) -> VisitorSession:
    """Return a new session that starts at a location. The referrer is recorded only if it is on another
    host."""
    return _make_pending(request, PageView, location).session()


def _consent(cookie: bytes) -> dict[str, str]:
    pairs = (part.strip().partition("=") for part in cookie.decode("latin-1").split(";"))
    return {name: value for name, _, value in pairs if name == CONSENT}


def _authority(url: str) -> str:
    address = read_address(url)
    return address.authority if address is not None else ""


def location_of(
    space: SpaceVisit, page: Page | None = None, form: DisplayContext | None = None
) -> VisitorLocation:
    """Return the location of a visitor on a page, or in a space if there is no page. ``form``: the format, if the
    visitor is an agent."""
    visit = space.visit
    path = quote(space.view.tree.url_path(page)) if page is not None else ""
    return VisitorLocation(
        url=visit.public(f"{space.base}{path}"),
        site_section=space.site_space.section_id,
        site_space=space.site_space.id,
        site_share_key=visit.admission.key or None,
        space=space.site_space.space_id,
        revision=space.view.state.revision_id,
        page=page.id if page is not None else None,
        display_context=form or ("embed" if visit.embedded else "site"),
    )


def location_at(visit: SiteVisit, path: str, form: DisplayContext) -> VisitorLocation:
    """Return the location to record when an agent requests a site-wide file. ``path``: its path relative to the
    site's base URL."""
    return VisitorLocation(
        url=f"{visit.published}{path}"[:_URL],
        site_section=None,
        site_space=None,
        site_share_key=visit.admission.key or None,
        space=None,
        revision=None,
        page=None,
        display_context=form,
    )


# --- events that the server sees --------------------------------------------------------------------------


def record_view(events: Events, request: Request, dependencies: ResponseDependencies | None) -> None:
    """Record a page view if the response is a page."""
    if dependencies is None or dependencies.location is None or not _is_read(request):
        return
    if _PREVIEW in request.headers.get(b"cookie", b""):
        return  # Cached responses are also sent to members who would see the same content.
    location = dependencies.location
    if request.query_string:
        # Only campaign names are stored from the query.
        location = msgspec.structs.replace(
            location, url=f"{location.url}?{request.query_string.decode('latin-1')}"
        )
    view = _make_pending(request, PageView, location)
    events.add(dependencies.site.organization_id, dependencies.site.id, view, dependencies.visitor)


def record_search(events: Events, request: Request, space: SpaceVisit, query: str) -> None:
    """Record a search. All queries that are sent while the visitor is typing count as one search."""
    if query.strip() and _is_read(request):
        location = location_of(space)
        event = SearchTypeQuery(
            session=session_of(request, location), location=location, query=query.strip()[:MAX_WORDS]
        )
        _record(events, space, event, _identify_typist(request))


def record_missing_page(events: Events, request: Request, space: SpaceVisit) -> None:
    """Record that a URL has no page."""
    if _is_read(request):
        form: DisplayContext = "markdown" if space.rest.endswith(".md") else "site"
        location = location_at(space.visit, quote(space.visit.rest), form)
        _record(events, space, PageMissing(session=session_of(request, location), location=location))


def record_empty_search(events: Events, request: Request, space: SpaceVisit, query: str) -> None:
    """Record that a search had no results."""
    if query.strip() and _is_read(request):
        location = location_of(space)
        session = session_of(request, location)
        _record(
            events, space, SearchMissing(session=session, location=location, query=query.strip()[:MAX_WORDS])
        )


class EventNote(NamedTuple):
    """Event to record, with its location, a function that creates the event, and additional values."""

    location: VisitorLocation
    make: Callable[..., Event]
    said: dict[str, Any]


def record_cached_events(
    events: Events, request: Request, dependencies: ResponseDependencies, notes: Iterable[EventNote]
) -> None:
    """Record the events of a response that is served again."""
    for note in notes:
        event = _make_pending(request, note.make, note.location, note.said)
        events.add(dependencies.site.organization_id, dependencies.site.id, event, dependencies.visitor)


def record_event(
    events: Events,
    request: Request,
    visit: SiteVisit,
    location: VisitorLocation,
    make: Callable[..., Event],
    **said: object,
) -> None:
    """Record an event at a location. ``make``: a function that creates the event from a session and ``said``."""
    if not visit.admission.preview:
        record_cached_events(events, request, visit.dependencies, [EventNote(location, make, said)])


def record_question(
    events: Events, request: Request, visit: SiteVisit, location: VisitorLocation, asked: str
) -> None:
    record_event(events, request, visit, location, AskQuestion, query=asked[:MAX_WORDS])


def _record(events: Events, space: SpaceVisit, event: Event, typist: str = "") -> None:
    visit = space.visit
    if not visit.admission.preview:
        events.add(visit.organization_id, visit.site.id, event, visit.admission.claims, typist)


_PURPOSES = frozenset((b"sec-purpose", b"purpose", b"x-moz"))


def _is_read(request: Request) -> bool:
    """Return whether a person reads the response; False if it is prefetched."""
    if request.is_head or _PURPOSES.isdisjoint(request.headers):
        return not request.is_head
    return not any(b"prefetch" in request.headers.get(name, b"").lower() for name in _PURPOSES)


def _identify_typist(request: Request) -> str:
    caller = f"{address_key(request.client)}\0{request.header(b'user-agent')}"
    return hashlib.blake2b(caller.encode(), digest_size=12).hexdigest()


# --- reports from the script of a page ----------------------------------------------------------------------


class SeenPage(Struct, tag_field="type", tag="page_view"):
    """Report that a visitor opened a prefetched page."""


class SeenClick(Struct, tag_field="type", tag="link_click"):
    """Report of a click on an external link."""

    url: Annotated[
        str,
        Meta(
            max_length=_URL,
            pattern=pattern(
                r"^https?://[^\x00-\x1f\x7f-\x9f]+\Z", "be a URL that starts with http:// or https://"
            ),
        ),
    ]
    position: LinkPosition


class SeenResult(Struct, tag_field="type", tag="search_open_result"):
    """Report of a click on a search result. ``path``: the target of the result."""

    query: Annotated[
        str, Meta(max_length=MAX_WORDS, pattern=pattern(r"^[^\x00]+\Z", "not contain NUL characters"))
    ]
    path: Annotated[str, Meta(max_length=_URL)]


Seen = SeenPage | SeenClick | SeenResult


def read_seen(body: bytes) -> Seen:
    """Parse the report that a page's script sent. Raises BadRequest if it is invalid."""
    try:
        seen: Seen = msgspec.json.decode(body, type=Seen)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadRequest(f"body: {error}") from None
    return seen


def record_seen(
    events: Events,
    request: Request,
    space: SpaceVisit,
    location: VisitorLocation,
    seen: Seen,
    find_page: Callable[[str], tuple[SpaceVisit, Page]],
) -> None:
    """Record a report. ``find_page``: a function that returns the page that this visitor sees at a path on
    the site, or raises NotFound."""
    session = session_of(request, location)
    event: Event
    match seen:
        case SeenClick():
            link = Link(LinkTarget("url", url=seen.url), seen.position)
            event = LinkClick(session=session, location=location, link=link)
        case SeenResult():
            there, page = find_page(seen.path)
            result = SearchResult(there.site_space.space_id, page.id)
            event = SearchOpenResult(session=session, location=location, query=seen.query, result=result)
        case SeenPage():
            event = PageView(session=session, location=location)
    _record(events, space, event)
