"""What is at a site: the table of its routes.

A handler is declared with its pattern and takes a view of the request and one visit, which says who visits what:
``SiteVisit`` for what a site has once, ``SpaceVisit`` for what each of its spaces has. Values of the pattern are
further parameters. Only ``answer_visit`` makes visits.
"""

from __future__ import annotations

import re
import typing
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Literal, NamedTuple
from urllib.parse import parse_qs, quote, unquote

import msgspec
from msgspec import Struct

from ..core.links import app_hosts
from ..core.pages import Page
from ..errors import BadRequest, Forbidden, MethodNotAllowed, NotFound, OctavoError, Unauthorized
from ..fonts import find_face
from ..insights import ApiClientRequest, ApiOperation, EventQueue, collect
from ..integrations import find_frames
from ..kit.asgi import Answer, Content, Request, etag_of
from ..kit.context import Context
from ..kit.db import Transaction
from ..kit.fetch import Fetcher
from ..kit.files import FileGrant, file_headers
from ..kit.routing import Routes
from ..openapi import Description, Operation, Wanted, make_form, prepare, send
from ..search import MAX_SEARCH
from ..sites import get_customization
from .asking import (
    ASK_PATH,
    FAILED,
    answer_question,
    events_of,
    list_questions,
    make_asker,
    read_question,
    refuse_foreign,
    require_asking,
)
from .audiences import Admission, Coming, SendOn, read_coming
from .blocks import Prepared, answer_block, answer_press, prepare_block
from .cards import HEIGHT, WIDTH, Cards, card_of
from .drawing import (
    content_security_policy,
    draw_answer,
    draw_ask,
    draw_not_found,
    draw_page,
    draw_questions,
    draw_search,
    embed_script,
)
from .feeds import FEED, feed_xml
from .looks import Look
from .mcp import MCP_PATHS, Reading, answer_message
from .pages import Kept, PageBuilder
from .resolving import (
    EMBEDDED,
    MadeOf,
    SiteVisit,
    SpaceVisit,
    enter_site,
    enter_space,
    find_redirect,
    visit_space,
)
from .scripts import scripts_of
from .searching import search_site
from .sites import llms_text, look_of, robots_text, site_view, sitemap_xml, whole_text
from .tracking import (
    SEEN_PATH,
    location_of,
    note_question,
    note_search,
    note_seen,
    read_seen,
    session_of,
)
from .views import Image, Labels, Link, MessageView, PageView, SearchAnswer, SearchHit, SiteView, Variant

HTML = "text/html; charset=utf-8"
TEXT = "text/plain; charset=utf-8"
EVENTS = "text/event-stream"
FOREVER = "public, max-age=31536000, immutable"
_VIEW_BYTES = 2048
_REVALIDATE = "public, max-age=0, must-revalidate"
_WORD = re.compile(r"[^\W_]{2,}")
_SUGGESTED = 5


class View(Struct, frozen=True):
    """What a handler needs beside its visit. ``kept``: what is kept of pages that were drawn; ``cards`` draws their
    images. ``events``: what visitors did. ``body``: of a POST."""

    context: Context
    tx: Transaction
    request: Request
    kept: Kept
    cards: Cards
    events: EventQueue
    body: bytes = b""


class Later(NamedTuple):
    """An answer that is worked out when the transaction is over, because it takes long, or as long as others take: in
    threads that organizations share. ``kind``: what is done: a model or an integration is asked, an API is called, or
    an image is made."""

    kind: Literal["question", "script", "call", "image"]
    organization_id: str
    work_out: Callable[[], Answer]


_Handler = Callable[..., Answer | Later]


class SiteRoute(NamedTuple):
    """``kept``: the answer is the same for all who may make this visit, and is kept as long as what it was made of."""

    name: str
    pattern: str
    visit: type[SiteVisit] | type[SpaceVisit]
    answer: _Handler
    kept: bool
    method: str = "GET"


ROUTES: list[SiteRoute] = []
_of_site: Routes[dict[str, SiteRoute]] = Routes()
_of_space: Routes[dict[str, SiteRoute]] = Routes()
_methods: dict[str, dict[str, SiteRoute]] = {}


