"""HTTP layer between the server and all code that answers requests (API, sites, uploads, and Octavo's own pages).

Handlers get a ``Request`` and return an ``Answer`` or raise an ``OctavoError``. This module converts the result to
HTTP: methods, limits, request IDs, conditional requests, ranges, compression, streaming, errors, metrics, and the
access log.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import logging
import random
import re
import time
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Generator,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

import msgspec
from msgspec import Struct

from octavo.errors import (
    BadRequest,
    MethodNotAllowed,
    NotFound,
    OctavoError,
    TemporarilyUnavailable,
    TooLarge,
    UriTooLong,
    format_size,
)
from octavo.kit.observability import logs, tracing
from octavo.kit.observability.slowness import note_request
from octavo.kit.scheduling.owners import Owner
from octavo.kit.scheduling.pending import PendingCall, run_in
from octavo.kit.scheduling.permits import compute
from octavo.kit.scheduling.rates import RateLimiter
from octavo.kit.scheduling.shares import SharedThreads
from octavo.settings import Network

from .asgi import Application, Disconnected, Exchange, Headers
from .compression import LARGE, SMALLEST, Compressor, choose_coding, is_text
from .metrics import Metrics, RequestMeter
from .proxies import address_key, client_address, is_within
from .routing import Routes, split_path

log = logging.getLogger("octavo.http")
access = logging.getLogger("octavo.access")

MAX_PARAMETERS = 100
"""Maximum number of parameters in a query string. A parameter counts each time it occurs."""
T = TypeVar("T")

QUEUE_SECONDS = 30.0
"""Maximum number of seconds that a request waits for a thread."""
_IDS = random.Random()  # noqa: S311
"""Generator of request IDs, which aren't secret."""
_REQUEST_ID = re.compile(rb"[\w.-]{1,64}")
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")
_ASCII = "".join(map(chr, range(0x80)))
_UNTRACED = frozenset({"healthz", "readyz", "metrics"})
"""Requests that aren't traced, because they are frequent and trivial."""
_SHOWN_PATH = 256
_NOT_IN_304 = frozenset({"content-type", "content-length", "content-disposition", "content-range"})
_CONDITIONS = (b"if-none-match", b"if-match")
_OF_THE_WHOLE = frozenset({*_CONDITIONS, b"content-length", b"content-type", b"transfer-encoding", b"prefer"})
"""Headers that don't apply to the individual parts of a request."""
_NO_HEADER = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


class Content(Struct, frozen=True):
    """Body that is read while it is being sent. ``open(start, end)`` returns the bytes from ``start`` to ``end``
    (exclusive) in chunks."""

    size: int
    open: Callable[[int, int | None], Iterator[bytes]]


class Answer(Struct, frozen=True):
    """Response before its wire format is determined.

    The body is one of the following. ``body``: bytes. ``stream``: chunks of unknown total size. ``content``: a
    file, of which clients can request a part. ``pushed``: chunks that are sent when events happen, without a thread
    that waits for them.

    ``etag``: the entity tag without quotes. ``again``: whether the same body is sent to many clients. If so, its
    compressed versions and its encoded headers (``heads``, by sender and coding) are cached. ``coded``: precompressed
    versions of the body by coding. ``cookies``: the values of Set-Cookie. ``threads``: the threads that wait for the
    chunks of the body, if that may take a long time. ``sent``: a function to call at the end of the response.
    """

    status: int = 200
    body: bytes = b""
    content_type: str = ""
    headers: Mapping[str, str] = {}
    etag: str = ""
    again: bool = False
    heads: dict[Hashable, Headers] = msgspec.field(default_factory=dict)
    coded: Mapping[str, bytes] = {}
    stream: Callable[[], Iterator[bytes]] | None = None
    content: Content | None = None
    pushed: Callable[[], AsyncGenerator[bytes, None]] | None = None
    cookies: tuple[str, ...] = ()
    threads: ThreadPoolExecutor | None = None
    sent: Callable[[], None] | None = None


