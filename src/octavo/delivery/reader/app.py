"""Application that serves all URLs of published sites.

Responses are cached until the next commit (the database reports commits). After a commit, a response is
still used if its dependencies (the site and the revisions of its spaces) are unchanged. A cached page view
therefore costs one lookup, and no response is ever stale. Responses that depend on the visitor are cached
only for the same cookies and query, until the next commit, and only as long as the visitor's token is
valid."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from hashlib import blake2b
from urllib.parse import parse_qs

import msgspec

from octavo.content.revisions.files import PURPOSE as FILE_PURPOSE
from octavo.core.hosts import host_name, spell_host
from octavo.delivery.visits.admission import asks_for_preview
from octavo.errors import NotFound, require_found
from octavo.extensions.integrations.public import public_routes
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.cache import FreshCache, share
from octavo.kit.db.database import REQUEST_SECONDS, StaleCachedRead, Transaction, statements_within
from octavo.kit.http.compression import Compressor
from octavo.kit.http.edge import (
    QUEUE_SECONDS,
    Action,
    Answer,
    Edge,
    Request,
    Route,
    fixed,
    in_turn,
    text_error,
)
from octavo.kit.http.mcp import Headers, ToolCall, answer_call, read_call
from octavo.kit.http.metrics import Metrics
from octavo.kit.http.proxies import address_key
from octavo.kit.http.recent_access import RecentAccess
from octavo.kit.scheduling.owners import Owner
from octavo.kit.scheduling.rates import RateLimiter
from octavo.kit.scheduling.shares import SharedThreads, request_threads
from octavo.organization.access.avatars import AVATARS, find_avatar
from octavo.settings import parse_networks
from octavo.sites.insights.queueing import DeferredEvents, EventQueue
from octavo.sites.printing.links import PATH as PRINT_PATH
from octavo.sites.printing.links import open_print
from octavo.sites.site.hostnames import is_released, require_shared_host
from octavo.sites.site.previewing import PREVIEWED
from octavo.sites.site.site_images import PICTURES, find_picture
from octavo.sites.site.store import find_site_by_hostname
from octavo.sites.site.wire import PROXIED

from . import routes  # noqa: F401 - each declares what it answers
from .answer_cache import ToolPlace, ToolResult, ToolResults
from .answering import Visited, answer_post, answer_visit
from .answers import FOREVER, TEXT, decoded_path, file_answer, is_json, private_answer
from .cards import Cards
from .drawing import find_asset
from .forms import name_form
from .full_text import SiteTextCache
from .home import answer_home, answer_missing
from .pages import PageCaches
from .questions import has_question
from .sites import ASSETS_PATH
from .table import Later, Pool, Rate, View, find_posted
from .tracking import record_cached_events, record_view

_AVATAR_CACHE = "public, max-age=3600"
_PATIENCE = 20.0
"""Number of seconds to wait for a PDF before asking the visitor to try again later."""
_POLL = 0.2
_RELEASED = "released"
_ANSWERS, _PERSONAL = share("site responses", 48), share("site responses for individual visitors", 16)
_HOSTS = share("hostnames", 4)
_IMAGES = 2
"""Maximum number of page images to render at the same time."""
_ENTRY = 4096
"""Estimated size in bytes of a cached response's headers, in all formats in which they are cached. It is added to the
size of the body."""
_HEADERS = {"x-content-type-options": "nosniff", "referrer-policy": "strict-origin-when-cross-origin"}

# A book icon, for sites without their own icon.
_MARK = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#2f55c8"/>'
    b'<path d="M8 9c4-1 6 0 8 2 2-2 4-3 8-2v13c-4-1-6 0-8 2-2-2-4-3-8-2z" fill="none" stroke="#fff" '
    b'stroke-width="2" stroke-linejoin="round"/><path d="M16 11v13" stroke="#fff" stroke-width="2"/></svg>'
)


def _is_personal(visited: Visited) -> bool:
    return visited.admission is not None and visited.admission.personal


def _is_valid(visited: Visited) -> bool:
    """Return whether the visitor's sign-in is still valid."""
    return visited.admission is None or visited.admission.until is None or now() < visited.admission.until


