"""ASGI 3: requests from the ASGI server, and responses to it. No other module depends on this protocol.

The server parses HTTP, and limits connections and the size of request heads. This module enforces all other limits:
the host, the framing headers, the rate and number of chunks of a body, and the time that a client takes to read a
streamed response.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any

from octavo.errors import BadRequest, RequestTimeout

log = logging.getLogger("octavo.serving")

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

_BODY_GRACE = 10.0
_RESPONSE_GRACE = 30.0
"""Number of seconds by which a client can fall behind the minimum rate, while it sends a request body or reads a
response."""
_LINGER = 5.0
"""Number of seconds for which the rest of a body is read and discarded after an early response. If a connection is
closed with unread bytes, it is reset, and the client loses the response."""
_FREE_PIECES = 4096
_PIECE = 64
"""Number of bytes of a body for which one more chunk is allowed, in addition to a fixed number of chunks. Chunks are
limited because each of them uses a turn of the event loop."""
_HOST = re.compile(rb"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{0,5})?")


class Disconnected(Exception):
    """Raised if the client disconnected before its request was complete."""


class Exchange:
    """Request and its response.

    ``path`` and ``query``: the path and query exactly as sent. ``headers``: the headers with lowercase names.
    ``peer``: the IP address of the other end. The response is sent whole (``send``) or in chunks
    (``begin``, ``write``, ``end``). After the client has disconnected, nothing is sent and no error is
    raised.
    """

    __slots__ = (
        "_application",
        "_left",
        "_more",
        "_patience",
        "_pieces",
        "_receive",
        "_send",
        "_size",
        "begun",
        "headers",
        "method",
        "path",
        "peer",
        "query",
        "version",
    )

    def __init__(
        self, application: Application, scope: MutableMapping[str, Any], receive: Receive, send: Send
    ) -> None:
        self.method: str = scope["method"]
        self.path: bytes = scope["raw_path"]
        self.query: bytes = scope["query_string"]
        self.headers: Headers = scope["headers"]
        self.version: str = scope["http_version"]
        client = scope["client"]
        self.peer = str(client[0]) if client else ""
        self.begun = False
        self._application = application
        self._receive = receive
        self._send = send
        self._more = True
        self._size = self._pieces = 0
        self._patience = _BODY_GRACE
        self._left: int | None = None

    # --- the request ------------------------------------------------------------------------------------

    def check(self) -> None:
        """Raise BadRequest if a proxy in front of the server may have interpreted the request differently."""
        if self.path[:1] != b"/" or not self.path.isascii() or not self.query.isascii():
            raise BadRequest("The request target must be an absolute path in ASCII.")
        hosts, framing = [], []
        for name, value in self.headers:
            if name == b"host":
                hosts.append(value)
            elif name in (b"transfer-encoding", b"content-length"):
                framing.append((name, value.strip().lower()))
        if len(hosts) != 1 or not _HOST.fullmatch(hosts[0]):
            if self.version not in ("1", "1.0") or any(hosts):
                raise BadRequest("Host: must be sent exactly once, as a hostname with an optional port")
        if len(framing) > 1 or any(
            name == b"transfer-encoding" and value != b"chunked" for name, value in framing
        ):
            raise BadRequest(
                "The request must have exactly one Content-Length header, or use `Transfer-Encoding:"
                " chunked`."
            )

    async def read(self) -> tuple[bytes, bool]:
        """Return the next bytes of the body, and whether there are more. Raises Disconnected if the client
        disconnects, RequestTimeout if the body arrives too slowly, and BadRequest if the body arrives in too many
        small chunks."""
        began = time.monotonic()
        try:
            async with asyncio.timeout(self._patience):
                message = await self._receive()
        except TimeoutError:
            raise RequestTimeout("body: arrived too slowly. Check the connection, and try again.") from None
        if message["type"] != "http.request":
            self._more = False
            raise Disconnected
        body: bytes = message.get("body", b"")
        self._more = message.get("more_body", False)
        earned = len(body) / self._application.least_rate
        self._patience = min(self._patience - (time.monotonic() - began) + earned, _BODY_GRACE)
        self._size += len(body)
        self._pieces += 1
        if self._pieces > _FREE_PIECES + self._size // _PIECE:
            raise BadRequest("body: arrived in too many small chunks. Send larger chunks.")
        return body, self._more

    async def gone(self) -> None:
        """Wait until the client has disconnected."""
        while (await self._receive())["type"] == "http.request":
            pass

    # --- the response -----------------------------------------------------------------------------------

    async def send(self, status: int, headers: Headers, body: bytes, close: bool = False) -> None:
        """Send a whole response. ``close``: whether to close the connection afterward, even if the client is still
        sending."""
        await self._start(status, headers, close)
        await self._send({"type": "http.response.body", "body": body})
        if close and self._more:
            with suppress(TimeoutError):
                async with asyncio.timeout(_LINGER):
                    await self.gone()

    async def begin(self, status: int, headers: Headers, size: int | None) -> None:
        """Start a response whose body follows in chunks, either with a declared number of bytes or until ``end`` is
        called."""
        self._left = size
        await self._start(status, headers, close=False)

    async def write(self, piece: bytes) -> None:
        """Send a chunk of the body. Raises RuntimeError if there are more bytes than declared, and Disconnected if
        the client doesn't read the bytes in time."""
        if self._left is not None:
            self._left -= len(piece)
            if self._left < 0:
                raise RuntimeError("more bytes were sent than declared")
        try:
            async with asyncio.timeout(_RESPONSE_GRACE + len(piece) / self._application.least_rate):
                await self._send({"type": "http.response.body", "body": piece, "more_body": True})
        except TimeoutError:
            raise Disconnected from None

    async def end(self) -> None:
        """Finish the body. Raises RuntimeError if there were fewer bytes than declared. Servers don't check this, and
        the client would treat the next response as the rest of this response."""
        if self._left:
            raise RuntimeError("fewer bytes were sent than declared")
        await self._send({"type": "http.response.body", "body": b""})

    async def _start(self, status: int, headers: Headers, close: bool) -> None:
        self.begun = True
        if (close or self._application.leaving) and self.version != "2":
            headers = [*headers, (b"connection", b"close")]
        await self._send({"type": "http.response.start", "status": status, "headers": headers})