def _header_value(text: str) -> bytes:
    """Return a header value in which non-ASCII letters, which occur in URLs and cookie paths, are percent-encoded."""
    return (text if text.isascii() else quote(text, safe=_ASCII)).encode("ascii")


def etag_of(body: bytes) -> str:
    return hashlib.blake2b(body, digest_size=12).hexdigest()


_ENCODER = msgspec.json.Encoder()


def accepts_page(headers: Mapping[bytes, bytes]) -> bool:
    """Return whether the caller prefers a page to JSON, as browsers do."""
    return b"text/html" in headers.get(b"accept", b"")


def json_error(error: OctavoError) -> Answer:
    """Return the error in the API's error format."""
    headers = dict(error.headers)
    if error.status == 401:
        headers["www-authenticate"] = "Bearer"
    described: dict[str, object] = {"code": error.status, "message": error.message, "reason": error.reason}
    if error.field is not None:
        described["field"] = error.field
    body = _ENCODER.encode({"error": described, **error.beside})
    return Answer(error.status, body, "application/json", headers)


def text_error(error: OctavoError) -> Answer:
    """Return the error as one line of plain text for people."""
    headers = {"cache-control": "no-store", **error.headers}
    return Answer(error.status, f"{error.message}\n".encode(), "text/plain; charset=utf-8", headers)


class Request:
    """HTTP request. The body isn't read until a handler requests it.

    ``path``: the pattern of the route. ``parameters``: its decoded values. ``segments``: the decoded path. ``method``:
    the method; GET for a HEAD request, with ``is_head`` set. ``name``: the name of the request in metrics and the
    access log, which handlers can change. ``shows_path``: whether the path can be logged because it doesn't contain a
    secret; None if unknown. ``span``: the request's span if it is traced. ``draw_error``: a function that presents
    errors, if they aren't in the usual format.
    """

    __slots__ = (
        "_exchange",
        "_more",
        "_owner",
        "_owner_of",
        "_parts",
        "_size",
        "client",
        "draw_error",
        "ends_with_slash",
        "headers",
        "id",
        "is_head",
        "method",
        "name",
        "parameters",
        "path",
        "query_string",
        "segments",
        "shows_path",
        "span",
    )

    def __init__(
        self,
        exchange: Exchange,
        headers: dict[bytes, bytes],
        client: str,
        owner_of: Callable[[Request], Owner] | None = None,
    ) -> None:
        self._exchange = exchange
        self._owner_of = owner_of
        self._owner: Owner | None = None
        self._parts: list[bytes] = []
        self._size = 0
        self._more = headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers
        self.method = exchange.method
        self.is_head = exchange.method == "HEAD"
        self.headers = headers
        self.client = client
        given = headers.get(b"x-request-id")
        self.id = given.decode() if given and _REQUEST_ID.fullmatch(given) else f"{_IDS.getrandbits(80):020x}"
        self.path = ""
        self.segments: list[str] = []
        self.ends_with_slash = False
        self.parameters: dict[str, str] = {}
        self.query_string = b""
        self.name = "unknown"
        self.shows_path: bool | None = None
        self.span: tracing.Span | None = None
        self.draw_error: Callable[[OctavoError], Answer] | None = None

    def part(self, parameters: dict[str, str], query_string: bytes) -> Request:
        """Return a read request that is part of this request. It has the same caller, but no body and no
        conditional headers."""
        headers = {name: value for name, value in self.headers.items() if name not in _OF_THE_WHOLE}
        made = Request(self._exchange, headers, self.client, self._owner_of)
        made.method, made.id = "GET", self.id
        made.parameters, made.query_string = parameters, query_string
        return made

    @property
    def owner(self) -> Owner:
        """Return the owner whose turn this request uses. The owner is determined when the request first waits, and
        doesn't change afterward."""
        if self._owner is None:
            self._owner = self._owner_of(self) if self._owner_of else ("", address_key(self.client))
        return self._owner

    @property
    def was_in_turn(self) -> bool:
        """Return whether the owner has been determined."""
        return self._owner is not None

    def header(self, name: bytes) -> str:
        return self.headers.get(name, b"").decode("latin-1")

    @property
    def has_more(self) -> bool:
        """Return whether part of the body hasn't been read yet."""
        return self._more

    async def _next(self) -> bytes:
        try:
            part, self._more = await self._exchange.read()
        except Disconnected:
            self._more = False
            raise BadRequest("body: the connection was closed before the whole body arrived") from None
        self._size += len(part)
        return part

    @property
    def announced(self) -> int:
        """Return the body size that the request head declares; 0 if it is unknown."""
        length = self.headers.get(b"content-length", b"")
        return int(length) if length.isdigit() and len(length) < 19 else 0

    async def fits(self, limit: int) -> bool:
        """Return whether the body has at most this many bytes. Bytes that this reads are kept for ``read``."""
        if self.announced > limit:
            return False
        while self._more and self._size <= limit:
            self._parts.append(await self._next())
        return self._size <= limit

    async def read(self, limit: int, limit_of: str = "this operation accepts") -> bytes:
        """Return the body. Raises TooLarge if it has more than ``limit`` bytes, and BadRequest if it is
        incomplete."""
        async for part in self.read_parts(limit, limit_of):
            self._parts.append(part)
        return self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)

    async def read_parts(self, limit: int, limit_of: str) -> Any:
        """Yield the body in chunks as they arrive. Raises the same errors as ``read``."""
        too_large = TooLarge(f"body: is too large; {limit_of} at most {format_size(limit)}")
        if max(self.announced, self._size) > limit:
            raise too_large
        while self._more:
            part = await self._next()
            if self._size > limit:
                raise too_large
            yield part