def _has_open_path(visited: Visited) -> bool:
    """Return whether the path is free of secrets that grant access."""
    return visited.admission is not None and visited.admission.has_open_path


def _measure(visited: Visited) -> int | None:
    return None if _is_personal(visited) else _measure_answer(visited)


def _measure_personal(visited: Visited) -> int | None:
    # Previews expire soon, and few people see them.
    if visited.admission is None or not visited.admission.personal or visited.admission.preview:
        return None
    return _measure_answer(visited)


def _is_unchanged(visited: Visited, tx: Transaction, name: str, path: str) -> bool:
    return visited.dependencies is not None and visited.dependencies.are_unchanged(tx, name, path)


def _measure_answer(visited: Visited) -> int | None:
    answer = visited.answer
    if not isinstance(answer, Answer):
        return None
    # Any made-up URL can result in an error or redirect, but a page has only one URL.
    return len(answer.body) + _ENTRY if answer.again and answer.status == 200 else None


class Sites:
    """Handler of requests for all published sites, which share caches, rate limits, and threads."""

    def __init__(self, context: Context, pool: SharedThreads, events: EventQueue) -> None:
        self._context = context
        self._events = events
        self._pool = pool
        self._kept, self._whole = PageCaches(), SiteTextCache()
        self._tool_results = ToolResults(context.db)
        self._insiders = RecentAccess()
        self._cards = Cards(context.settings.pdf_fonts, context.settings.allow_private_fetch)
        self._answers: FreshCache[Visited] = FreshCache(context.db, _ANSWERS, _measure)
        self._personal: FreshCache[Visited] = FreshCache(context.db, _PERSONAL, _measure_personal)
        self._hosts: FreshCache[str] = FreshCache(context.db, _HOSTS)
        self._threads: dict[Pool, SharedThreads] = {
            "questions": context.questions,
            "scripts": context.endpoints,
            "calls": SharedThreads("requests are being sent", context.settings.try_connections, "octavo-try"),
            "images": SharedThreads("images are being generated", _IMAGES, "octavo-image"),
        }
        self._limiters: dict[Rate, RateLimiter] = {
            "questions": RateLimiter(context.settings.ask_rate_limit),
            "tries": RateLimiter(context.settings.try_rate_limit),
        }

    async def answer(self, request: Request) -> Answer:
        """Respond from the cache on the event loop. Load and render all other responses in a thread."""
        request.shows_path = False
        path = decoded_path(request)
        name = host_name(request.header(b"host"))
        kept = None
        if not _bypasses_cache(request, path):
            turns = self._context.turns
            if turns.is_free():
                kept = self._find_kept(name, path, request)
            else:
                kept = await turns.run(lambda: request.owner, self._find_kept, name, path, request)
        if kept is not None:
            assert isinstance(kept.answer, Answer), "nothing else is cached"
            request.name = "readPage"
            request.shows_path = _has_open_path(kept)
            record_view(self._events, request, kept.dependencies)
            return kept.answer
        found = await in_turn(self._pool, request.owner, self._make, request, name, path)
        self._count(request, found)
        return found if isinstance(found, Answer) else await self._work_out(request, found)

    def owner_of(self, request: Request) -> Owner:
        """Return the organization to which a request is attributed for fair scheduling: the owner of the requested
        site, if the site has been visited before."""
        name = host_name(request.header(b"host"))
        return self._insiders.organization(name, "", _site_path(request)), address_key(request.client)

    def _find_kept(self, name: str, path: str, request: Request) -> Visited | None:
        generation = self._context.db.recent_generation()
        site = self._hosts.find(name, generation)
        kept = self._find(site, path, request, generation) if site is not None else None
        return kept if kept is not None else self._find_revalidated(name, path, request)

    def _find(self, site: str, path: str, request: Request, generation: int | None) -> Visited | None:
        form = name_form(request)
        kept = self._answers.find((site, path, form), generation)
        if kept is not None:
            return kept
        kept = self._personal.find((site, path, form, _hash_visitor(request)), generation)
        return kept if kept is not None and _is_valid(kept) else None

    def _find_revalidated(self, name: str, path: str, request: Request) -> Visited | None:
        """Return a response that was cached before the last commit, if it is still valid. This takes only a few
        lookups: in SQLite or, with PostgreSQL, in rows that another visit has fetched since the commit. That is
        faster than waiting for a thread behind slower requests. Return None if the database server would have to
        be queried."""
        try:
            with self._context.db.read_cached(begins=False) as tx:
                site = self._hosts.get(name, lambda: self._find_host(tx, name))
                key = (site, path, name_form(request))
                return self._answers.renew(key, lambda kept: _is_unchanged(kept, tx, name, path))
        except StaleCachedRead:
            return None

    def _find_host(self, tx: Transaction, name: str) -> str:
        """Return the ID of the site with this hostname. All unknown names map to the same value, and so do all
        names that sites no longer use, so that these names don't fill the cache."""
        found = find_site_by_hostname(tx, name) if "." in name else None
        if found is not None:
            return found.id
        return _RELEASED if is_released(tx, self._context.settings, name) else ""

    def _make(self, request: Request, name: str, path: str) -> Answer | Later:
        db = self._context.db
        try:
            try:
                return self._visit(db.read_cached(), request, name, path)
            except StaleCachedRead:
                return self._visit(db.read(), request, name, path)
        except NotFound as error:
            return answer_missing(self._context, request, error)

    def _visit(
        self, read: AbstractContextManager[Transaction], request: Request, name: str, path: str
    ) -> Answer | Later:
        events = DeferredEvents(self._events)
        with statements_within(REQUEST_SECONDS), read as tx:
            site = self._hosts.get(name, lambda: self._find_host(tx, name))
            if not site and path == "/" and self._is_own_host(name):
                request.name = "readHome"
                return answer_home(self._context, tx, request)
            view = View(
                self._context, tx, request, self._kept, self._cards, self._whole, self._tool_results, events
            )
            # Clients that accept Markdown or request all fields get a different response at the same URL.
            form = name_form(request)

            def make() -> Visited:
                visited = self._personal.get((site, path, form, _hash_visitor(request)), visit)
                return visited if _is_valid(visited) else visit()

            def visit() -> Visited:
                return answer_visit(view, name, path)

            def is_good(kept: Visited) -> bool:
                request.name = "readPage"
                return _is_unchanged(kept, tx, name, path)

            # Handle a preview before the cache, because other visitors see something else at the same URL.
            alone = _bypasses_cache(request, path)
            visited = visit() if alone else self._answers.get((site, path, form), make, is_good)
            record_view(events, request, visited.dependencies)
            request.shows_path = _has_open_path(visited)
            if visited.dependencies is not None:
                place = "" if site else _site_path(request)
                self._insiders.record(name, visited.dependencies.site.organization_id, place)
        events.release()
        return visited.answer

    def _is_own_host(self, name: str) -> bool:
        """Return whether a hostname belongs to the server itself. Any other name with a dot may belong to
        a deleted site."""
        own = self._context.settings.sites_address.host
        return name == own or "." not in name or name.replace(".", "").isdigit()

    async def post(self, request: Request) -> Answer:
        """Respond to a POST request to a site. Rate and size limits apply before the body is read. Cached
        tool results are served on the event loop."""
        request.shows_path = False
        path = decoded_path(request)
        route = find_posted(path)
        if route is not None and route.rate in self._limiters:
            self._limiters[route.rate].count(address_key(request.client))
        body = await request.read(route.body) if route is not None else b""
        if route is not None and route.kept and not _bypasses_cache(request, path):
            request.name = route.name
            cached = await self._answer_from_cache(request, path, body)
            if cached is not None:
                return cached
        found = await in_turn(self._pool, request.owner, self._post, request, path, body)
        self._count(request, found)
        return found if isinstance(found, Answer) else await self._work_out(request, found)

    async def _answer_from_cache(self, request: Request, path: str, message: bytes) -> Answer | None:
        """Return the cached response to a message; None if it isn't cached."""
        call = read_call(message, Headers.of(request))
        # The visit itself rejects browsers that come from another page.
        if call is None or b"origin" in request.headers or not is_json(request):
            return None
        turns = self._context.turns
        if turns.is_free():
            result = self._find_tool_result(request, path, call)
        else:
            result = await turns.run(lambda: request.owner, self._find_tool_result, request, path, call)
        if result is None:
            return None
        assert isinstance(result.result, bytes), "nothing else is cached"
        record_cached_events(self._events, request, result.dependencies, result.notes)
        return private_answer(result.admission, answer_call(call, result.result))

    def _find_tool_result(self, request: Request, path: str, call: ToolCall) -> ToolResult | None:
        name = host_name(request.header(b"host"))
        generation = self._context.db.recent_generation()
        site = self._hosts.find(name, generation)
        if site is not None:
            result = self._tool_results.find(ToolPlace(site, path), request, call, generation)
            if result is not None:
                return result
        try:
            with self._context.db.read_cached(begins=False) as tx:
                place = ToolPlace(self._hosts.get(name, lambda: self._find_host(tx, name)), path)
                return self._tool_results.renew(tx, place, request, call)
        except StaleCachedRead:
            return None

    def _count(self, request: Request, found: Answer | Later) -> None:
        """Count a response against the additional rate limit that its route chose for it, if any. Raises
        TooManyRequests if the limit is exceeded."""
        if isinstance(found, Later) and found.rate in self._limiters:
            self._limiters[found.rate].count(address_key(request.client))

    async def _work_out(self, request: Request, later: Later) -> Answer:
        """Compute a response in separate threads, so that slow work never blocks the threads that serve
        readers."""
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
                self._tool_results,
                self._events,
                body,
            )
            found = answer_post(view, host_name(request.header(b"host")), path)
        # Work as short as a visit continues in this thread.
        return found.work_out() if isinstance(found, Later) and found.pool == "visits" else found

    def close(self) -> None:
        """Wait for pending responses."""
        for pool in ("calls", "images"):
            self._threads[pool].close()

    def find_host(self, request: Request) -> Answer:
        """Report whether a published site has this custom domain, for proxies that request certificates on
        demand."""
        query = parse_qs(request.query_string.decode("latin-1"))
        name = spell_host(query.get("domain", [""])[0])
        with self._context.db.read() as tx:
            site = find_site_by_hostname(tx, name) if name else None
        if site is None or not site.published:
            raise NotFound("There is no published site with this hostname.")
        return Answer(200, b"ok\n", TEXT, {"cache-control": "no-store"})

    def read_file(self, request: Request) -> Answer:
        """Return the file that a signed link points to."""
        require_shared_host(self._context, request.header(b"host"))
        grant = self._context.files.verify(FILE_PURPOSE, request.parameters["token"])
        if grant is None:
            raise NotFound("This link is invalid or has expired.")
        return file_answer(self._context, grant, None)

    def read_picture(self, request: Request) -> Answer:
        """Return a site's logo or icon. These images are public."""
        require_shared_host(self._context, request.header(b"host"))
        with self._context.db.read() as tx:
            found = find_picture(tx, request.parameters["picture"])
        if found is None or found[0].name != request.parameters["name"]:
            raise NotFound("This image doesn't exist.")
        return file_answer(self._context, *found, public=True)

    def read_avatar(self, request: Request) -> Answer:
        """Return a person's uploaded photo. Photos are public; each has its own URL."""
        require_shared_host(self._context, request.header(b"host"))
        with self._context.db.read() as tx:
            image = find_avatar(tx, request.parameters["avatar"])
        if image is None:
            raise NotFound("This image doesn't exist.")
        headers = {"cache-control": _AVATAR_CACHE, "cross-origin-resource-policy": "cross-origin"}
        return Answer(200, image, "image/png", headers)

    async def read_print(self, request: Request) -> Answer:
        """Wait until the PDF that a link points to is ready, and return it. After a while, respond that the PDF
        is still being created."""
        host = request.header(b"host")
        await in_turn(self._pool, request.owner, require_shared_host, self._context, host)
        loop = asyncio.get_running_loop()
        until = loop.time() + _PATIENCE
        while True:
            opened = await in_turn(
                self._pool, request.owner, open_print, self._context, request.parameters["token"]
            )
            if opened is None:
                raise NotFound("This link is invalid or has expired.")
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
    static = require_found(find_asset(name), "There is no page at this URL.")
    headers = {"cache-control": FOREVER}
    if static.policy:
        headers["content-security-policy"] = static.policy
    return Answer(200, static.content, static.media_type, headers, static.version, again=True)