def route(
    name: str, pattern: str, *, kept: bool, method: Literal["GET", "POST"] = "GET"
) -> Callable[[_Handler], _Handler]:
    """Declares ``handler(view, visit, **values)``; the type of ``visit`` says whether it is of a site or a space."""

    def declare(handler: _Handler) -> _Handler:
        visit = typing.get_type_hints(handler)["visit"]
        found = SiteRoute(name, pattern, visit, handler, kept, method)
        if pattern not in _methods:
            _methods[pattern] = {}
            (_of_site if visit is SiteVisit else _of_space).add(pattern, _methods[pattern])
        _methods[pattern][method] = found
        ROUTES.append(found)
        return handler

    return declare


class Visited(NamedTuple):
    """An answer and, where a visit was made, what it was made of, and who made it."""

    answer: Answer | Later
    made_of: MadeOf | None = None
    admission: Admission | None = None


def answer_visit(view: View, host: str, path: str) -> Visited:
    """The answer to a decoded path. Raises NotFound where no site is, Unauthorized for a visitor's bad token."""
    try:
        return _visit(view, host, path, _coming(view))
    except SendOn as sent:
        location = _with_query(view, sent.location) if sent.keeps_query else sent.location
        return Visited(_redirect(location, sent.cookies))


def answer_post(view: View, host: str, path: str) -> Answer | Later:
    """The answer to what was posted to a decoded path. Programs that keep no cookies send a visitor's token as a
    bearer token. Raises NotFound, and Unauthorized for who has to sign in first."""
    coming = _coming(view)
    scheme, _, token = view.request.header(b"authorization").partition(" ")
    if scheme.lower() == "bearer":
        coming = msgspec.structs.replace(coming, bearer=token.strip())
    try:
        answer = _visit(view, host, path, coming).answer
    except SendOn:
        raise Unauthorized("Only signed visitors of this site may post here.") from None
    if isinstance(answer, Answer):
        return answer
    later = answer

    def enter() -> None:
        with view.context.db.read() as tx:
            enter_site(tx, view.context, host, path, coming)

    return later._replace(work_out=lambda: _while_open(later.work_out(), enter))


def _while_open(answer: Answer, enter: Callable[[], object]) -> Answer:
    """An answer whose stream ends once whoever reads it may not ``enter`` the site any more."""
    begin = answer.stream
    if begin is None:
        return answer

    def chunks() -> Iterator[bytes]:
        parts = begin()
        try:
            for part in parts:
                try:
                    enter()
                except (OctavoError, SendOn):
                    yield FAILED
                    return
                yield part
        finally:
            if isinstance(parts, Generator):
                parts.close()

    return msgspec.structs.replace(answer, stream=chunks)


def _coming(view: View) -> Coming:
    request = view.request
    secure = view.context.settings.sites_url.startswith("https:")
    return read_coming(request.query_string, request.header(b"cookie"), secure)


def _visit(view: View, host: str, path: str, coming: Coming) -> Visited:
    visit = enter_site(view.tx, view.context, host, path, coming)
    answer = _answer_at(view, visit)
    shown = _closed(visit, answer) if isinstance(answer, Answer) else answer
    return Visited(shown, visit.made_of, visit.admission)


def _answer_at(view: View, visit: SiteVisit) -> Answer | Later:
    if not visit.is_below(visit.base):
        return _redirect(_with_query(view, f"{visit.base}{quote(visit.rest)}"))
    found = _of_site.find(visit.rest.split("/"))
    if found is not None:
        return _answer(view, visit, *found)
    space = enter_space(view.tx, visit)
    if space is None:
        target = find_redirect(view.tx, visit, view.context.settings.sites_url)
        if target is None:
            raise NotFound("There is nothing at this address.")
        return _redirect(target)
    if not visit.is_below(space.base):
        return _redirect(_with_query(view, f"{space.base}{quote(space.rest)}"))
    below = _of_space.find(space.rest.split("/"))
    return _answer(view, space, *below) if below is not None else not_found(view, space)