Handler = Callable[[Request], Answer] | Callable[[Request], Awaitable[Answer]]


async def in_turn(pool: SharedThreads, owner: Owner, function: Callable[..., T], *arguments: object) -> T:
    """Run a function in a thread of the pool when its owner's turn comes. Only a few of the threads compute at a
    time.

    Raises Busy if too many of the owner's requests are waiting, and TemporarilyUnavailable if no thread is free for
    ``QUEUE_SECONDS``. The time is limited so that callers get a response even if all threads are blocked for a long
    time.
    """
    span = tracing.current()
    if span is not None:
        function = span.in_turn(function)
    given_up = []
    work: PendingCall[T] = pool.submit(owner, compute, function, *arguments)
    timer = asyncio.get_running_loop().call_later(QUEUE_SECONDS, lambda: given_up.append(work.cancel()))
    try:
        return await work
    except asyncio.CancelledError:
        if not any(given_up):
            raise
        raise TemporarilyUnavailable(
            "The server is overloaded right now. Nothing was changed. Try again in a moment."
        ) from None
    finally:
        timer.cancel()


async def in_thread(pool: SharedThreads, owner: Owner, function: Callable[..., T], *arguments: object) -> T:
    """Run a function that computes little, such as one chunk of a stream, with no limit on how long it waits for a
    thread. Raises Busy if too many functions are waiting."""
    return await pool.submit(owner, function, *arguments)


class Action(NamedTuple):
    """Handler of a method. ``name``: the name in metrics. ``answer``: the function. A coroutine function runs on the
    event loop, and any other function runs in a thread. Functions that read, render, or compute must be ordinary
    functions. ``draw_error``: a function that presents errors, if they aren't in the usual format."""

    name: str
    answer: Handler
    draw_error: Callable[[OctavoError], Answer] | None = None


class Route(NamedTuple):
    """Handlers at a path (a pattern of ``routing.Routes``), by method. HEAD and OPTIONS are added
    automatically."""

    path: str
    actions: Mapping[str, Action]