_ASSET = {"GET": Action("readAsset", _read_asset)}
ASSET_ROUTE = Route(f"{ASSETS_PATH}/{{name}}", _ASSET)


def _hash_visitor(request: Request) -> bytes:
    """Return a hash of all data that identifies the visitor: cookies and query, which may be long."""
    cookies = request.headers.get(b"cookie", b"")
    return blake2b(b"%d:%b%b" % (len(cookies), cookies, request.query_string), digest_size=32).digest()


def _bypasses_cache(request: Request, path: str) -> bool:
    """Return whether a request bypasses the cache, as previews and questions do."""
    query, cookie = request.query_string, request.headers.get(b"cookie", b"")
    if path.startswith(PREVIEWED):
        return True
    return bool(query or cookie) and (asks_for_preview(query, cookie) or has_question(query))


def _site_path(request: Request) -> str:
    """Return the path of a site on the shared host: the first two segments of the requested path."""
    return "/".join(request.segments[:2])


def icon_route() -> Route:
    """Return the route of the default icon, for pages that don't have an icon."""
    headers = {"cache-control": "public, max-age=86400"}
    return fixed("/favicon.ico", "readIcon", lambda: _MARK, "image/svg+xml", headers)


def reader_edge(
    context: Context,
    metrics: Metrics | None = None,
    events: EventQueue | None = None,
    others: Callable[[SharedThreads], Sequence[Route]] = lambda pool: (),
) -> Edge:
    """Return the application that serves published sites. ``events``: the queue for visitor events. The queue's owner
    periodically writes the events to the database. ``others``: additional routes."""
    settings = context.settings
    pool = request_threads("pages are being rendered", settings.threads, "octavo-read", settings.connections)
    sites = Sites(context, pool, events or EventQueue(context))
    return Edge(
        [
            ASSET_ROUTE,
            Route(f"{PROXIED}{{site}}{ASSETS_PATH}/{{name}}", _ASSET),
            Route("/~host", {"GET": Action("findHost", sites.find_host)}),
            Route("/~files/{token}/{name}", {"GET": Action("readFile", sites.read_file)}),
            Route(f"{PICTURES}{{picture}}/{{name}}", {"GET": Action("readPicture", sites.read_picture)}),
            Route(f"{AVATARS}{{avatar}}", {"GET": Action("readAvatar", sites.read_avatar)}),
            Route(f"{PRINT_PATH}{{token}}/{{name}}", {"GET": Action("readPrint", sites.read_print)}),
            icon_route(),
            fixed("/healthz", "healthz", lambda: b"ok\n", TEXT, {"cache-control": "no-store"}),
            *others(pool),
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