def _answer(
    view: View, visit: SiteVisit | SpaceVisit, routes: dict[str, SiteRoute], values: dict[str, str]
) -> Answer | Later:
    found = routes.get(view.request.method)
    if found is None:
        allowed = ", ".join(sorted(routes))
        raise MethodNotAllowed(
            f"{view.request.method} is not possible here. Allowed: {allowed}", allow=allowed
        )
    view.request.name = found.name
    answer = found.answer(view, visit, **values)
    return (
        answer
        if found.kept or not isinstance(answer, Answer)
        else msgspec.structs.replace(answer, again=False)
    )


def _closed(visit: SiteVisit, answer: Answer) -> Answer:
    """An answer of a site that is not open to everybody: kept by the visitor's own browser at most."""
    if not visit.admission.personal and not visit.admission.key:
        return answer
    headers = dict(answer.headers)
    headers["cache-control"] = headers.get("cache-control", "no-cache").replace("public", "private")
    headers["x-robots-tag"] = "noindex"
    return msgspec.structs.replace(answer, headers=headers)


def _same(body: bytes | str, content_type: str, *, status: int = 200, policy: str = "") -> Answer:
    """An answer that is the same until something changes."""
    raw = body.encode() if isinstance(body, str) else body
    headers = {"cache-control": _REVALIDATE}
    if policy:
        headers["content-security-policy"] = policy
    return Answer(status, raw, content_type, headers, etag_of(raw), again=True)


class _Frame:
    """What every HTML answer at a space needs: how it looks, and who builds its pages."""

    def __init__(self, view: View, visit: SpaceVisit) -> None:
        self._view, self._visit = view, visit
        self.look = look_of(view.tx, visit)
        self.builder = PageBuilder(view.tx, visit, app_hosts(view.context.settings.url), view.kept, self.look)

    def site(self, page: Page | None = None) -> SiteView:
        view, visit = self._view, self._visit
        site = site_view(view.tx, visit, self.look, self.builder, page)
        if page is not None and not visit.visit.admission.preview:
            site = msgspec.structs.replace(site, seen=f"{visit.base}{SEEN_PATH}?page={page.id}")
        scripts, sources = scripts_of(view.tx, view.context, visit.visit, self.look.customization)
        if visit.visit.admission.framed:
            sources = (*sources, ("frame-ancestors", (view.context.settings.address.origin,)))
        if visit.visit.embedded:
            sources = (*sources, ("frame-ancestors", tuple(view.context.settings.embed_origins.split())))
        return msgspec.structs.replace(site, scripts=scripts, sources=sources)


def _html(
    site: SiteView,
    text: str,
    status: int = 200,
    connect: tuple[str, ...] = (),
) -> Answer:
    policy = content_security_policy(site.theme_css, connect, site.sources)
    return _same(text, HTML, status=status, policy=policy)


def _with_query(view: View, location: str) -> str:
    """Another spelling of what was asked for: claims, and the words of a search, go along."""
    query = view.request.query_string.decode("latin-1")
    return f"{location}?{query}" if query else location


def _redirect(location: str, cookies: tuple[str, ...] = ()) -> Answer:
    headers = {"location": location, "cache-control": "no-store" if cookies else "no-cache"}
    return Answer(307, headers=headers, cookies=cookies)


def not_found(view: View, space: SpaceVisit) -> Answer:
    """Nothing is here: the visitor is sent on where a redirect says so, else told."""
    target = find_redirect(view.tx, space.visit, view.context.settings.sites_url)
    if target is not None:
        return _redirect(target)
    frame = _Frame(view, space)
    site = frame.site()
    words = " ".join(_WORD.findall(space.rest))[:MAX_SEARCH]
    empty = not space.rest and space.view.tree.home is None
    message = MessageView(
        title=site.labels.no_pages if empty else site.labels.not_found,
        text=site.labels.no_pages_text if empty else site.labels.not_found_text,
        nav=frame.builder.nav(None),
        suggestions=_related(space.rest, search_site(view.tx, space.visit, words).hits)[:_SUGGESTED],
    )
    return _html(site, draw_not_found(site, message), status=404)