def fixed(
    path: str,
    name: str,
    make: Callable[[], bytes],
    content_type: str,
    headers: Mapping[str, str] | None = None,
) -> Route:
    """Return a route that serves fixed bytes, which are computed once, in a thread."""
    made: list[Answer] = []

    async def answer(request: Request) -> Answer:
        if not made:
            body = await asyncio.get_running_loop().run_in_executor(None, make)
            found = {"cache-control": "no-cache", **(headers or {})}
            made.append(Answer(200, body, content_type, found, etag_of(body), again=True))
        return made[0]

    return Route(path, {"GET": Action(name, answer)})


class _Found(NamedTuple):
    path: str
    actions: Mapping[str, tuple[Action, bool]]
    """Handlers by method, each with whether it runs on the event loop."""
    allowed: str


class Edge:
    """Application that serves routes. ``application``: the application that an ASGI server runs.

    ``refuse``: a function that renders errors. ``headers``: the headers of every response. ``preflight``: the headers
    of responses to OPTIONS. ``query_limit``: the maximum size of a query string in bytes. ``limiter``: the limiter
    of requests by IP address, unless handlers count them in another way. ``pool``: the threads for functions that
    aren't coroutines. ``closing``: a function to call when the server stops. ``owner_of``: a function that returns
    the owner whose turn a request uses; by default, its IP address. ``tracers``: the networks of the callers whose
    traces are continued.
    """

    def __init__(
        self,
        routes: Iterable[Route],
        *,
        pool: SharedThreads,
        metrics: Metrics,
        compressor: Compressor,
        refuse: Callable[[OctavoError], Answer],
        headers: Mapping[str, str],
        owner_of: Callable[[Request], Owner] | None = None,
        preflight: Mapping[str, str] | None = None,
        proxies: Sequence[Network] = (),
        tracers: Sequence[Network] = (),
        query_limit: int,
        limiter: RateLimiter | None = None,
        closing: Sequence[Callable[[], None]] = (),
        least_rate: int = 1024,
    ) -> None:
        self.application = Application(self.handle, least_rate=least_rate)
        self._routes: Routes[_Found] = Routes()
        self._pool = pool
        self._owner_of = owner_of
        self._metrics = metrics
        self._compressor = compressor
        self._refuse = refuse
        self._headers = dict(headers)
        self._preflight = dict(preflight or {})
        self._proxies = list(proxies)
        self._tracers = list(tracers)
        self._query_limit = query_limit
        self._limiter = limiter
        self._closing = closing
        self._meters: dict[str, RequestMeter] = {}
        for route in routes:
            actions = dict(route.actions)
            if "GET" in actions:
                actions.setdefault("HEAD", actions["GET"])
            by_method = {m: (a, inspect.iscoroutinefunction(a.answer)) for m, a in actions.items()}
            self._routes.add(route.path, _Found(route.path, by_method, ", ".join(sorted(by_method))))

    def close(self) -> None:
        """Wait for running threads. No requests can be answered afterward."""
        self._pool.close()
        for close in self._closing:
            close()

    async def handle(self, exchange: Exchange) -> None:
        """Answer a request."""
        started = time.perf_counter()
        headers = _collect(exchange.headers)
        method = exchange.method
        request = Request(exchange, headers, self._client(exchange.peer, headers), self._owner_of)
        sent: Callable[[], None] | None = None
        logs.bind(request_id=request.id)
        try:
            answer = await self._answer(exchange, request, started)
            sent = answer.sent
            if answer.stream is not None and method != "HEAD":
                answer = await self._begin(request, answer, answer.stream)
            if answer.pushed is not None and method != "HEAD":
                answer = await _begin_pushing(answer, answer.pushed)
        except OctavoError as error:
            answer = (request.draw_error or self._refuse)(error)
        except Exception:
            log.exception("request failed", extra={"operation": request.name})
            answer = (request.draw_error or self._refuse)(internal_error(request.id))
        if request.span is not None and answer.pushed is not None:
            # Pushed responses may last for hours.
            self._end_span(request, request.span, method, answer.status)
            request.span = None
        status = 0
        try:
            status = await self._send(exchange, request, answer)
        finally:
            if sent is not None:
                sent()
            if request.span is not None:
                self._end_span(request, request.span, method, status)
        seconds = time.perf_counter() - started
        meter = self._meters.get(request.name)
        if meter is None:
            meter = self._meters[request.name] = self._metrics.meter(request.name)
        meter.count(status, seconds)
        if answer.pushed is None and answer.stream is None:
            note_request(request.name, method, status, seconds)
        if access.isEnabledFor(logging.INFO):
            self._write_access(request, method, status, seconds)

    async def _answer(self, exchange: Exchange, request: Request, started: float) -> Answer:
        segments = split_path(exchange.path)
        found = self._routes.find(segments) if segments is not None else None
        action = found[0].actions.get(request.method) if found is not None else None
        if action is not None:
            # Even a request that is rejected right here gets an error in the format of its operation.
            request.draw_error = action[0].draw_error
        exchange.check()
        if len(exchange.query) > self._query_limit:
            raise UriTooLong(f"query: must be at most {format_size(self._query_limit)}")
        if exchange.query.count(b"&") >= MAX_PARAMETERS:
            raise BadRequest(f"query: must have at most {MAX_PARAMETERS:,} parameters")
        if found is None or segments is None:
            raise NotFound("This URL doesn't exist. Check its path.")
        route, request.parameters = found
        request.path, request.segments = route.path, segments
        request.ends_with_slash = exchange.path.endswith(b"/")
        request.query_string = exchange.query
        if action is None:
            if request.method == "OPTIONS":
                return Answer(204, headers={**self._preflight, "allow": route.allowed})
            message = f"{request.method} isn't allowed for this URL. Use one of: {route.allowed}"
            raise MethodNotAllowed(message, allow=route.allowed)
        (request.name, answer, _), on_loop = action
        if tracing.is_enabled() and request.name not in _UNTRACED:
            self._begin_span(exchange.peer, request, started)
        if self._limiter is not None:
            self._limiter.check(address_key(request.client))
        if request.method == "HEAD":
            request.method = "GET"
        if on_loop:
            return await answer(request)  # type: ignore[misc,no-any-return]
        return await in_turn(self._pool, request.owner, answer, request)  # type: ignore[arg-type]

    def _begin_span(self, peer: str, request: Request, started: float) -> None:
        """Start the span of a request.

        Any caller of a public port can specify a trace. This trace then links to the caller's trace, so that people
        can find it. The caller's trace doesn't determine whether this trace is kept.
        """
        named = {
            name: request.headers[name.encode()].decode("latin-1")
            for name in ("traceparent", "tracestate")
            if name.encode() in request.headers
        }
        continues = bool(named and self._tracers) and is_within(peer, self._tracers)
        span = request.span = tracing.start(
            f"{request.method} {request.path}",
            "server",
            {
                "http.request.method": request.method,
                "http.route": request.path,
                "url.scheme": "http",
                "octavo.operation": request.name,
                "octavo.request.id": request.id,
            },
            parent=named if continues else None,
            causes=[] if continues else [named.get("traceparent")],
            began=started,
        )
        if span is not None:
            span.enter()
            logs.bind(request_id=request.id, trace_id=span.trace_id)

    @staticmethod
    def _end_span(request: Request, span: tracing.Span, method: str, status: int) -> None:
        """End a span. ``status``: the HTTP status; 0 if the response couldn't be sent."""
        if span.is_recorded:
            if request.path.endswith("*}"):
                # For paths on sites, the request has a more specific name.
                span.rename(f"{method} {request.name}")
                span.note("octavo.operation", request.name)
            if request.shows_path:
                span.note("url.path", "/" + "/".join(request.segments)[:_SHOWN_PATH])
            if status:
                span.note("http.response.status_code", status)
            if status >= 500 or not status:
                span.fail(str(status or "disconnected"))
            if request.was_in_turn and request.owner[0]:
                span.note("octavo.organization.id", request.owner[0])
        span.leave()
        span.end()

    async def _run(
        self,
        request: Request,
        threads: ThreadPoolExecutor | None,
        function: Callable[..., T],
        *arguments: object,
    ) -> T:
        """Run a function in ``threads`` if the response has its own threads, and otherwise in the shared pool when
        its owner's turn comes."""
        if threads is not None:
            return await run_in(threads, function, *arguments)
        return await in_thread(self._pool, request.owner, function, *arguments)

    async def _begin(
        self, request: Request, answer: Answer, open_stream: Callable[[], Iterator[bytes]]
    ) -> Answer:
        """Return the response with the first chunk of its stream. Errors raised before the first chunk can
        therefore still set the status."""
        threads = answer.threads
        pieces = iter(await self._run(request, threads, open_stream))
        first = await self._run(request, threads, next, pieces, None)

        def all_pieces() -> Iterator[bytes]:
            try:
                if first is not None:
                    yield first
                    yield from pieces
            finally:
                if isinstance(pieces, Generator):
                    pieces.close()

        return msgspec.structs.replace(answer, stream=all_pieces)

    def _client(self, peer: str, headers: dict[bytes, bytes]) -> str:
        forwarded = headers.get(b"x-forwarded-for", b"") if self._proxies else b""
        return client_address(peer, forwarded.decode("latin-1"), self._proxies)

    @staticmethod
    def _write_access(request: Request, method: str, status: int, seconds: float) -> None:
        # Paths may contain secrets (signed links, keys of share links): only paths of pages without secrets are logged.
        path = request.path
        if path.endswith("*}") and request.shows_path:
            path = "/" + "/".join(request.segments)
        access.info(
            "request",
            extra={
                "method": method,
                "path": path,
                "operation": request.name,
                "status": status,
                "milliseconds": round(seconds * 1000, 1),
                "client": request.client,
                "request_id": request.id,
            },
        )

    # --- sending --------------------------------------------------------------------------------------

    async def _send(self, exchange: Exchange, request: Request, answer: Answer) -> int:
        """Send the response in the requested format, and return the status that was sent."""
        head = request.is_head
        own = (b"x-request-id", request.id.encode())
        if answer.again and answer.status == 200:
            kept, body = self._find_sent(request, answer)
            if kept is not None:
                await exchange.send(200, [*kept, own], b"" if head else body)
                return 200
        status, body = answer.status, answer.body
        headers = {**self._headers, **answer.headers}
        if answer.content_type:
            headers["content-type"] = answer.content_type
        if answer.etag:
            headers["etag"] = f'"{answer.etag}"'
        # The rest of the body would have to be read to the end to reuse the connection.
        close = request.has_more and status >= 400
        content = answer.content
        start, end = 0, content.size if content is not None else 0
        if request.method == "GET" and status == 200 and answer.etag:
            status = check_conditions(request.headers, answer.etag)
        if status == 200 and content is not None:
            headers["accept-ranges"] = "bytes"
        if status == 200 and content is not None and not head:
            status, start, end = choose_range(request.headers, answer.etag, content.size)
            if status == 206:
                headers["content-range"] = f"bytes {start}-{end - 1}/{content.size}"
            elif status == 416:
                headers["content-range"] = f"bytes */{content.size}"
        compressible = _is_compressible(answer)
        coding = None
        if compressible:
            headers["vary"] = (
                f"{headers['vary']}, Accept-Encoding" if "vary" in headers else "Accept-Encoding"
            )
        if status == 304:
            headers = {name: value for name, value in headers.items() if name not in _NOT_IN_304}
            body, content = b"", None
        elif status in (412, 416) and status != answer.status:
            for name in _NOT_IN_304 - {"content-range"}:
                headers.pop(name, None)
            body, content = b"", None
        else:
            coding = _choose_coding(request, answer)
            if coding is not None:
                body = await self._compress(request, answer, coding)
                headers["content-encoding"] = coding
                if answer.etag:
                    # The bytes differ from those of the plain body, but the meaning is the same.
                    headers["etag"] = f'W/"{answer.etag}"'
        endless = answer.stream is not None or answer.pushed is not None
        headers.pop("content-length", None)
        if not endless and status not in (204, 304):
            headers["content-length"] = str(end - start if content is not None else len(body))
        lines = [(_line if name in _VARYING else _kept_line)(name, text) for name, text in headers.items()]
        lines += [_line("set-cookie", cookie) for cookie in answer.cookies]
        if head or (content is None and not endless):
            if answer.again and status == answer.status == 200:
                answer.heads[self, coding] = lines
            await exchange.send(status, [*lines, own], b"" if head else body, close)
            return status
        await exchange.begin(status, [*lines, own], None if endless else end - start)
        if content is not None:
            await self._stream(exchange, request, lambda: content.open(start, end))
        elif answer.stream is not None:
            await self._stream(exchange, request, answer.stream, answer.threads)
        elif answer.pushed is not None:
            await _push(exchange, answer.pushed())
        return status

    def _find_sent(self, request: Request, answer: Answer) -> tuple[Headers | None, bytes]:
        """Return the headers and body of a response if it was already sent in the requested format; None for the
        headers if it wasn't."""
        headers = request.headers
        if any(name in headers for name in _CONDITIONS):
            return None, b""
        coding = _choose_coding(request, answer)
        lines = answer.heads.get((self, coding))
        if lines is None or coding is None:
            return lines, answer.body
        body = answer.coded.get(coding) or self._compressor.find(answer.etag, coding)
        return (lines, body) if body is not None else (None, b"")

    async def _compress(self, request: Request, answer: Answer, coding: str) -> bytes:
        if coding in answer.coded:
            return answer.coded[coding]
        etag = answer.etag if answer.again else ""
        found = self._compressor.find(etag, coding) if etag else None
        if found is not None:
            return found
        if len(answer.body) < LARGE:
            return self._compressor.compress(answer.body, coding, etag)
        return await self._run(request, None, self._compressor.compress, answer.body, coding, etag)

    async def _stream(
        self,
        exchange: Exchange,
        request: Request,
        open_stream: Callable[[], Iterator[bytes]],
        threads: ThreadPoolExecutor | None = None,
    ) -> None:
        """Send chunks until the end or until the client disconnects. Threads read the chunks one by one.

        If an error occurs after the first chunk, the connection is closed without ending the response, so that
        clients don't treat the response as complete.
        """
        chunks = iter(await self._run(request, threads, open_stream))
        gone = asyncio.ensure_future(exchange.gone())
        try:
            while not gone.done():
                try:
                    chunk = await self._run(request, threads, next, chunks, None)
                except OctavoError as error:
                    log.info("stream ended: %s", error.message)
                    return
                if chunk is None:
                    await exchange.end()
                    return
                await exchange.write(chunk)
        finally:
            gone.cancel()
            close = getattr(chunks, "close", None)
            if close is not None:
                # When the server stops, a chunk may be unfinished; then everything ends with the process.
                with suppress(ValueError):
                    await self._run(request, threads or self._pool.threads, close)


