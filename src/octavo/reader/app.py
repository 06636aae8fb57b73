"""The reader's application: every URL of published sites is answered here.

An answer is kept until anybody commits anything (the database says when). Then it is enough to see that what it was
made of is the same: the site and the revisions of the spaces that it shows. A warm view costs a look-up, and nothing
is ever stale. What depends on who comes is kept for the same cookies and query alone, until the next commit, and no
longer than the visitor's token is good.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractContextManager
from hashlib import blake2b
from urllib.parse import parse_qs

import msgspec

from ..content import FILE_PURPOSE
from ..core.hosts import host_name, spell_host
from ..errors import NotFound
from ..insights import EventQueue, HeldEvents
from ..integrations import public_routes
from ..kit.cache import FreshCache, share
from ..kit.clock import now
from ..kit.compression import Compressor
from ..kit.context import Context
from ..kit.db import REQUEST_SECONDS, NotKept, Transaction, statements_within
from ..kit.edge import (
    QUEUE_SECONDS,
    Action,
    Answer,
    Edge,
    RateLimiter,
    Request,
    Route,
    fixed,
    in_turn,
    text_error,
)
from ..kit.insiders import Insiders
from ..kit.mcp import Headers, ToolCall, answer_call, read_call
from ..kit.metrics import Metrics
from ..kit.owners import Owner
from ..kit.proxies import address_key
from ..kit.shares import SharedThreads, request_threads
from ..printing import PRINT_PATH, open_print
from ..settings import parse_networks
from ..sites import PICTURES, PREVIEWED, PROXIED, find_picture, find_site_by_hostname, require_shared_host
from ..visits import asks_for_preview
from . import routes  # noqa: F401 - each declares what it answers
from .answering import Visited, answer_post, answer_visit
from .answers import FOREVER, TEXT, closed, decoded_path, file_answer, is_json
from .asking import asks
from .cards import Cards
from .drawing import asset
from .forms import form_of
from .home import answer_home, answer_missing
from .pages import Kept
from .sites import ASSETS_PATH
from .table import Later, Pool, Rate, View, find_posted
from .telling import Tellings, Told, ToolPlace
from .tracking import note_again, note_view
from .whole import Whole

_PATIENCE = 20.0
"""Seconds that who opens a link to a print waits for it before being told to come again."""
_POLL = 0.2
_ANSWERS, _PERSONAL = share("answers of sites", 48), share("answers to single visitors", 16)
_HOSTS = share("host names", 4)
_IMAGES = 2
"""Images of pages that are made at a time."""
_ENTRY = 4096
"""Bytes that a kept answer takes beside its body: its headers, in each form that they are sent in."""
_HEADERS = {"x-content-type-options": "nosniff", "referrer-policy": "strict-origin-when-cross-origin"}

# A book, for sites that have no icon of their own.
_MARK = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#2f55c8"/>'
    b'<path d="M8 9c4-1 6 0 8 2 2-2 4-3 8-2v13c-4-1-6 0-8 2-2-2-4-3-8-2z" fill="none" stroke="#fff" '
    b'stroke-width="2" stroke-linejoin="round"/><path d="M16 11v13" stroke="#fff" stroke-width="2"/></svg>'
)


def _is_personal(visited: Visited) -> bool:
    return visited.admission is not None and visited.admission.personal


def _is_valid(visited: Visited) -> bool:
    """Whether what the visitor proved still counts."""
    return visited.admission is None or visited.admission.until is None or now() < visited.admission.until


def _has_open_path(visited: Visited) -> bool:
    """Whether nobody comes in by what is in the path."""
    return visited.admission is not None and visited.admission.has_open_path


def _cost(visited: Visited) -> int | None:
    return None if _is_personal(visited) else _cost_of_answer(visited)


def _personal_cost(visited: Visited) -> int | None:
    # A preview ends by itself, and few look at it.
    if visited.admission is None or not visited.admission.personal or visited.admission.preview:
        return None
    return _cost_of_answer(visited)


def _is_still_so(visited: Visited, tx: Transaction, name: str, path: str) -> bool:
    return visited.made_of is not None and visited.made_of.is_still_so(tx, name, path)


def _cost_of_answer(visited: Visited) -> int | None:
    answer = visited.answer
    if not isinstance(answer, Answer):
        return None
    # Refusals and redirects are as many as there are spellings; a page has one address.
    return len(answer.body) + _ENTRY if answer.again and answer.status == 200 else None


class Sites:
    """Answers the addresses of all sites."""

    def __init__(self, context: Context, pool: SharedThreads, events: EventQueue) -> None:
        self._context = context
        self._events = events
        self._pool = pool
        self._kept, self._whole = Kept(), Whole()
        self._tellings = Tellings(context.db)
        self._insiders = Insiders()
        self._cards = Cards(context.settings.pdf_fonts, context.settings.allow_private_fetch)
        self._answers: FreshCache[Visited] = FreshCache(context.db, _ANSWERS, _cost)
        self._personal: FreshCache[Visited] = FreshCache(context.db, _PERSONAL, _personal_cost)
        self._hosts: FreshCache[str] = FreshCache(context.db, _HOSTS)
        self._threads: dict[Pool, SharedThreads] = {
            "questions": context.questions,
            "scripts": context.endpoints,
            "calls": SharedThreads("requests are being sent", context.settings.try_connections, "octavo-try"),
            "images": SharedThreads("images are being made", _IMAGES, "octavo-image"),
        }
        self._limiters: dict[Rate, RateLimiter] = {
            "questions": RateLimiter(context.settings.ask_rate_limit),
            "tries": RateLimiter(context.settings.try_rate_limit),
        }

    async def answer(self, request: Request) -> Answer:
        """What is kept is answered on the event loop; everything else reads and draws, and does so in a thread."""
        request.shows_path = False
        path = decoded_path(request)
        name = host_name(request.header(b"host"))
        kept = None
        if not _is_alone(request, path):
            turns = self._context.turns
            if turns.is_free():
                kept = self._find_kept(name, path, request)
            else:
                kept = await turns.run(lambda: request.owner, self._find_kept, name, path, request)
        if kept is not None:
            assert isinstance(kept.answer, Answer), "nothing else is kept"
            request.name = "readPage"
            request.shows_path = _has_open_path(kept)
            note_view(self._events, request, kept.made_of)
            return kept.answer
        found = await in_turn(self._pool, request.owner, self._make, request, name, path)
        self._count(request, found)
        return found if isinstance(found, Answer) else await self._work_out(request, found)

    def owner_of(self, request: Request) -> Owner:
        """Whose turn a request is answered in: that of the organization whose site it visits, once somebody has."""
        name = host_name(request.header(b"host"))
        return self._insiders.organization(name, "", _site_path(request)), address_key(request.client)

    def _find_kept(self, name: str, path: str, request: Request) -> Visited | None:
        generation = self._context.db.generation_lately()
        site = self._hosts.find(name, generation)
        kept = self._find(site, path, request, generation) if site is not None else None
        return kept if kept is not None else self._find_again(name, path, request)

    def _find(self, site: str, path: str, request: Request, generation: int | None) -> Visited | None:
        form = form_of(request)
        kept = self._answers.find((site, path, form), generation)
        if kept is not None:
            return kept
        kept = self._personal.find((site, path, form, _who(request)), generation)
        return kept if kept is not None and _is_valid(kept) else None

    def _find_again(self, name: str, path: str, request: Request) -> Visited | None:
        """What was kept before somebody committed, if it is still what there is: a few look-ups in SQLite, or among
        the rows of PostgreSQL that another visit got since then, which are done sooner than a thread has its turn behind
        those that compute. None where the server would have to be waited for."""
        try:
            with self._context.db.read_kept(begins=False) as tx:
                site = self._hosts.get(name, lambda: self._find_host(tx, name))
                key = (site, path, form_of(request))
                return self._answers.renew(key, lambda kept: _is_still_so(kept, tx, name, path))
        except NotKept:
            return None

    def _find_host(self, tx: Transaction, name: str) -> str:
        """The id of the site with this host name. Other names mean the same, so that they do not fill the cache."""
        found = find_site_by_hostname(tx, name) if "." in name else None
        return found.id if found is not None else ""

    def _make(self, request: Request, name: str, path: str) -> Answer | Later:
        db = self._context.db
        try:
            try:
                return self._visit(db.read_kept(), request, name, path)
            except NotKept:
                return self._visit(db.read(), request, name, path)
        except NotFound as error:
            return answer_missing(self._context, request, error)

    def _visit(
        self, read: AbstractContextManager[Transaction], request: Request, name: str, path: str
    ) -> Answer | Later:
        events = HeldEvents(self._events)
        with statements_within(REQUEST_SECONDS), read as tx:
            site = self._hosts.get(name, lambda: self._find_host(tx, name))
            if not site and path == "/" and self._is_own(name):
                request.name = "readHome"
                return answer_home(self._context, tx, request)
            view = View(
                self._context, tx, request, self._kept, self._cards, self._whole, self._tellings, events
            )
            # Who accepts Markdown, or wants all fields, is answered otherwise at the same address.
            form = form_of(request)

            def make() -> Visited:
                visited = self._personal.get((site, path, form, _who(request)), visit)
                return visited if _is_valid(visited) else visit()

            def visit() -> Visited:
                return answer_visit(view, name, path)

            def is_good(kept: Visited) -> bool:
                request.name = "readPage"
                return _is_still_so(kept, tx, name, path)

            # A preview is asked before what is kept: the same address shows everybody else something else.
            alone = _is_alone(request, path)
            visited = visit() if alone else self._answers.get((site, path, form), make, is_good)
            note_view(events, request, visited.made_of)
            request.shows_path = _has_open_path(visited)
            if visited.made_of is not None:
                place = "" if site else _site_path(request)
                self._insiders.let_in(name, visited.made_of.site.organization_id, place)
        events.release()
        return visited.answer

    def _is_own(self, name: str) -> bool:
        """Whether a host is the server itself; any other name with a domain may be a site's that is gone."""
        own = self._context.settings.sites_address.host
        return name == own or "." not in name or name.replace(".", "").isdigit()

    async def post(self, request: Request) -> Answer:
        """What is posted to a site. How often, and how much, is known before anything is read. What a tool said is
        answered again on the event loop."""
        request.shows_path = False
        path = decoded_path(request)
        route = find_posted(path)
        if route is not None and route.rate in self._limiters:
            self._limiters[route.rate].count(address_key(request.client))
        body = await request.read(route.body) if route is not None else b""
        if route is not None and route.kept and not _is_alone(request, path):
            request.name = route.name
            told = await self._tell(request, path, body)
            if told is not None:
                return told
        found = await in_turn(self._pool, request.owner, self._post, request, path, body)
        self._count(request, found)
        return found if isinstance(found, Answer) else await self._work_out(request, found)

    async def _tell(self, request: Request, path: str, message: bytes) -> Answer | None:
        """What is kept of what a message calls for; None where a visit has to be made."""
        call = read_call(message, Headers.of(request))
        # Whoever's browser another page has sent is told by the visit itself.
        if call is None or b"origin" in request.headers or not is_json(request):
            return None
        turns = self._context.turns
        if turns.is_free():
            told = self._find_told(request, path, call)
        else:
            told = await turns.run(lambda: request.owner, self._find_told, request, path, call)
        if told is None:
            return None
        assert isinstance(told.result, bytes), "nothing else is kept"
        note_again(self._events, request, told.made_of, told.notes)
        return closed(told.admission, answer_call(call, told.result))

    def _find_told(self, request: Request, path: str, call: ToolCall) -> Told | None:
        name = host_name(request.header(b"host"))
        generation = self._context.db.generation_lately()
        site = self._hosts.find(name, generation)
        if site is not None:
            told = self._tellings.find(ToolPlace(site, path), request, call, generation)
            if told is not None:
                return told
        try:
            with self._context.db.read_kept(begins=False) as tx:
                place = ToolPlace(self._hosts.get(name, lambda: self._find_host(tx, name)), path)
                return self._tellings.renew(tx, place, request, call)
        except NotKept:
            return None

    def _count(self, request: Request, found: Answer | Later) -> None:
        """Raises TooManyRequests for what counts as more than a visit, of which only its own route knows that."""
        if isinstance(found, Later) and found.rate in self._limiters:
            self._limiters[found.rate].count(address_key(request.client))

    async def _work_out(self, request: Request, later: Later) -> Answer:
        """In threads of their own, so that those of readers are never taken by what others take long for."""
        threads = self._threads[later.pool]
        owner = (later.organization_id, address_key(request.client))

        def work_out() -> Answer:
            try:
                with statements_within(REQUEST_SECONDS):
                    return later.work_out()
            except NotFound as error:
                if request.method != "GET":
                    raise
                return answer_missing(self._context, request, error)

        answer, give_back = await threads.begin(owner, QUEUE_SECONDS, work_out)
        return msgspec.structs.replace(answer, threads=threads.threads, sent=give_back)

    def _post(self, request: Request, path: str, body: bytes) -> Answer | Later:
        with statements_within(REQUEST_SECONDS), self._context.db.read() as tx:
            view = View(
                self._context,
                tx,
                request,
                self._kept,
                self._cards,
                self._whole,
                self._tellings,
                self._events,
                body,
            )
            found = answer_post(view, host_name(request.header(b"host")), path)
        # What takes no longer than a visit goes on in this thread.
        return found.work_out() if isinstance(found, Later) and found.pool == "visits" else found

    def close(self) -> None:
        """Waits for what is being sent."""
        for pool in ("calls", "images"):
            self._threads[pool].close()

    def find_host(self, request: Request) -> Answer:
        """Whether a published site has this host name of its own: asked by proxies that get certificates on demand."""
        query = parse_qs(request.query_string.decode("latin-1"))
        name = spell_host(query.get("domain", [""])[0])
        with self._context.db.read() as tx:
            site = find_site_by_hostname(tx, name) if name else None
        if site is None or not site.published:
            raise NotFound("No published site has this host name.")
        return Answer(200, b"ok\n", TEXT, {"cache-control": "no-store"})

    def read_file(self, request: Request) -> Answer:
        """A file by a signed link."""
        require_shared_host(self._context, request.header(b"host"))
        grant = self._context.files.verify(FILE_PURPOSE, request.parameters["token"])
        if grant is None:
            raise NotFound("This link is not good, or not any more.")
        return file_answer(self._context, grant, None)

    def read_picture(self, request: Request) -> Answer:
        """A logo or an icon of sites, for everybody."""
        require_shared_host(self._context, request.header(b"host"))
        with self._context.db.read() as tx:
            found = find_picture(tx, request.parameters["picture"])
        if found is None or found[0].name != request.parameters["name"]:
            raise NotFound("There is no such picture.")
        return file_answer(self._context, *found, public=True)

    async def read_print(self, request: Request) -> Answer:
        """The PDF of a link: as soon as it is made, or after a while the news that it is still being made."""
        host = request.header(b"host")
        await in_turn(self._pool, request.owner, require_shared_host, self._context, host)
        loop = asyncio.get_running_loop()
        until = loop.time() + _PATIENCE
        while True:
            opened = await in_turn(
                self._pool, request.owner, open_print, self._context, request.parameters["token"]
            )
            if opened is None:
                raise NotFound("This link is not good, or not any more.")
            if opened.file is not None:
                file, size = opened.file, opened.size
                return await in_turn(self._pool, request.owner, file_answer, self._context, file, size)
            if opened.error is not None:
                return Answer(422, f"{opened.error}\n".encode(), TEXT, {"cache-control": "no-store"})
            if loop.time() > until:
                headers = {"cache-control": "no-store", "retry-after": "2", "refresh": "2"}
                return Answer(202, b"The PDF is being made. Ask again in a moment.\n", TEXT, headers)
            await asyncio.sleep(_POLL)