def _related(path: str, hits: Sequence[SearchHit]) -> tuple[SearchHit, ...]:
    """Those that are called by a word of the last part of a path, or nearly: what only says one of them somewhere in its
    text is not what was looked for."""
    wanted = _names(path.strip("/").rpartition("/")[2].removesuffix(".md"))

    def is_like(hit: SearchHit) -> bool:
        called = _names(f"{hit.title} {unquote(hit.href).partition('#')[0].rpartition('/')[2]}")
        return any(
            one == other or (min(len(one), len(other)) > 3 and (one[:-1] in other or other[:-1] in one))
            for one in wanted
            for other in called
        )

    return tuple(hit for hit in hits if is_like(hit))


def _names(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}


def file_answer(context: Context, grant: FileGrant, size: int | None, *, public: bool = False) -> Answer:
    """A file's bytes, with headers that keep whatever is in it from acting. ``public``: anybody may have it. Raises
    NotFound."""
    found = size if size is not None else context.files.find_size(grant.hash)
    if found is None:
        raise NotFound("There is no such file.")
    headers = {name.lower(): value for name, value in file_headers(grant, public=public).items()}
    headers["cross-origin-resource-policy"] = "cross-origin"
    content = Content(found, lambda start, end: context.files.open(grant.hash, start, end))
    return Answer(
        200, content_type=headers.pop("content-type"), headers=headers, etag=grant.hash[:24], content=content
    )


# --- routes -----------------------------------------------------------------------------------------------


@route("readRobots", "robots.txt", kept=True)
def read_robots(view: View, visit: SiteVisit) -> Answer:
    return _same(robots_text(visit), TEXT)


@route("readSitemap", "sitemap.xml", kept=True)
@route("readPagesSitemap", "sitemap-pages.xml", kept=True)
def read_sitemap(view: View, visit: SiteVisit) -> Answer:
    if not visit.indexed:
        raise NotFound("There is nothing at this address.")
    return _same(sitemap_xml(view.tx, visit), "application/xml")


@route("readIndex", "llms.txt", kept=True)
def read_index(view: View, visit: SiteVisit) -> Answer:
    return _same(llms_text(view.tx, visit), TEXT)


def _query(view: View) -> str:
    query = parse_qs(view.request.query_string.decode("latin-1")).get("q", [""])[0].replace("\0", "")
    if len(query) > MAX_SEARCH:
        raise BadRequest(f"q: more than {MAX_SEARCH} characters")
    return query


@route("readWhole", "llms-full.txt", kept=True)
def read_whole(view: View, visit: SiteVisit) -> Answer:
    builders: list[PageBuilder] = []

    def build(space: SpaceVisit) -> PageBuilder:
        builders.append(_Frame(view, space).builder)
        return builders[-1]

    text = whole_text(view.tx, visit, build)
    visit.made_of.more = visit.made_of.more or any(builder.varies for builder in builders)
    return _same(text, TEXT)


@route("leadToEmbedded", "~gitbook/embed", kept=False)
def lead_to_embedded(view: View, visit: SiteVisit) -> Answer:
    """Where the public embed package has frames begin."""
    if not view.context.settings.embed_origins or visit.site.visibility == "visitor-auth":
        raise NotFound("This site is not shown in frames.")
    return _redirect(_with_query(view, f"{visit.base}{EMBEDDED}"))


@route("readEmbedScript", "~embed/script.js", kept=True)
@route("readEmbedScript", "~gitbook/embed/script.js", kept=True)
def read_embed_script(view: View, visit: SiteVisit) -> Answer:
    """The script that shows the site in a window of another one."""
    if not view.context.settings.embed_origins or visit.site.visibility == "visitor-auth":
        raise NotFound("This site is not shown in frames.")
    shown = next(iter(visit.outline.site_spaces()), None)
    look = look_of(view.tx, visit_space(view.tx, visit, shown)) if shown is not None else None
    script = embed_script(look.labels if look is not None else Labels())
    answer = _same(script.content, script.media_type)
    headers = {**answer.headers, "cross-origin-resource-policy": "cross-origin"}
    return msgspec.structs.replace(answer, headers=headers)


def _search(view: View, visit: SpaceVisit) -> SearchAnswer:
    query = _query(view)
    note_search(view.events, view.request, visit, query)
    return search_site(view.tx, visit.visit, query)