async def _nothing() -> None:
    """Do nothing when an application starts or stops."""


class Application:
    """ASGI application that passes each request to ``handle``.

    ``least_rate``: the minimum rate in bytes per second of bodies and streamed responses. ``start`` and
    ``stop``: run with the server if it supports the lifespan protocol.
    """

    def __init__(
        self,
        handle: Callable[[Exchange], Awaitable[None]],
        *,
        least_rate: int = 1024,
        start: Callable[[], Awaitable[None]] = _nothing,
        stop: Callable[[], Awaitable[None]] = _nothing,
    ) -> None:
        self.least_rate = least_rate
        self.leaving = False
        """Whether connections close after their pending response because another process is taking over."""
        self.open: set[asyncio.Task[Any]] = set()
        """Requests that are currently being answered."""
        self._handle = handle
        self._start = start
        self._stop = stop

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._answer(Exchange(self, scope, receive, send))
        elif scope["type"] == "lifespan":
            await self._live(receive, send)
        else:
            await send({"type": "websocket.close"})

    async def _answer(self, exchange: Exchange) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.open.add(task)
        try:
            await self._handle(exchange)
        except Disconnected:
            pass  # A response without an end makes the server close the connection.
        except Exception:
            log.exception("request failed")
            if not exchange.begun:
                said = b"Internal Server Error"
                size = (b"content-length", b"%d" % len(said))
                await exchange.send(500, [(b"content-type", b"text/plain"), size], said, close=True)
        finally:
            self.open.discard(task)

    async def _live(self, receive: Receive, send: Send) -> None:
        for phase, run in (("startup", self._start), ("shutdown", self._stop)):
            await receive()
            try:
                await run()
            except Exception as error:
                log.exception("%s failed", phase)
                await send({"type": f"lifespan.{phase}.failed", "message": str(error)})
                return
            await send({"type": f"lifespan.{phase}.complete"})