_assets: dict[str, Answer] = {}


async def _read_asset(request: Request) -> Answer:
    name = request.parameters["name"]
    if name not in _assets:
        _assets[name] = await asyncio.get_running_loop().run_in_executor(None, _make_asset, name)
    return _assets[name]


def _make_asset(name: str) -> Answer:
    static = asset(name)
    if static is None:
        raise NotFound("There is nothing at this address.")
    headers = {"cache-control": FOREVER}
    if static.policy:
        headers["content-security-policy"] = static.policy
    return Answer(200, static.content, static.media_type, headers, static.version, again=True)


_ASSET = {"GET": Action("readAsset", _read_asset)}
ASSET_ROUTE = Route(f"{ASSETS_PATH}/{{name}}", _ASSET)


def _who(request: Request) -> bytes:
    """A hash of all that says who comes, the cookies and the query, which may be long."""
    cookies = request.headers.get(b"cookie", b"")
    return blake2b(b"%d:%b%b" % (len(cookies), cookies, request.query_string), digest_size=32).digest()


def _is_alone(request: Request, path: str) -> bool:
    """Whether a request is answered for itself: nothing that is kept answers a preview or a question."""
    query, cookie = request.query_string, request.headers.get(b"cookie", b"")
    if path.startswith(PREVIEWED):
        return True
    return bool(query or cookie) and (asks_for_preview(query, cookie) or asks(query))