@route("searchSite", "~search.json", kept=False)
def search(view: View, visit: SpaceVisit) -> Answer:
    found = _search(view, visit)
    return _same(msgspec.json.encode(found), "application/json")


@route("searchPage", "~search", kept=False)
def search_page(view: View, visit: SpaceVisit) -> Answer:
    found = _search(view, visit)
    frame = _Frame(view, visit)
    site = frame.site()
    return _html(site, draw_search(site, found, frame.builder.nav(None)))


@route("readQuestions", f"{ASK_PATH}/questions", kept=False)
def read_questions(view: View, visit: SpaceVisit) -> Answer:
    """Questions that could be asked, as HTML that scripts put into a page."""
    frame = _Frame(view, visit)
    require_asking(frame.look)
    asker = make_asker(view.context, frame.look, visit)
    return _same(draw_questions(frame.site(), list_questions(view.tx, asker)), HTML)


@route("readAsk", ASK_PATH, kept=False)
def read_ask(view: View, visit: SpaceVisit) -> Answer:
    """The form. Nothing is asked by an address alone: programs that follow links would spend tokens."""
    frame = _Frame(view, visit)
    require_asking(frame.look)
    questions = list_questions(view.tx, make_asker(view.context, frame.look, visit))
    site = frame.site()
    return _html(site, draw_ask(site, frame.builder.nav(None), _query(view), questions=questions))


@route("askQuestion", ASK_PATH, kept=False, method="POST")
def ask_question(view: View, visit: SpaceVisit) -> Later:
    """The answer as a page, or to scripts as server-sent events while it is written."""
    frame = _Frame(view, visit)
    require_asking(frame.look)
    request, context, look = view.request, view.context, frame.look
    refuse_foreign(
        request.header(b"origin"),
        visit.visit.host(request.header(b"host")),
        request.header(b"sec-fetch-site"),
    )
    question = read_question(view.body)
    note_question(view.events, request, visit, question.text)
    asker = make_asker(context, look, visit)
    site, nav = frame.site(), frame.builder.nav(None)
    headers = {"cache-control": "no-store", "x-robots-tag": "noindex"}

    def parts() -> Iterator[str]:
        for answered in answer_question(context, asker, look, question):
            yield draw_answer(site, answered)

    def stream() -> Answer:
        unbuffered = {**headers, "x-accel-buffering": "no"}
        return Answer(200, b"", EVENTS, unbuffered, stream=lambda: events_of(parts()))

    def page() -> Answer:
        *_, answered = answer_question(context, asker, look, question)
        shown = _html(site, draw_ask(site, nav, "", answered))
        return msgspec.structs.replace(shown, headers={**shown.headers, **headers}, etag="", again=False)

    how = stream if EVENTS in request.header(b"accept") else page
    return Later("question", visit.visit.organization_id, how)


@route("noteSeen", SEEN_PATH, kept=False, method="POST")
def take_seen(view: View, visit: SpaceVisit) -> Answer:
    """What the script of a page says that a visitor did there."""
    if _is_foreign(view, visit.visit):
        raise Forbidden("Only the pages of this site say what was done there.")
    seen = read_seen(view.body)
    query = parse_qs(view.request.query_string.decode("latin-1"))
    page = visit.view.tree.page(query.get("page", [""])[0])
    if page is None:
        raise NotFound("There is nothing at this address.")
    location = location_of(visit, page)

    def find_page(path: str) -> tuple[SpaceVisit, Page]:
        shown, rest, _ = visit.visit.outline.locate(unquote(path).removeprefix(unquote(visit.visit.base)))
        there = visit_space(view.tx, visit.visit, shown, rest) if shown is not None else None
        found = there.view.tree.find(rest) if there is not None else None
        if there is None or found is None:
            raise NotFound("There is no page at this path.")
        return there, found

    note_seen(view.events, view.request, visit, location, seen, find_page)
    return Answer(204, headers={"cache-control": "no-store"})


