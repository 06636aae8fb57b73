"""The events that the reader records for insights: page views, searches, clicks.

They name no person, and the only cookie that is read for them is the visitor's answer to the question about cookies.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple
from urllib.parse import quote

import msgspec
from msgspec import Meta, Struct

from ..core.addresses import read_address
from ..core.pages import Page
from ..errors import BadRequest
from ..insights import (
    CONSENT,
    AskQuestion,
    DisplayContext,
    Event,
    Events,
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
from ..kit.edge import Request
from ..kit.proxies import address_key
from ..visits import PREVIEW_COOKIE, MadeOf, SiteVisit, SpaceVisit

SEEN_PATH = "~seen"
"""Where the script of a page says what the server does not see."""
MAX_SEEN = 4096
"""Bytes of what it says."""
MAX_WORDS = 512
"""Characters of a search or question that are kept."""
_URL, _AGENT = 2048, 1024
_PREVIEW, _CONSENT = f"{PREVIEW_COOKIE}=".encode(), CONSENT.encode()


class _Said(Struct, frozen=True, gc=False):
    """What somebody did at a location, and what the headers of their request say of them, as far as it is counted: an
    event, once it is called. Whoever is answered waits for none of what that takes."""

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
            # A proxy of the owner's asks under another host than browsers do.
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


def _said(
    request: Request,
    make: Callable[..., Event],
    location: VisitorLocation,
    values: Mapping[str, Any] = _NOTHING,
) -> _Said:
    find = request.headers.get
    cookie = find(b"cookie")
    return _Said(
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
    """Somebody new at a location. Where they come from is known of those who come from another host."""
    return _said(request, PageView, location).session()


def _consent(cookie: bytes) -> dict[str, str]:
    pairs = (part.strip().partition("=") for part in cookie.decode("latin-1").split(";"))
    return {name: value for name, _, value in pairs if name == CONSENT}


def _authority(url: str) -> str:
    address = read_address(url)
    return address.authority if address is not None else ""


def location_of(
    space: SpaceVisit, page: Page | None = None, form: DisplayContext | None = None
) -> VisitorLocation:
    """Where a visitor is who is at a page, or at what a space has beside its pages. ``form``: in which a program has
    it."""
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
    """Where a program is that asks for what a site has by itself. ``path``: below its base."""
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


# --- what the server sees ---------------------------------------------------------------------------------


def note_view(events: Events, request: Request, made_of: MadeOf | None) -> None:
    """Notes that a page was read, if what was made is one."""
    if made_of is None or made_of.location is None or not _is_read(request):
        return
    if _PREVIEW in request.headers.get(b"cookie", b""):
        return  # what is kept is answered to members, too, where they would see the same
    location = made_of.location
    if request.query_string:
        # Campaigns are named there; nothing else of it is kept.
        location = msgspec.structs.replace(
            location, url=f"{location.url}?{request.query_string.decode('latin-1')}"
        )
    view = _said(request, PageView, location)
    events.add(made_of.site.organization_id, made_of.site.id, view, made_of.visitor)


def note_search(events: Events, request: Request, space: SpaceVisit, query: str) -> None:
    """Notes what was searched; queries while they are typed count as one."""
    if query.strip() and _is_read(request):
        location = location_of(space)
        event = SearchTypeQuery(
            session=session_of(request, location), location=location, query=query.strip()[:MAX_WORDS]
        )
        _note(events, space, event, _typist(request))


def note_missing(events: Events, request: Request, space: SpaceVisit) -> None:
    """Notes that there is no page at an address."""
    if _is_read(request):
        form: DisplayContext = "markdown" if space.rest.endswith(".md") else "site"
        location = location_at(space.visit, quote(space.visit.rest), form)
        _note(events, space, PageMissing(session=session_of(request, location), location=location))


def note_fruitless(events: Events, request: Request, space: SpaceVisit, query: str) -> None:
    """Notes that a search found nothing."""
    if query.strip() and _is_read(request):
        location = location_of(space)
        session = session_of(request, location)
        _note(
            events, space, SearchMissing(session=session, location=location, query=query.strip()[:MAX_WORDS])
        )


class Note(NamedTuple):
    """Something to note: at which location, what makes the event, and what it says besides."""

    location: VisitorLocation
    make: Callable[..., Event]
    said: dict[str, Any]


def note_again(events: Events, request: Request, made_of: MadeOf, notes: Iterable[Note]) -> None:
    """Notes what was done by whoever an answer was made for."""
    for note in notes:
        event = _said(request, note.make, note.location, note.said)
        events.add(made_of.site.organization_id, made_of.site.id, event, made_of.visitor)


def note_event(
    events: Events,
    request: Request,
    visit: SiteVisit,
    location: VisitorLocation,
    make: Callable[..., Event],
    **said: Any,
) -> None:
    """Notes what was done at a location: what ``make`` makes of a session and ``said``."""
    if not visit.admission.preview:
        note_again(events, request, visit.made_of, [Note(location, make, said)])


def note_question(
    events: Events, request: Request, visit: SiteVisit, location: VisitorLocation, asked: str
) -> None:
    note_event(events, request, visit, location, AskQuestion, query=asked[:MAX_WORDS])


def _note(events: Events, space: SpaceVisit, event: Event, typist: str = "") -> None:
    visit = space.visit
    if not visit.admission.preview:
        events.add(visit.organization_id, visit.site.id, event, visit.admission.claims, typist)


_PURPOSES = frozenset((b"sec-purpose", b"purpose", b"x-moz"))


def _is_read(request: Request) -> bool:
    """Whether somebody reads the answer: it is not only fetched for the case that they will."""
    if request.is_head or _PURPOSES.isdisjoint(request.headers):
        return not request.is_head
    return not any(b"prefetch" in request.headers.get(name, b"").lower() for name in _PURPOSES)


def _typist(request: Request) -> str:
    caller = f"{address_key(request.client)}\0{request.header(b'user-agent')}"
    return hashlib.blake2b(caller.encode(), digest_size=12).hexdigest()


# --- what the script of a page says -----------------------------------------------------------------------


class SeenPage(Struct, tag_field="type", tag="page_view"):
    """A page was opened that had been fetched before."""


class SeenClick(Struct, tag_field="type", tag="link_click"):
    """A link to another site was followed."""

    url: Annotated[str, Meta(max_length=_URL, pattern=r"^https?://[^\x00-\x1f\x7f-\x9f]+\Z")]
    position: LinkPosition


class SeenResult(Struct, tag_field="type", tag="search_open_result"):
    """A result of a search was opened; ``path`` is where it led."""

    query: Annotated[str, Meta(max_length=MAX_WORDS, pattern=r"^[^\x00]+\Z")]
    path: Annotated[str, Meta(max_length=_URL)]


Seen = SeenPage | SeenClick | SeenResult


def read_seen(body: bytes) -> Seen:
    """What a script said. Raises BadRequest."""
    try:
        seen: Seen = msgspec.json.decode(body, type=Seen)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadRequest(f"body: {error}") from None
    return seen


def note_seen(
    events: Events,
    request: Request,
    space: SpaceVisit,
    location: VisitorLocation,
    seen: Seen,
    find_page: Callable[[str], tuple[SpaceVisit, Page]],
) -> None:
    """``find_page`` gives what this visitor is shown at a path of the site, or raises NotFound."""
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
    _note(events, space, event)
