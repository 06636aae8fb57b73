"""The dispatcher: from an ASGI request to an operation of the table and back.

Every request walks the same way: authenticate, rate limit, enter (the permission check), validate query and
body, run the handler, encode. Where it runs (event loop or thread) is decided here and known nowhere else.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import random
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from litestar import Litestar, Request, Response
from litestar.handlers import HTTPRouteHandler
from litestar.types import ASGIApp

from ..errors import BadRequest, MethodNotAllowed, NotFound, OctavoError, TooLarge, TooManyRequests
from ..settings import parse_networks
from .context import Context
from .db import RetryTransaction
from .metrics import Metrics
from .operation import PUBLIC, Call, Deletion, Operation, RawBody, Reply, Stream
from .proxies import client_address

log = logging.getLogger("octavo.http")

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

JSON = b"application/json"
MAX_QUERY = 16 * 1024
"""Bytes of a query string."""
MAX_PARAMETERS = 100
"""Parameters in a query string, those that come several times counted each time."""
MAX_ANSWER = 64 * 1024 * 1024
"""Bytes of an answer, which is made as a whole. Streams, such as exports, have no such limit."""
_RETRIES = 5
_ENCODER = msgspec.json.Encoder()
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
_REQUEST_ID = re.compile(rb"[\w.-]{1,64}")
_SECURITY = [
    (b"x-content-type-options", b"nosniff"),
    (b"access-control-allow-origin", b"*"),
    (
        b"access-control-expose-headers",
        b"Location, ETag, X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining",
    ),
    (b"vary", b"Authorization"),
]
_PREFLIGHT = [
    (b"access-control-allow-methods", b"GET, POST, PUT, PATCH, DELETE"),
    (b"access-control-allow-headers", b"Authorization, Content-Type, If-None-Match, X-Request-Id"),
    (b"access-control-max-age", b"86400"),
]


class Answer(msgspec.Struct):
    """An encoded answer, ready for the wire."""

    status: int
    body: bytes
    headers: list[tuple[bytes, bytes]]
    stream: Any = None


def error_body(status: int, message: str) -> bytes:
    return _ENCODER.encode({"error": {"code": status, "message": message}})


_WHERE = re.compile(r"^(.*?)(?: - at `\$(.*?)`)?$", re.S)


def validation_message(error: msgspec.ValidationError, place: str) -> str:
    """ "title: expected `str`, got `int`" from msgspec's message; ``place`` names the whole when no field is."""
    match = _WHERE.match(str(error))
    assert match is not None
    what, where = match[1], (match[2] or "").lstrip(".")
    if missing := re.match(r"Object missing required field `(.*)`", what):
        where = f"{where}.{missing[1]}".lstrip(".")
        what = "this field is required"
    return f"{where or place}: {what[0].lower()}{what[1:]}"