@route("readFont", "~fonts/{font}/{name}", kept=False)
def read_font(view: View, visit: SiteVisit, font: str, name: str) -> Answer:
    """A font of the organization, for the pages of its sites."""
    grant = find_face(view.tx, visit.organization_id, font, name)
    if grant is None:
        raise NotFound("There is nothing at this address.")
    return file_answer(view.context, grant, None, public=visit.indexed and not visit.admission.personal)


@route("readSiteFile", "~files/{file}/{name}", kept=False)
def read_file(view: View, visit: SpaceVisit, file: str, name: str) -> Answer:
    # The id is looked up among the files of this very revision of this very space.
    item = visit.view.item(file, "file")
    if item is None or not item.content:
        return not_found(view, visit)
    grant = FileGrant(item.content, item.name, item.content_type or "application/octet-stream")
    public = visit.visit.indexed and not visit.visit.admission.personal
    return file_answer(view.context, grant, item.size, public=public)


def _tried(view: View, visit: SpaceVisit) -> tuple[Page, Description, Operation]:
    """The page of this visit, and the operation that is tried from it. Raises NotFound."""
    query = parse_qs(view.request.query_string.decode("latin-1"))
    page_id, spec, key = (query.get(name, [""])[0] for name in ("page", "spec", "operation"))
    page = visit.view.tree.page(page_id)
    found = _Frame(view, visit).builder.find_operation(page, spec, key) if page is not None else None
    if page is None or found is None:
        raise NotFound("This page shows no operation of this kind that can be tried.")
    return page, *found


@route("readTryForm", "~try", kept=False)
def read_try_form(view: View, visit: SpaceVisit) -> Answer:
    _, description, operation = _tried(view, visit)
    return _same(msgspec.json.encode(make_form(description, operation)), "application/json")


def _is_foreign(view: View, visit: SiteVisit) -> bool:
    """Whether a page of another origin may have posted this, or a form, as any page can make a browser do."""
    request = view.request
    media_type = request.header(b"content-type").partition(";")[0].strip().lower()
    origin = request.header(b"origin")
    return media_type != "application/json" or bool(
        origin and origin.partition("://")[2] != visit.host(request.header(b"host"))
    )


@route("tryOperation", "~try", kept=False, method="POST")
def try_operation(view: View, visit: SpaceVisit) -> Later:
    if _is_foreign(view, visit.visit):
        # Others would have visitors send what they never filled in.
        raise Forbidden("Operations are tried from the page that shows them.")
    try:
        wanted = msgspec.json.decode(view.body, type=Wanted)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequest(f"body: {error}") from None
    page, description, operation = _tried(view, visit)
    prepared = prepare(description, operation, wanted)
    fetcher = Fetcher(view.context.settings.allow_private_fetch)
    location = location_of(visit, page)
    tried = ApiClientRequest(
        session=session_of(view.request, location),
        location=location,
        operation=ApiOperation(operation.path[:256], operation.method[:16]),
    )

    def answer() -> Answer:
        sent = msgspec.json.encode(send(fetcher, prepared))
        site, admission = visit.visit.site, visit.visit.admission
        if not admission.preview:
            collect(view.context, site.organization_id, site.id, [tried], admission.claims)
        return Answer(200, sent, "application/json", {"cache-control": "no-store"})

    return Later("call", visit.visit.organization_id, answer)


@route("postMessage", MCP_PATHS[0], kept=False, method="POST")
@route("postMessage", MCP_PATHS[1], kept=False, method="POST")
def post_message(view: View, visit: SiteVisit) -> Answer:
    if not get_customization(view.tx, visit.site.id).page_actions.mcp:
        raise NotFound("There is nothing at this address.")
    if _is_foreign(view, visit):
        raise Forbidden("Messages are posted as application/json, and not from pages of other sites.")
    reading = Reading(view.tx, visit, lambda space: _Frame(view, space).builder)
    return answer_message(reading, view.body, view.request.header(b"mcp-protocol-version"))


def _block(view: View, visit: SpaceVisit) -> Prepared:
    """The block of a page of this visit that an address names. Raises NotFound."""
    query = parse_qs(view.request.query_string.decode("latin-1"))
    page_id, key = (query.get(name, [""])[0] for name in ("page", "block"))
    page = visit.view.tree.page(page_id)
    frame = _Frame(view, visit)
    found = frame.builder.find_block(page, key) if page is not None else None
    prepared = prepare_block(view.tx, visit, found, frame.look) if found is not None else None
    if prepared is None:
        raise NotFound("This page shows no such block.")
    return prepared


