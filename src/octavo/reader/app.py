"""The reader's application: every URL of published sites is answered here.

An answer is kept until anybody commits anything (the database says when); a page that stayed the same is then
found again by its revision, so a warm view costs a look-up and nothing is ever stale.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import parse_qs, quote, unquote

import msgspec
from litestar import Litestar
from litestar.handlers import HTTPRouteHandler
from litestar.types import ASGIApp
from msgspec import Struct

from ..content import FILE_PURPOSE
from ..core.links import app_hosts
from ..kit import ids
from ..kit.cache import ByteCache, FreshCache
from ..kit.context import Context
from ..kit.db import Transaction
from ..kit.files import FileGrant, file_headers
from ..kit.http import Receive, Scope, Send
from ..printing import PRINT_PATH, open_print
from .drawing import asset, content_security_policy, draw_not_found, draw_page, draw_search
from .pages import PageBuilder
from .resolving import SiteVisit, SpaceVisit, find_site, find_space
from .searching import search_site
from .sites import ASSETS_PATH, llms_text, robots_text, site_view, sitemap_xml
from .views import MessageView, SiteView

log = logging.getLogger("octavo.reader")

_ANSWERS = 20_000
_PAGES_BYTES = 128 * 1024 * 1024
_HTML = "text/html; charset=utf-8"
_TEXT = "text/plain; charset=utf-8"
_QUERY_MAX = 512
_PATIENCE = 20.0
"""Seconds that who opens a link to a print waits for it before being told to come again."""
_POLL = 0.2
_REVALIDATE = "public, max-age=0, must-revalidate"
_FOREVER = "public, max-age=31536000, immutable"


# A book, for sites that have no icon of their own.
_MARK = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#2f55c8"/>'
    '<path d="M8 9c4-1 6 0 8 2 2-2 4-3 8-2v13c-4-1-6 0-8 2-2-2-4-3-8-2z" fill="none" stroke="#fff" '
    'stroke-width="2" stroke-linejoin="round"/><path d="M16 11v13" stroke="#fff" stroke-width="2"/></svg>'
)


class Answer(Struct, frozen=True):
    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes = b""
    stream: Any = None


def _answer(
    body: bytes | str, content_type: str, *, status: int = 200, cache: str = _REVALIDATE, policy: str = ""
) -> Answer:
    raw = body.encode() if isinstance(body, str) else body
    headers = {
        "content-type": content_type,
        "cache-control": cache,
        "x-content-type-options": "nosniff",
        "referrer-policy": "strict-origin-when-cross-origin",
        "etag": f'"{hashlib.blake2b(raw, digest_size=12).hexdigest()}"',
    }
    if policy:
        headers["content-security-policy"] = policy
    return Answer(
        status, tuple((k.encode(), v.encode("latin-1", "replace")) for k, v in headers.items()), raw
    )


def _html(site: SiteView, text: str, status: int = 200) -> Answer:
    return _answer(text, _HTML, status=status, policy=content_security_policy(site.theme_css))


def _redirect(location: str) -> Answer:
    return Answer(307, ((b"location", location.encode("latin-1")), (b"cache-control", b"no-cache")))


class Site:
    """What is answered below one site."""

    def __init__(self, context: Context, tx: Transaction, visit: SiteVisit, pages: ByteCache[Answer]) -> None:
        self._context = context
        self._tx = tx
        self._visit = visit
        self._pages = pages
        self._hosts = app_hosts(context.settings.url)

    def answer(self, query: str) -> Answer:
        space = find_space(self._tx, self._visit)
        if space is None:
            return self.not_found(None)
        rest = space.rest
        if rest.startswith("~files/"):
            return self._file(space, rest)
        if rest in {"~search.json", "~search"}:
            return self._search(space, query, as_json=rest.endswith("json"))
        if self._visit.rest == "robots.txt":
            return _answer(robots_text(self._url(""), self._visit.site.visibility == "public"), _TEXT)
        if self._visit.rest == "sitemap.xml" and self._visit.site.visibility == "public":
            return _answer(sitemap_xml(self._tx, self._visit, self._origin()), "application/xml")
        if self._visit.rest == "llms.txt":
            return _answer(llms_text(self._tx, self._visit, self._origin()), _TEXT)
        return self._page(space)

    def _origin(self) -> str:
        url = self._context.settings.sites_url.rstrip("/")
        if self._visit.site.hostname:
            return f"{url.partition('://')[0]}://{self._visit.site.hostname}"
        return url

    def _url(self, path: str) -> str:
        return f"{self._origin()}{self._visit.base}{quote(path)}"

    def _page(self, space: SpaceVisit) -> Answer:
        as_markdown = space.rest.endswith(".md")
        path = space.rest.removesuffix(".md")
        tree = space.view.tree
        page = tree.find(path)
        if page is None:
            return self.not_found(space)
        shown = tree.first_document(page)
        if shown is None:
            return self.not_found(space)
        builder = PageBuilder(self._tx, space, self._hosts)
        if as_markdown:
            return _answer(builder.markdown(shown), "text/markdown; charset=utf-8")
        wanted = tree.url_path(shown)
        if path != wanted:
            # One address for each page: other spellings lead to it.
            return _redirect(f"{space.base}{quote(wanted)}")
        kept = self._pages.get(builder.key(shown))
        if kept is None:
            canonical = f"{self._origin()}{space.base}{quote(wanted)}"
            view = msgspec.structs.replace(builder.page(shown), canonical=canonical)
            site = site_view(self._tx, space)
            kept = _html(site, draw_page(site, view))
            if not shown.computed:
                self._pages.put(builder.key(shown), kept, len(kept.body))
        return kept

    def _search(self, space: SpaceVisit, query: str, *, as_json: bool) -> Answer:
        wanted = parse_qs(query, max_num_fields=20).get("q", [""])[0][:_QUERY_MAX].replace("\0", "")
        found = search_site(self._tx, self._visit, wanted)
        if as_json:
            return _answer(msgspec.json.encode(found), "application/json")
        site = site_view(self._tx, space)
        return _html(site, draw_search(site, found, PageBuilder(self._tx, space, self._hosts).nav(None)))

    def _file(self, space: SpaceVisit, rest: str) -> Answer:
        # The id is looked up among the files of this very revision of this very space.
        item = space.view.item(rest.split("/")[1], "file") if rest.count("/") == 2 else None
        if item is None or not item.content:
            return self.not_found(space)
        grant = FileGrant(item.content, item.name, item.content_type or "application/octet-stream")
        public = self._visit.site.visibility == "public"
        return stream_file(self._context, grant, item.size, public=public)

    def not_found(self, space: SpaceVisit | None) -> Answer:
        if space is None:
            return plain_not_found()
        view = site_view(self._tx, space)
        message = MessageView(
            title=view.labels.not_found,
            text=view.labels.not_found_text,
            nav=PageBuilder(self._tx, space, self._hosts).nav(None),
        )
        return _html(view, draw_not_found(view, message), status=404)


def plain_not_found() -> Answer:
    return _answer("There is no published site at this address.\n", _TEXT, status=404)


def stream_file(context: Context, grant: FileGrant, size: int | None, *, public: bool = False) -> Answer:
    """A file's bytes, with headers that keep whatever is in it from acting."""
    found = size if size is not None else context.files.find_size(grant.hash)
    if found is None:
        return plain_not_found()
    headers = {
        **file_headers(grant, public=public),
        "ETag": f'"{grant.hash[:24]}"',
        "Content-Length": str(found),
        "Cross-Origin-Resource-Policy": "cross-origin",
    }
    raw = tuple((k.lower().encode(), v.encode("latin-1", "replace")) for k, v in headers.items())
    return Answer(200, raw, b"", lambda: context.files.open(grant.hash))