def _site_path(request: Request) -> str:
    """Where a site is at a host name that many share: the first two parts of the path."""
    return "/".join(request.segments[:2])


def icon_route() -> Route:
    """The icon of pages that have none of their own."""
    headers = {"cache-control": "public, max-age=86400"}
    return fixed("/favicon.ico", "readIcon", lambda: _MARK, "image/svg+xml", headers)


def reader_edge(
    context: Context,
    metrics: Metrics | None = None,
    events: EventQueue | None = None,
    others: Sequence[Route] = (),
) -> Edge:
    """Published sites as an application. ``events``: where it puts what visitors do, for whoever opens it to
    write now and then. ``others``: what it answers besides."""
    settings = context.settings
    pool = request_threads("pages are being made", settings.threads, "octavo-read", settings.connections)
    sites = Sites(context, pool, events or EventQueue(context))
    return Edge(
        [
            ASSET_ROUTE,
            Route(f"{PROXIED}{{site}}{ASSETS_PATH}/{{name}}", _ASSET),
            Route("/~host", {"GET": Action("findHost", sites.find_host)}),
            Route("/~files/{token}/{name}", {"GET": Action("readFile", sites.read_file)}),
            Route(f"{PICTURES}{{picture}}/{{name}}", {"GET": Action("readPicture", sites.read_picture)}),
            Route(f"{PRINT_PATH}{{token}}/{{name}}", {"GET": Action("readPrint", sites.read_print)}),
            icon_route(),
            fixed("/healthz", "healthz", lambda: b"ok\n", TEXT, {"cache-control": "no-store"}),
            *others,
            *public_routes(context, pool),
            Route(
                "/{path*}",
                {"GET": Action("visitSite", sites.answer), "POST": Action("postToSite", sites.post)},
            ),
        ],
        pool=pool,
        metrics=metrics or Metrics(),
        compressor=Compressor(),
        refuse=text_error,
        headers=_HEADERS,
        owner_of=sites.owner_of,
        proxies=parse_networks(settings.trusted_proxies),
        tracers=parse_networks(settings.trace_proxies),
        query_limit=settings.query_limit,
        least_rate=settings.least_rate,
        limiter=RateLimiter(settings.reader_rate_limit),
        closing=[sites.close],
    )