@route("readBlock", "~block", kept=False)
def read_block(view: View, visit: SpaceVisit) -> Later:
    """What an integration has a block show, as HTML that scripts put into its page."""
    prepared = _block(view, visit)
    headers = {
        "cache-control": "no-store",
        "content-security-policy": content_security_policy(""),
        "x-robots-tag": "noindex",
    }

    def answer() -> Answer:
        return Answer(200, answer_block(view.context, view.kept.blocks, prepared), HTML, headers)

    return Later("script", visit.visit.organization_id, answer)


@route("readImage", "~image/{name}", kept=False)
def read_image(view: View, visit: SpaceVisit, name: str) -> Answer | Later:
    """The image that networks show of a page."""
    page = visit.view.tree.page(name.removesuffix(".png"))
    if page is None or page.kind != "document" or not name.endswith(".png"):
        return not_found(view, visit)
    frame = _Frame(view, visit)
    card = card_of(frame.builder.page(page), frame.site(page), frame.look)
    public = visit.visit.indexed and not visit.visit.admission.personal
    headers = {
        "cache-control": f"{'public' if public else 'private'}, max-age=3600",
        "cross-origin-resource-policy": "cross-origin",
        "x-robots-tag": "noindex",
    }

    def answer() -> Answer:
        return Answer(200, view.cards.draw(card), "image/png", headers, card.version)

    return Later("image", visit.visit.organization_id, answer)


@route("pressBlock", "~block", kept=False, method="POST")
def press_block(view: View, visit: SpaceVisit) -> Later:
    """What a block shows after a visitor pressed something on it."""
    if _is_foreign(view, visit.visit):
        raise Forbidden("Blocks are pressed on the page that shows them.")
    prepared = _block(view, visit)

    def answer() -> Answer:
        pressed = msgspec.json.encode(answer_press(view.context, prepared, view.body))
        return Answer(200, pressed, "application/json", {"cache-control": "no-store"})

    return Later("script", visit.visit.organization_id, answer)


def _find_start(view: View, visit: SpaceVisit) -> str | None:
    """The first page as Markdown of the section or variant whose own address, with `.md` behind it, was asked for."""
    address, mark, rest = visit.visit.rest.rpartition(".md")
    if not mark or rest:
        return None
    try:
        there = enter_space(view.tx, msgspec.structs.replace(visit.visit, rest=address))
    except SendOn:
        return None
    home = there.view.tree.home if there is not None and not there.rest else None
    return f"{there.base}{quote(there.view.tree.path(home))}.md" if there is not None and home else None


@route("readPage", "{path*}", kept=True)
def read_page(view: View, visit: SpaceVisit, path: str) -> Answer:
    tree = visit.view.tree
    page = tree.find(path.removesuffix(".md"))
    shown = tree.first_document(page) if page is not None else None
    if shown is None:
        above, _, last = path.rpartition("/")
        if last == FEED:
            return _read_feed(view, visit, above)
        start = _find_start(view, visit)
        return _redirect(start) if start is not None else not_found(view, visit)
    frame = _Frame(view, visit)
    builder = frame.builder
    as_markdown = path.endswith(".md")
    wanted = f"{tree.path(shown)}.md" if as_markdown else tree.url_path(shown)
    if path != wanted:
        # One address for each page: other spellings lead to it.
        return _redirect(_with_query(view, f"{visit.base}{quote(wanted)}"))
    if as_markdown:
        written = builder.markdown(shown)
        visit.visit.made_of.more = visit.visit.made_of.more or builder.varies
        return _same(written, "text/markdown; charset=utf-8")
    canonical = visit.visit.public(f"{visit.base}{quote(wanted)}")
    site = frame.site(shown)
    drawn = _with_addresses(builder.page(shown), site, frame.look, visit, canonical)
    if site.social_image is None and not visit.visit.admission.personal:
        card = card_of(drawn, site, frame.look)
        address = visit.visit.public(f"{visit.base}~image/{shown.id}.png?v={card.version}")
        image = Image(url=address, width=WIDTH, height=HEIGHT)
        drawn = msgspec.structs.replace(drawn, social_image=image)
    made_of = visit.visit.made_of
    made_of.more = made_of.more or builder.varies
    if not visit.visit.admission.preview:
        made_of.location = location_of(visit, shown)
    return _drawn(view, visit, shown.id, site, drawn)