async def _begin_pushing(answer: Answer, begin: Callable[[], AsyncGenerator[bytes, None]]) -> Answer:
    """Return the response with the first pushed chunk. Errors raised before the first chunk can therefore still set
    the status."""
    pieces = begin()
    first = await anext(pieces)

    async def all_pieces() -> AsyncGenerator[bytes, None]:
        try:
            yield first
            async for piece in pieces:
                yield piece
        finally:
            await pieces.aclose()

    return msgspec.structs.replace(answer, pushed=all_pieces)


async def _push(exchange: Exchange, pieces: AsyncGenerator[bytes, None]) -> None:
    """Send pushed chunks until the end or until the client disconnects."""
    own = asyncio.current_task()
    assert own is not None
    gone = asyncio.ensure_future(exchange.gone())
    gone.add_done_callback(lambda gone: None if gone.cancelled() else own.cancel())
    try:
        async for piece in pieces:
            await exchange.write(piece)
        gone.cancel()
        await exchange.end()
    except asyncio.CancelledError:
        if not gone.done() or own.uncancel():
            raise
    finally:
        gone.cancel()
        await pieces.aclose()


def _is_compressible(answer: Answer) -> bool:
    whole = answer.stream is None and answer.content is None and answer.pushed is None
    return whole and "content-encoding" not in answer.headers and is_text(answer.content_type)