async def _answer_print(context: Context, pool: ThreadPoolExecutor, token: str) -> Answer:
    """The PDF of a link: as soon as it is made, or after a while the news that it is still being made."""
    loop = asyncio.get_running_loop()
    until = loop.time() + _PATIENCE
    while True:
        opened = await loop.run_in_executor(pool, open_print, context, token)
        if opened is None:
            return plain_not_found()
        if opened.file is not None:
            return stream_file(context, opened.file, opened.size)
        if opened.error is not None:
            return _answer(f"{opened.error}\n", _TEXT, status=422, cache="no-store")
        if loop.time() > until:
            waiting = _answer(
                "The PDF is being made. Ask again in a moment.\n", _TEXT, status=202, cache="no-store"
            )
            headers = ((b"retry-after", b"2"), (b"refresh", b"2"))
            return Answer(202, (*waiting.headers, *headers), waiting.body)
        await asyncio.sleep(_POLL)


def reader_app(context: Context) -> Litestar:
    """Published sites as an ASGI application."""
    answers: FreshCache[Answer] = FreshCache(context.db, _ANSWERS)
    pages: ByteCache[Answer] = ByteCache(_PAGES_BYTES)
    pool = ThreadPoolExecutor(context.settings.threads, thread_name_prefix="octavo-read")
    inline = context.db.engine == "sqlite"

    def make(host: str, path: str, query: str) -> Answer:
        if path.startswith(f"{ASSETS_PATH}/"):
            static = asset(path.removeprefix(f"{ASSETS_PATH}/"))
            return _answer(static.content, static.media_type, cache=_FOREVER) if static else plain_not_found()
        if path.startswith("/~files/"):
            grant = context.files.verify(FILE_PURPOSE, path.split("/")[2])
            return stream_file(context, grant, None) if grant else plain_not_found()
        if path == "/favicon.ico":
            return _answer(_MARK, "image/svg+xml", cache="public, max-age=86400")
        if path == "/healthz":
            return _answer("ok\n", _TEXT, cache="no-store")
        with context.db.read() as tx:
            visit = find_site(tx, host, path)
            if visit is None:
                return plain_not_found()
            if not path.startswith(visit.base):
                return _redirect(f"{visit.base}{quote(visit.rest)}")
            return Site(context, tx, visit, pages).answer(query)

    def answer(host: str, path: str, query: str) -> Answer:
        try:
            if path.startswith("/~files/"):
                return make(host, path, query)
            return answers.get((host, path, query), lambda: make(host, path, query))
        except Exception:
            reference = ids.new_id()
            log.exception("page failed", extra={"request_id": reference})
            return _answer(f"Something went wrong on our side. Reference: {reference}\n", _TEXT, status=500)

    async def endpoint(scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        if scope["method"] not in ("GET", "HEAD"):
            await _send(
                send, _answer("Only GET and HEAD are answered here.\n", _TEXT, status=405), headers, False
            )
            return
        host = headers.get(b"host", b"").decode("latin-1")
        path = scope["raw_path"].decode("latin-1") if scope.get("raw_path") else scope["path"]
        path = _decoded(path)
        query = scope["query_string"].decode("latin-1") if "~search" in (path or "") else ""
        if path is None:
            found = plain_not_found()
        elif path.startswith(PRINT_PATH):
            found = await _answer_print(context, pool, path.split("/")[2])
        elif inline:
            found = answer(host, path, query)
        else:
            found = await asyncio.get_running_loop().run_in_executor(pool, answer, host, path, query)
        await _send(send, found, headers, scope["method"] == "GET", pool)

    async def hand_over() -> ASGIApp:
        return endpoint  # type: ignore[return-value]

    methods: list[Any] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    route = HTTPRouteHandler(["/", "/{path:path}"], http_method=methods)(hand_over)
    return Litestar(
        route_handlers=[route],
        openapi_config=None,
        logging_config=None,
        on_shutdown=[lambda: pool.shutdown(wait=True)],
    )


def _decoded(path: str) -> str | None:
    """The path decoded once; None for one that would say something else when decoded again, or that climbs."""

    path = unquote(path.partition("?")[0])
    parts = path.split("/")
    if "\0" in path or "\\" in path or ".." in parts or "." in parts or "//" in path:
        return None
    return path


async def _send(
    send: Send,
    answer: Answer,
    request: dict[bytes, bytes],
    with_body: bool,
    pool: ThreadPoolExecutor | None = None,
) -> None:
    headers = list(answer.headers)
    etag = next((value for name, value in headers if name == b"etag"), None)
    if etag and answer.status == 200 and etag in request.get(b"if-none-match", b""):
        kept = [h for h in headers if h[0] not in (b"content-length", b"content-type")]
        await send({"type": "http.response.start", "status": 304, "headers": kept})
        await send({"type": "http.response.body", "body": b""})
        return
    if answer.stream is None:
        headers.append((b"content-length", str(len(answer.body)).encode()))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    if answer.stream is None or not with_body:
        await send({"type": "http.response.body", "body": answer.body if with_body else b""})
        return
    loop = asyncio.get_running_loop()
    chunks: Callable[[], Any] = answer.stream
    iterator = iter(chunks())
    while (chunk := await loop.run_in_executor(pool, next, iterator, None)) is not None:
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
    await send({"type": "http.response.body", "body": b""})
