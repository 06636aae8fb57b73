"""Asking an application of this process: by the protocol of its sockets, without one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any

import httptools
import httpx

from .connection import Bounds, Connections, Port
from .edge import Edge

_BOUNDS = Bounds(
    connections=1,
    backlog=1,
    keep_alive_seconds=3600,
    header_seconds=3600,
    header_limit=1024 * 1024,
    least_rate=1,
)
_SENT_AT_ONCE = 256 * 1024
"""Bytes that arrive in one go, as from a network."""
_UNREAD = 64 * 1024
"""Bytes of an answer that wait to be read, before no more are taken."""


class CutOff(Exception):
    """The connection ended before the answer did."""


class Received:
    """An answer whose head has arrived. ``headers`` as they were sent; the body is what it is iterated for, which raises
    CutOff. To be read to its end, or closed."""

    def __init__(self, wire: _Wire) -> None:
        self._wire = wire
        self.status = wire.status
        self.headers = wire.headers

    async def __aiter__(self) -> AsyncIterator[bytes]:
        wire = self._wire
        while (piece := wire.take()) or not wire.is_complete:
            if piece:
                yield piece
            elif wire.is_lost:
                raise CutOff
            else:
                await wire.change()
        await self.close()

    async def read(self) -> bytes:
        """The whole body. Raises CutOff."""
        return b"".join([piece async for piece in self])

    async def close(self) -> None:
        """Ends the connection, and returns when whoever answered has ended, too."""
        await self._wire.end()


async def ask(
    edge: Edge,
    method: str,
    target: bytes,
    headers: Iterable[tuple[bytes, bytes]],
    body: bytes = b"",
    peer: str = "127.0.0.1",
) -> Received:
    """What an application answers to a request with these headers, of somebody at the address ``peer``. Raises CutOff."""
    lines = [b"%b %b HTTP/1.1\r\n" % (method.encode(), target)]
    for name, value in headers:
        if name.lower() == b"transfer-encoding":
            body = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body) if body else b"0\r\n\r\n"
        lines.append(b"%b: %b\r\n" % (name, value))
    wire = _Wire(edge, peer, method == "HEAD")
    wire.send(b"".join((*lines, b"\r\n", body)))
    try:
        while not wire.status:
            if wire.is_lost:
                raise CutOff
            await wire.change()
    except BaseException:
        wire.close()
        raise
    return Received(wire)


class Loopback(httpx.AsyncBaseTransport):
    """Requests of httpx to an application, of somebody at the address ``peer``."""

    def __init__(self, edge: Edge, peer: str = "127.0.0.1") -> None:
        self._edge = edge
        self._peer = peer

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        body = await request.aread()
        try:
            received = await ask(
                self._edge, request.method, request.url.raw_path, request.headers.raw, body, self._peer
            )
        except CutOff:
            raise _cut_off(request) from None
        return httpx.Response(received.status, headers=received.headers, stream=_Body(received, request))


class _Body(httpx.AsyncByteStream):
    def __init__(self, received: Received, request: httpx.Request) -> None:
        self._received = received
        self._request = request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._received:
                yield piece
        except CutOff:
            raise _cut_off(self._request) from None

    async def aclose(self) -> None:
        await self._received.close()


def _cut_off(request: httpx.Request) -> httpx.RemoteProtocolError:
    return httpx.RemoteProtocolError("the connection ended before the answer did", request=request)


class _Wire(asyncio.Transport):
    """The other end of a connection: what is written to it is read here. Lost when either side closes it."""

    def __init__(self, edge: Edge, peer: str, is_head: bool) -> None:
        super().__init__({"peername": (peer, 0)})
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self.is_complete = False
        self.is_lost = False
        self._is_head = is_head
        self._pieces: list[bytes] = []
        self._unread = 0
        self._unsent = memoryview(b"")
        self._reads = True
        self._closing = False
        self._change: asyncio.Future[None] | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._port = Port(edge.handle, Connections(_BOUNDS))
        self._connection = self._port.take_up()
        self._connection.connection_made(self)

    def send(self, data: bytes) -> None:
        """Sends bytes, as fast as they are taken."""
        self._unsent = memoryview(data)
        self._pump()

    def _pump(self) -> None:
        while self._unsent and self._reads and not self._closing:
            part, self._unsent = self._unsent[:_SENT_AT_ONCE], self._unsent[_SENT_AT_ONCE:]
            self._connection.data_received(bytes(part))

    def take(self) -> bytes:
        """What has arrived of the body."""
        if not self._pieces:
            return b""
        found, self._pieces = b"".join(self._pieces), []
        if self._unread > _UNREAD and not self.is_lost:
            self._connection.resume_writing()
        self._unread = 0
        return found

    async def change(self) -> None:
        """Returns when something else has arrived."""
        self._change = asyncio.get_running_loop().create_future()
        await self._change

    async def end(self) -> None:
        self.close()
        if self._port.tasks:
            await asyncio.wait(self._port.tasks)

    def _wake(self) -> None:
        change, self._change = self._change, None
        if change is not None and not change.done():
            change.set_result(None)

    # --- what a transport does --------------------------------------------------------------------------

    def write(self, data: bytes | bytearray | memoryview[Any]) -> None:
        if not self._closing:
            self._parser.feed_data(data)
            self._wake()

    def can_write_eof(self) -> bool:
        return False

    def is_closing(self) -> bool:
        return self._closing

    def close(self) -> None:
        if not self._closing:
            self._closing = True
            asyncio.get_running_loop().call_soon(self._lose)

    def abort(self) -> None:
        self.close()

    def _lose(self) -> None:
        self.is_lost = True
        self._connection.connection_lost(None)
        # They refer to this, which is to be forgotten at once.
        del self._parser, self._connection
        self._wake()

    def get_write_buffer_size(self) -> int:
        return self._unread

    def pause_reading(self) -> None:
        self._reads = False

    def resume_reading(self) -> None:
        self._reads = True
        if self._unsent:
            asyncio.get_running_loop().call_soon(self._pump)

    # --- what a parser tells ----------------------------------------------------------------------------

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status < 200:
            self.headers.clear()
            return
        self.status, self.is_complete = status, self._is_head

    def on_body(self, body: bytes) -> None:
        self._pieces.append(body)
        before, self._unread = self._unread, self._unread + len(body)
        if before <= _UNREAD < self._unread:
            self._connection.pause_writing()

    def on_message_complete(self) -> None:
        self.is_complete = self.is_complete or self.status != 0