def _choose_coding(request: Request, answer: Answer) -> str | None:
    """Return the compression of the body for this request; None if it isn't compressed."""
    accepted = request.headers.get(b"accept-encoding")
    if not accepted or len(answer.body) < SMALLEST or not _is_compressible(answer):
        return None
    return choose_coding(accepted.decode("latin-1"), kept=answer.again)


def _line(name: str, text: str) -> tuple[bytes, bytes]:
    """Return a header as it is sent. Raises ValueError if it contains a line break or another control character."""
    value = _header_value(text)
    if _NO_HEADER.search(value) or not _HEADER_NAME.fullmatch(name):
        raise ValueError("a header contains a line break or another control character")
    return name.encode(), value


_kept_line = lru_cache(maxsize=1024)(_line)
"""``_line`` with a cache, for headers that many responses have in common."""
_VARYING = frozenset({"content-length", "etag", "location", "set-cookie", "x-ratelimit-remaining"})
"""Headers whose values are usually different in each response."""


def internal_error(request_id: str) -> OctavoError:
    return OctavoError(
        f"Something went wrong on the server. Give this reference to the server administrator: {request_id}"
    )


def _collect(pairs: Iterable[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """Return header values by name, with the values of repeated headers joined as HTTP specifies."""
    found: dict[bytes, bytes] = {}
    for name, value in pairs:
        if name in found:
            value = found[name] + (b"; " if name == b"cookie" else b", ") + value
        found[name] = value
    return found


# --- conditions and ranges (RFC 9110, sections 13 and 14) -----------------------------------------------

_TAG = re.compile(r'\s*(W/)?"([\x21\x23-\x7e\x80-\xff]*)"\s*(?:,|$)')


def read_tags(header: str) -> list[tuple[bool, str]]:
    """Return the entity tags in a header, each with whether it is weak. Tags after an invalid tag are ignored.

    >>> read_tags('W/"a", "b,c"')
    [(True, 'a'), (False, 'b,c')]
    """
    found, at = [], 0
    while at < len(header) and (match := _TAG.match(header, at)) is not None:
        found.append((match[1] is not None, match[2]))
        at = match.end()
    return found


def check_conditions(headers: Mapping[bytes, bytes], etag: str) -> int:
    """Return 200, 304, or 412 for a GET of a resource with this entity tag."""
    wanted = headers.get(b"if-match")
    if wanted is not None and wanted.strip() != b"*":
        # Strong comparison: a weak tag never matches.
        if not any(tag == etag and not weak for weak, tag in read_tags(wanted.decode("latin-1"))):
            return 412
    known = headers.get(b"if-none-match")
    if known is not None:
        if known.strip() == b"*" or any(tag == etag for _, tag in read_tags(known.decode("latin-1"))):
            return 304
    return 200


def choose_range(headers: Mapping[bytes, bytes], etag: str, size: int) -> tuple[int, int, int]:
    """Return (status, start, end) for the part of a body to send: the whole body with 200, a part with 206, or
    nothing with 416.

    If a request asks for several ranges, the whole body is sent, which HTTP allows.
    """
    asked = headers.get(b"range")
    whole = (200, 0, size)
    if asked is None:
        return whole
    still = headers.get(b"if-range")
    if still is not None and read_tags(still.decode("latin-1")) != [(False, etag)]:
        return whole
    match = _RANGE.fullmatch(asked.decode("latin-1").strip())
    if match is None or not (match[1] or match[2]):
        return whole
    if not match[1]:
        start, end = max(0, size - int(match[2])), size
        return (206, start, end) if start < end else (416, 0, 0)
    start = int(match[1])
    last = int(match[2]) if match[2] else size - 1
    if match[2] and last < start:
        return whole
    return (206, start, min(last + 1, size)) if start < size else (416, 0, 0)