class RateLimiter:
    """Fixed windows of one minute per key, in this process."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._window = 0
        self._counts: dict[str, int] = {}

    def count(self, key: str) -> tuple[int, int]:
        """Counts one request; (remaining, reset as epoch seconds). Negative: over the limit."""
        window = int(time.time()) // 60
        if window != self._window:
            self._window, self._counts = window, {}
        used = self._counts.get(key, 0) + 1
        self._counts[key] = used
        return self.limit - used, (window + 1) * 60


class Dispatcher:
    """Answers the operations of a table.

    ``authenticate(call)`` sets ``call.authenticated`` and returns the key the rate limit counts by, or None for nobody.
    """

    def __init__(
        self,
        context: Context,
        authenticate: Callable[[Call], str | None],
        *,
        metrics: Metrics | None = None,
    ) -> None:
        self.context = context
        self._authenticate = authenticate
        self._limiter = RateLimiter(context.settings.rate_limit)
        self._proxies = parse_networks(context.settings.trusted_proxies)
        self._inline_reads = context.db.engine == "sqlite"
        self._pool = ThreadPoolExecutor(context.settings.threads, thread_name_prefix="octavo-call")
        self._metrics = metrics or Metrics()
        self._decoders: dict[str, msgspec.json.Decoder[Any]] = {}

    def close(self) -> None:
        self._pool.shutdown(wait=True)

    # --- the way of one request, in a thread or on the loop -------------------------------------------

    def run(self, call: Call) -> Answer:
        """Answers a call; every outcome, expected or not, becomes an Answer."""
        operation = call.operation
        try:
            for attempt in range(_RETRIES):
                try:
                    if operation.method == "GET":
                        with self.context.db.read():
                            return self._answer(call)
                    return self._answer(call)
                except RetryTransaction:
                    if attempt == _RETRIES - 1:
                        raise
                    time.sleep(random.uniform(0.005, 0.05) * (attempt + 1))  # noqa: S311
        except OctavoError as error:
            return self.refuse(error, call.response_headers)
        except Exception:
            log.exception("request failed", extra={"request_id": call.request_id, "operation": operation.id})
        return self.refuse(
            OctavoError(f"Something went wrong on our side. Reference: {call.request_id}"),
            call.response_headers,
        )

    def _answer(self, call: Call) -> Answer:
        operation = call.operation
        key = self._authenticate(call)
        remaining, reset = self._limiter.count(key or call.client)
        call.response_headers.update(
            {
                "x-ratelimit-limit": str(self._limiter.limit),
                "x-ratelimit-remaining": str(max(remaining, 0)),
                "x-ratelimit-reset": str(reset),
            }
        )
        if remaining < 0:
            raise TooManyRequests(
                "Too many requests. Try again after the time in X-RateLimit-Reset.",
                **{"retry-after": str(max(1, reset - int(time.time())))},
            )
        given = call.path_parameters
        for value in given.values():
            if "\0" in value:
                raise NotFound("There is nothing at this address.")
        arguments: dict[str, Any] = {name: given[param] for name, param in operation.path_parameters.items()}
        if operation.needs is not PUBLIC:
            enter = operation.enter
            assert enter is not None and operation.proof is not None
            arguments[operation.proof] = enter.fn(
                call, operation.needs, *[given[p] for p in enter.parameters]
            )
        if operation.query is not None:
            arguments["query"] = self._query(call)
        if operation.body is not None:
            arguments["body"] = self._body(call)
        return self._present(call, operation.handler(call, **arguments))

    def _query(self, call: Call) -> Any:
        operation = call.operation
        values: dict[str, Any] = {}
        if call.query_string:
            if len(call.query_string) > MAX_QUERY:
                raise BadRequest(f"query: longer than {MAX_QUERY} bytes")
            if call.query_string.count(b"&") >= MAX_PARAMETERS:
                raise BadRequest(f"query: more than {MAX_PARAMETERS} parameters")
            try:
                pairs = parse_qsl(call.query_string.decode(), keep_blank_values=True)
            except ValueError:
                raise BadRequest("query: expected UTF-8 text of name=value pairs") from None
            for name, value in pairs:
                if "\0" in value:
                    raise BadRequest(f"{name}: NUL characters are not allowed")
                if name in operation.query_lists:
                    values.setdefault(name, []).append(value)
                else:
                    values[name] = value
        try:
            return msgspec.convert(values, operation.query, strict=False)
        except msgspec.ValidationError as error:
            raise BadRequest(validation_message(error, "query")) from None

    def _body(self, call: Call) -> Any:
        operation = call.operation
        if operation.body is RawBody:
            content_type = call.headers.get(b"content-type", b"").decode("latin-1")
            return RawBody(call.body, content_type.partition(";")[0].strip().lower())
        if not call.body:
            if operation.body_optional:
                return None
            raise BadRequest("body: expected a JSON object, got nothing")
        decoder = self._decoders.get(operation.id)
        if decoder is None:
            decoder = self._decoders.setdefault(operation.id, msgspec.json.Decoder(operation.body))
        try:
            value = decoder.decode(call.body)
        except msgspec.ValidationError as error:
            raise BadRequest(validation_message(error, "body")) from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise BadRequest(f"body: not valid JSON: {error}") from None
        except RecursionError:
            raise BadRequest("body: nested too deeply") from None
        if b"\\u0000" in call.body and _NUL.search(call.body):
            raise BadRequest("body: NUL characters are not allowed")
        return value

    def _present(self, call: Call, value: Any) -> Answer:
        operation = call.operation
        status, headers = operation.status, call.response_headers
        if operation.returns is Deletion and isinstance(value, bool):
            return Answer(205 if value else 204, b"", _encode_headers(headers))
        if isinstance(value, Stream):
            headers = {**headers, **value.headers, "content-type": value.content_type}
            return Answer(value.status, b"", _encode_headers(headers), value.chunks)
        if isinstance(value, Reply):
            status, headers, value = value.status, {**headers, **value.headers}, value.value
        if value is None or isinstance(value, bytes):
            return Answer(status, value or b"", _encode_headers(headers))
        body = _ENCODER.encode(value)
        if len(body) > MAX_ANSWER:
            raise TooLarge(
                f"The answer would be larger than {MAX_ANSWER} bytes: ask for less, a part at a time."
            )
        if status == 201 and "location" not in headers:
            location = getattr(getattr(value, "urls", None), "location", None)
            if isinstance(location, str):
                headers["location"] = location
        if operation.method == "GET" and status == 200:
            etag = f'"{hashlib.blake2b(body, digest_size=12).hexdigest()}"'
            headers["etag"] = etag
            headers["cache-control"] = "private, no-cache"
            if (seen := call.headers.get(b"if-none-match")) and _matches(seen.decode("latin-1"), etag):
                return Answer(304, b"", _encode_headers(headers))
        headers["content-type"] = "application/json"
        return Answer(status, body, _encode_headers(headers))

    @staticmethod
    def refuse(error: OctavoError, headers: dict[str, str]) -> Answer:
        given = {**headers, **error.headers, "content-type": "application/json"}
        if error.status == 401:
            given["www-authenticate"] = "Bearer"
        return Answer(error.status, error_body(error.status, error.message), _encode_headers(given))

    # --- ASGI -----------------------------------------------------------------------------------------

    def endpoint(self, operations: Sequence[Operation]) -> Callable[[Scope, Receive, Send], Awaitable[None]]:
        """The ASGI application of one path: its operations by method."""
        by_method = {operation.method: operation for operation in operations}
        if "GET" in by_method:
            by_method["HEAD"] = by_method["GET"]  # type: ignore[index]
        allowed = ", ".join(sorted(by_method))
        meters = {operation.id: self._metrics.meter(operation.id) for operation in operations}

        async def endpoint(scope: Scope, receive: Receive, send: Send) -> None:
            started = time.perf_counter()
            headers = dict(scope["headers"])
            request_id = _request_id(headers)
            operation = by_method.get(scope["method"])
            if operation is None:
                if scope["method"] == "OPTIONS":
                    await _send(
                        send, Answer(204, b"", [*_PREFLIGHT, (b"allow", allowed.encode())]), request_id
                    )
                    return
                error = MethodNotAllowed(
                    f"{scope['method']} is not possible here. Allowed: {allowed}", allow=allowed
                )
                await _send(send, self.refuse(error, {}), request_id)
                return
            try:
                body = await _read_body(receive, headers, operation.body_limit) if _has_body(headers) else b""
            except OctavoError as error:
                await _send(send, self.refuse(error, {"connection": "close"}), request_id)
                return
            client = scope.get("client")
            call = Call(
                context=self.context,
                operation=operation,
                path_parameters={k: v.lstrip("/") for k, v in scope["path_params"].items()},
                query_string=scope["query_string"],
                headers=headers,
                body=body,
                client=self._client_of(client[0] if client else "", headers),
                request_id=request_id,
            )
            if operation.inline and self._inline_reads:
                answer = self.run(call)
            else:
                answer = await asyncio.get_running_loop().run_in_executor(self._pool, self.run, call)
            if scope["method"] == "HEAD":
                answer.body, answer.stream = b"", None
            if answer.stream is not None:
                await self._send_stream(send, answer, request_id)
            else:
                await _send(send, answer, request_id)
            meters[operation.id].count(answer.status, time.perf_counter() - started)

        return endpoint

    def _client_of(self, peer: str, headers: dict[bytes, bytes]) -> str:
        if not self._proxies or b"x-forwarded-for" not in headers:
            return peer
        return client_address(peer, headers[b"x-forwarded-for"].decode("latin-1"), self._proxies)

    async def _send_stream(self, send: Send, answer: Answer, request_id: str) -> None:
        loop = asyncio.get_running_loop()
        await send(
            {
                "type": "http.response.start",
                "status": answer.status,
                "headers": [*answer.headers, *_SECURITY, (b"x-request-id", request_id.encode())],
            }
        )
        chunks = iter(answer.stream)
        try:
            while (chunk := await loop.run_in_executor(self._pool, next, chunks, None)) is not None:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        finally:
            if hasattr(chunks, "close"):
                await loop.run_in_executor(self._pool, chunks.close)
        await send({"type": "http.response.body", "body": b""})


def _matches(seen: str, etag: str) -> bool:
    return seen.strip() == "*" or etag in [part.strip().removeprefix("W/") for part in seen.split(",")]


def _encode_headers(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in headers.items()]


def new_request_id() -> str:
    return secrets.token_hex(10)


def _request_id(headers: dict[bytes, bytes]) -> str:
    given = headers.get(b"x-request-id")
    return given.decode() if given and _REQUEST_ID.fullmatch(given) else new_request_id()


def _has_body(headers: dict[bytes, bytes]) -> bool:
    return headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers


async def _read_body(receive: Receive, headers: dict[bytes, bytes], limit: int) -> bytes:
    too_large = TooLarge(f"body: larger than the {limit} bytes this operation takes")
    length = headers.get(b"content-length", b"")
    if length.isdigit() and int(length) > limit:
        raise too_large
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise BadRequest("body: the connection ended before it was complete")
        part = message.get("body", b"")
        size += len(part)
        if size > limit:
            raise too_large
        parts.append(part)
        if not message.get("more_body"):
            return parts[0] if len(parts) == 1 else b"".join(parts)


async def _send(send: Send, answer: Answer, request_id: str) -> None:
    headers = [*answer.headers, *_SECURITY, (b"x-request-id", request_id.encode())]
    if answer.status != 204:
        headers.append((b"content-length", str(len(answer.body)).encode()))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})


async def send_answer(send: Send, status: int, body: bytes, headers: list[tuple[bytes, bytes]]) -> None:
    """Sends a plain answer, with the headers every answer has."""
    await _send(send, Answer(status, body, headers), new_request_id())


_PARAMETER = re.compile(r"\{(\w+)\}")


def litestar_path(path: str) -> str:
    """``/v1`` path template of Litestar; ``pagePath`` takes the rest of the path, slashes included."""
    return _PARAMETER.sub(lambda m: f"{{{m[1]}:{'path' if m[1] == 'pagePath' else 'str'}}}", path)


Endpoint = Callable[[Scope, Receive, Send], Awaitable[None]]


_METHODS: list[Any] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


def _route(path: str, endpoint: Endpoint) -> HTTPRouteHandler:
    """A route that hands the request over as it came: the endpoint tells methods apart itself."""

    async def hand_over() -> ASGIApp:
        return endpoint  # type: ignore[return-value]

    return HTTPRouteHandler(path, http_method=_METHODS)(hand_over)


def build_app(
    dispatcher: Dispatcher,
    operations: Iterable[Operation],
    extra: dict[str, Endpoint],
    on_shutdown: Sequence[Callable[[], None]] = (),
) -> Litestar:
    """The Litestar application of the table; ``extra`` are plain ASGI endpoints by path."""
    by_path: dict[str, list[Operation]] = {}
    for operation in operations:
        by_path.setdefault(operation.path, []).append(operation)
    routes = {
        f"/v1{litestar_path(path)}".rstrip("/"): dispatcher.endpoint(ops) for path, ops in by_path.items()
    }
    handlers = [_route(path, endpoint) for path, endpoint in {**routes, **extra}.items()]
    return Litestar(
        route_handlers=handlers,
        openapi_config=None,
        on_shutdown=list(on_shutdown),
        logging_config=None,
        exception_handlers={Exception: _refuse_outside},
    )


def _refuse_outside(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    """What the router refuses (an unknown path, a bad Host), in our envelope."""
    status = getattr(error, "status_code", 500)
    if status >= 500:
        log.error("request failed outside an operation", exc_info=error)
        message = "Something went wrong on our side."
    else:
        message = (
            "There is nothing at this address." if status == 404 else "The request could not be understood."
        )
    return Response(error_body(status, message), status_code=status, media_type="application/json")