def _read_feed(view: View, visit: SpaceVisit, path: str) -> Answer:
    """The feed of the page at that path. Pages without dated entries have none."""
    tree = visit.view.tree
    page = tree.find(path)
    shown = tree.first_document(page) if page is not None else None
    frame = _Frame(view, visit)
    drawn = frame.builder.page(shown) if shown is not None else None
    address = drawn.feed if drawn is not None else None
    visit.visit.made_of.more = visit.visit.made_of.more or frame.builder.varies
    if shown is None or drawn is None or address is None:
        return not_found(view, visit)
    if address != f"{visit.base}{quote(visit.rest)}":
        return _redirect(address)
    entries = frame.builder.entries(shown)
    canonical = visit.visit.public(f"{visit.base}{quote(tree.url_path(shown))}")
    drawn = msgspec.structs.replace(drawn, canonical=canonical)
    written = feed_xml(frame.site(shown), drawn, entries, visit.visit.public(address))
    answer = _same(written, "application/rss+xml; charset=utf-8")
    return msgspec.structs.replace(answer, headers={**answer.headers, "x-robots-tag": "noindex"})


def _drawn(view: View, visit: SpaceVisit, page_id: str, site: SiteView, page: PageView) -> Answer:
    """The page laid out: what was kept, where it was made of the very same."""
    key = (visit.base, visit.site_space.id, page_id, visit.visit.admission.audience)
    frames = tuple(
        source for name in page.blocks for source in find_frames(view.tx, view.context, name).sources
    )
    if page.diagrams:
        frames = (*frames, "'self'")
    # What integrations name is part of the site's view, so that all that it was drawn of is compared.
    site = msgspec.structs.replace(site, sources=(*site.sources, ("frame-src", frames)))
    kept = view.kept.pages.get(key)
    if kept is None or kept[0] != site or kept[1] != page:
        kept = (site, page, _html(site, draw_page(site, page), connect=page.connect))
        view.kept.pages.put(key, kept, len(kept[2].body) + _VIEW_BYTES)
    return kept[2]


_ASSISTANTS = (("ChatGPT", "https://chatgpt.com/?q="), ("Claude", "https://claude.ai/new?q="))


def _with_addresses(
    page: PageView, site: SiteView, look: Look, visit: SpaceVisit, canonical: str
) -> PageView:
    """The page with whatever names its public address."""
    actions = look.customization.page_actions
    assistants: tuple[Link, ...] = ()
    if actions.external_ai and visit.visit.site.visibility in ("public", "unlisted"):
        # Of other sites an assistant could read nothing.
        assert page.markdown is not None, "pages of sites have one"
        said = quote(look.labels.read_this.replace("{url}", visit.visit.public(page.markdown)))
        assistants = tuple(
            Link(
                title=look.labels.open_in.replace("{provider}", name), href=f"{address}{said}", external=True
            )
            for name, address in _ASSISTANTS
        )
    mcp = f"{visit.visit.published}{MCP_PATHS[0]}" if actions.mcp else None
    return msgspec.structs.replace(
        page,
        canonical=canonical,
        alternates=_alternates(site, visit.visit, canonical),
        assistants=assistants,
        mcp=mcp,
    )


def _alternates(site: SiteView, visit: SiteVisit, canonical: str) -> tuple[Variant, ...]:
    """The same page in each language that has it, its own among them; none where variants are versions."""
    if not site.variants_by_language or not any(variant.same for variant in site.variants):
        return ()
    return tuple(
        msgspec.structs.replace(variant, href=canonical if variant.current else visit.public(variant.href))
        for variant in site.variants
        if variant.current or variant.same
    )
