"""HTTP/1.1 on connections: requests as they arrive, answers as they leave, each with bounds on how many there are, how
slow they may be and what they may send.

httptools, the parser of Node.js, reads what arrives. A greatest number of connections is kept, of which those without a
request give way to new ones; a head has a time to arrive in; its body has a least speed, and so has taking the answer.
"""

from __future__ import annotations

import asyncio
import http
import logging
import time
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any

import httptools
from msgspec import Struct

from .proxies import address_key

log = logging.getLogger("octavo.serving")

_BODY_GRACE = 10
_ANSWER_GRACE = 30
"""Seconds at the least speed that a body, or a client that takes an answer, may fall behind."""
_TAKEN_AT_RESUME = 48 * 1024
"""Bytes that have left when a paused transport goes on: from its high to its low mark."""
_BODY_WAITING = 64 * 1024
"""Bytes of a body that wait for whoever reads it, before no more are taken from the network."""
_COPIED = 256 * 1024
"""Bytes of a body up to which copying it behind its head costs less than a second call of the system."""
_LINGER = 5.0
"""Seconds for which what still arrives is taken, and left unread, behind the last answer."""
_CHOSEN = 64
"""Connections that are chosen in one go to give way to new ones."""
_ABOUT_TO_ASK = 2.0
"""Seconds for which who has connected, or begun a request, is waited for when all connections are closed. Clients do not
ask again when the first request of a connection fails."""
_PHRASES = {status.value: status.phrase for status in http.HTTPStatus}
_STATUS_LINES = {
    status: f"HTTP/1.1 {status} {_PHRASES.get(status, '')}\r\n".encode() for status in range(200, 600)
}


class Bounds(Struct, frozen=True):
    """What connections may do. Sizes in bytes, times in seconds; ``least_rate`` in bytes a second."""

    connections: int
    backlog: int
    keep_alive_seconds: int
    header_seconds: int
    header_limit: int
    least_rate: int


class Disconnected(Exception):
    """The connection ended before all of a request had arrived."""


class Connections:
    """The open connections of a process, on all its ports together. ``ended`` is told why one was ended here."""

    def __init__(self, bounds: Bounds, ended: Callable[[str], None] = lambda reason: None) -> None:
        self.bounds = bounds
        self.ended = ended
        self.open: set[Connection] = set()
        self.leaving = False
        self._waiting: dict[Connection, None] = {}
        """Those without a request, the longest first."""
        self._chosen: list[Connection] = []
        """Those that give way next, the last one first."""

    def wait(self, connection: Connection) -> None:
        """Notes that a connection has no request now."""
        self._waiting.pop(connection, None)
        self._waiting[connection] = None

    def work(self, connection: Connection) -> None:
        """Notes that a connection has sent the head of a request."""
        self._waiting.pop(connection, None)

    def add(self, connection: Connection) -> bool:
        """Takes a new connection up, if need be instead of one without a request; False when all have one."""
        if len(self.open) >= self.bounds.connections:
            chosen = self._choose()
            if chosen is None:
                return False
            self.ended("dropped")
            chosen.drop()
        self.open.add(connection)
        self.wait(connection)
        return True

    def _choose(self) -> Connection | None:
        """Which of those without a request gives way: the longest of whoever has the most of them, so that who opens
        many drops their own. Looking through all of them is done once for several."""
        while self._chosen:
            if (chosen := self._chosen.pop()) in self._waiting:
                return chosen
        groups: dict[str, list[Connection]] = {}
        for connection in self._waiting:
            groups.setdefault(address_key(connection.peer), []).append(connection)
        if not groups:
            return None
        largest, *others = sorted(groups.values(), key=len, reverse=True)
        more = len(largest) - (len(others[0]) if others else 0)
        equal = [group[0] for group in (largest, *others) if len(group) == len(largest)]
        self._chosen = (largest[:more] if more else equal)[:_CHOSEN][::-1]
        return self._chosen.pop()

    def remove(self, connection: Connection) -> None:
        self.open.discard(connection)
        self._waiting.pop(connection, None)

    def leave(self) -> None:
        """Has each connection end with the answer to the request that it has, or to its next one, which says so."""
        self.leaving = True
        for connection in self.open:
            connection.end_with_answer()

    def sweep(self, moment: float) -> None:
        """Closes what is too slow at a moment of the monotonic clock."""
        for connection in list(self.open):
            connection.check(moment)


class Exchange:
    """A request whose head has arrived, and its answer.

    ``path`` and ``query`` are as they were sent, ``headers`` with names in lower case; ``peer``: the address at the other
    end. The answer is sent whole (``send``) or in pieces (``begin``, ``write``, ``end``); when the client is gone, nothing
    of it is.
    """

    __slots__ = (
        "_body",
        "_change",
        "_connection",
        "_expects",
        "_gone",
        "_left",
        "_more",
        "_version",
        "begun",
        "complete",
        "headers",
        "keeps",
        "method",
        "path",
        "query",
    )

    def __init__(
        self,
        connection: Connection,
        method: str,
        target: bytes,
        headers: list[tuple[bytes, bytes]],
        version: str,
        keeps: bool,
    ) -> None:
        self._connection = connection
        self.method = method
        self.path, _, self.query = target.partition(b"?")
        self.headers = headers
        self.keeps = keeps
        """Whether the connection goes on after the answer."""
        self.complete = False
        """Whether the answer was sent."""
        self._version = version
        self._expects = False
        """Whether the client waits for a word before it sends the body."""
        self._body = b""
        self._more = True
        self._change: asyncio.Future[None] | None = None
        """What waits for the next thing to happen."""
        self._gone = False
        self.begun = False
        """Whether something of the answer was sent."""
        self._left: int | None = 0
        """Bytes of the answer that have yet to be sent, None where nobody knows."""

    @property
    def peer(self) -> str:
        return self._connection.peer

    # --- the request ------------------------------------------------------------------------------------

    async def read(self) -> tuple[bytes, bool]:
        """What has arrived of the body and was not read yet, and whether more is to come; waits for something. Raises
        Disconnected."""
        if self._expects and not self._gone:
            self._expects = False
            self._connection.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        while self._more and not self._body and not self._gone:
            self._connection.resume_reading()
            await self._next_change()
        if self._gone:
            raise Disconnected
        body, self._body = self._body, b""
        return body, self._more

    async def gone(self) -> None:
        """Returns when the client is, or when the answer was sent."""
        while not self._gone and not self.complete:
            await self._next_change()

    def expect(self) -> None:
        """The client waits to be told that its body is wanted."""
        self._expects = True

    def take(self, body: bytes) -> int:
        """Adds what has arrived of the body; how many bytes wait to be read."""
        self._body = self._body + body if self._body else body
        self._wake()
        return len(self._body)

    def take_end(self) -> None:
        """The body has arrived."""
        self._more = False
        self._wake()

    def lose(self) -> None:
        """The client is gone."""
        self._gone = True
        self._wake()

    async def _next_change(self) -> None:
        if self._change is None:
            self._change = asyncio.get_running_loop().create_future()
        await asyncio.shield(self._change)

    def _wake(self) -> None:
        change, self._change = self._change, None
        if change is not None and not change.done():
            change.set_result(None)

    # --- the answer -------------------------------------------------------------------------------------

    async def send(self, status: int, lines: bytes, body: bytes, close: bool = False) -> None:
        """A whole answer in one write. ``lines``: its headers as they are sent, each with the end of its line.
        ``close``: the connection ends with it."""
        if not await self._start(close):
            return
        head = self._head(status, lines)
        if len(body) <= _COPIED:
            self._connection.write(head + body)
        else:
            self._connection.write(head)
            self._connection.write(body)
        self._finish()

    async def begin(self, status: int, lines: bytes, size: int | None, close: bool = False) -> None:
        """The head of an answer whose body follows in pieces: so many bytes, or until ``end``."""
        if not await self._start(close):
            return
        self._left = size
        if size is None:
            if self._version == "1.0":
                self.keeps = False  # its end is that of the connection
            else:
                lines += b"transfer-encoding: chunked\r\n"
        self._connection.write(self._head(status, lines))

    async def write(self, piece: bytes) -> None:
        """Raises RuntimeError for more than was said."""
        if not piece or not await self._may_send():
            return
        if self._left is not None:
            self._left -= len(piece)
            if self._left < 0:
                raise RuntimeError("more is sent than was said")
        elif self._version != "1.0":
            piece = b"%x\r\n%b\r\n" % (len(piece), piece)
        self._connection.write(piece)

    async def end(self) -> None:
        """Raises RuntimeError for less than was said."""
        if not await self._may_send():
            return
        if self._left:
            raise RuntimeError("less was sent than was said")
        if self._left is None and self._version != "1.0":
            self._connection.write(b"0\r\n\r\n")
        self._finish()

    async def close_unfinished(self) -> None:
        """Ends what is not complete: nobody is going to answer."""
        if self._gone or self.complete:
            return
        if self.begun:
            self._connection.close()
        else:
            said = b"Internal Server Error"
            await self.send(
                500, b"content-type: text/plain\r\ncontent-length: %d\r\n" % len(said), said, close=True
            )

    async def _may_send(self) -> bool:
        if self._connection.writable is not None and not self._gone:
            await asyncio.shield(self._connection.writable)
        return not self._gone

    async def _start(self, close: bool) -> bool:
        """Whether the answer can begin. Raises RuntimeError where it has."""
        if not await self._may_send():
            return False
        if self.begun:
            raise RuntimeError("this was answered already")
        if close or (self._expects and self._more):
            # Whoever waited for a word may send the body yet, or leave it out: what follows could be either.
            self.keeps = False
        self.begun, self._expects = True, False
        return True

    def _head(self, status: int, lines: bytes) -> bytes:
        end = b"\r\n" if self.keeps else b"connection: close\r\n\r\n"
        return b"%b%b%b%b" % (_STATUS_LINES[status], self._connection.port.date, lines, end)

    def _finish(self) -> None:
        self.complete = True
        self._wake()
        self._connection.go_on(self)


class Port:
    """What connections come to: ``answer`` is asked for each exchange. ``date``: the line that says it in the answers."""

    def __init__(
        self, answer: Callable[[Exchange], Coroutine[Any, Any, None]], connections: Connections
    ) -> None:
        self.answer = answer
        self.connections = connections
        self.open: set[Connection] = set()
        self.tasks: set[asyncio.Task[None]] = set()
        self.date = b""

    def take_up(self) -> Connection:
        """The protocol of a new connection."""
        return Connection(self)


class Connection(asyncio.Protocol):
    """One connection. What moves, in or out, earns credit with each byte and loses it with time."""

    def __init__(self, port: Port) -> None:
        self.port = port
        self.peer = ""
        """Whose it is, as far as a connection tells: its address."""
        self.write: Callable[[bytes], object]
        """Sends bytes."""
        self._asked: Exchange | None = None
        """The last that was asked for."""
        self._open: deque[Exchange] = deque()
        """Those that are not answered yet, in their order: the first one is being answered."""
        self.writable: asyncio.Future[None] | None = None
        """Until when nothing more is to be written, as the client takes it so slowly."""
        self._connections = port.connections
        self._bounds = port.connections.bounds
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpRequestParser(self)
        # Who asked for the connection to end and yet goes on is answered what they asked before.
        self._parser.set_dangerous_leniencies(lenient_data_after_close=True)
        self._reading = True
        self._ending = False
        """Whether nothing that arrives is looked at any more."""
        self._lingers_since: float | None = None
        self._target = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self._expects = False
        self._head = 0
        self._head_since: float | None = time.monotonic()
        self._idle_since = self._head_since
        self._receiving = False
        self._body_most = float(self._bounds.least_rate * _BODY_GRACE)
        self._answer_most = float(self._bounds.least_rate * _ANSWER_GRACE)
        self._body_credit = 0.0
        self._answer_credit = self._answer_most
        self._unsent = 0
        self._checked = self._head_since

    # --- from the network -----------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._transport = transport
        self.write = transport.write
        name = transport.get_extra_info("peername")
        self.peer = str(name[0]) if isinstance(name, (tuple, list)) and name else ""
        self.port.open.add(self)
        if not self._connections.add(self):
            self._refuse(503, "refused")

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.remove(self)
        self.port.open.discard(self)
        for exchange in self._open:
            exchange.lose()
        # What refers to this is let go, so that it is forgotten at once.
        self._open.clear()
        self._asked = None
        del self._parser
        self.resume_writing()

    def data_received(self, data: bytes) -> None:
        if self._ending or self._transport.is_closing():
            return
        if self._head_since is None and not self._receiving and not self._open:
            self._head_since = time.monotonic()
        if self._head_since is not None:
            self._head += len(data)
        self._feed(data)
        if self._head_since is not None and self._head > self._bounds.header_limit:
            self._refuse(431, "too_large")

    def _feed(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            # Requests to switch the protocol are answered as if they had not asked for it.
            if rest := data[upgrade.args[0] :]:
                self._feed(rest)
        except httptools.HttpParserError:
            if not self._ending:
                self._refuse(400, "malformed")

    def on_message_begin(self) -> None:
        self._target, self._headers, self._expects = b"", [], False

    def on_url(self, target: bytes) -> None:
        self._target += target

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._receiving:
            # Behind the body: a proxy that says who asks may let these pass as they are.
            return
        name = name.lower()
        if name == b"expect" and value.lower() == b"100-continue":
            self._expects = True
        self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        if self._ending:
            return
        self._head, self._head_since = 0, None
        headers = self._headers
        if len(self._target) + sum([len(n) + len(v) + 4 for n, v in headers]) > self._bounds.header_limit:
            return self._refuse(431, "too_large")
        version, hosts = self._parser.get_http_version(), [name for name, _ in headers].count(b"host")
        target = _target_of(self._target)
        # Whoever is between the client and us must not understand another request than we do.
        if target is None or version not in ("1.0", "1.1") or hosts > 1 or (version == "1.1" and not hosts):
            return self._refuse(400, "malformed")
        self._connections.work(self)
        self._receiving, self._body_credit = True, self._body_most
        keeps = version == "1.1" and not self._connections.leaving and self._parser.should_keep_alive()
        exchange = Exchange(self, self._parser.get_method().decode(), target, headers, version, keeps)
        if self._expects:
            exchange.expect()
        self._asked = exchange
        self._open.append(exchange)
        if len(self._open) == 1:
            self._begin(exchange)
        else:
            self._pause_reading()
        return None

    def on_body(self, body: bytes) -> None:
        if self._ending:
            return
        self._body_credit = min(self._body_credit + len(body), self._body_most)
        assert self._asked is not None
        if not self._asked.complete and self._asked.take(body) > _BODY_WAITING:
            self._pause_reading()

    def on_message_complete(self) -> None:
        if self._ending:
            return
        self._receiving = False
        assert self._asked is not None
        self._asked.take_end()

    # --- exchanges --------------------------------------------------------------------------------------

    def _begin(self, exchange: Exchange) -> None:
        task = self._loop.create_task(self._answer(exchange))
        self.port.tasks.add(task)

    async def _answer(self, exchange: Exchange) -> None:
        try:
            await self.port.answer(exchange)
        except Exception:
            log.exception("a request was not answered")
        finally:
            task = asyncio.current_task()
            assert task is not None
            self.port.tasks.discard(task)
            if not exchange.complete:
                await exchange.close_unfinished()

    def go_on(self, answered: Exchange) -> None:
        """What follows an answer."""
        self._open.popleft()
        if not answered.keeps:
            more_may_come = self._receiving or self._ending or not self._reading
            return self._close_gently() if more_may_come else self._transport.close()
        if self._transport.is_closing():
            return None
        if self._open:
            # Nothing more is taken meanwhile, but for the body that one of these reads: else what waits would grow with
            # each answer.
            self._begin(self._open[0])
        else:
            self.resume_reading()
            self._idle_since = time.monotonic()
            self._connections.wait(self)
        return None

    def close(self) -> None:
        self._transport.close()

    def _close_gently(self) -> None:
        """Closes for what is sent, and a moment later altogether: who closes with bytes unread has their system say that
        the connection is reset, and the other side then loses the answer."""
        self._ending = True
        is_counted = self in self._connections.open
        if not is_counted or not self._transport.can_write_eof() or self._transport.is_closing():
            return self._transport.close()
        self._lingers_since, self._receiving = time.monotonic(), False
        self._transport.write_eof()
        self.resume_reading()
        return self._connections.wait(self)

    def _pause_reading(self) -> None:
        if self._reading:
            self._reading = False
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        if not self._reading and not self._transport.is_closing():
            self._reading = True
            self._transport.resume_reading()

    def pause_writing(self) -> None:
        if self.writable is None:
            self.writable = self._loop.create_future()

    def resume_writing(self) -> None:
        self._answer_credit += _TAKEN_AT_RESUME
        writable, self.writable = self.writable, None
        if writable is not None and not writable.done():
            writable.set_result(None)

    # --- bounds ---------------------------------------------------------------------------------------

    def check(self, moment: float) -> None:
        """Ends the connection when the head, the body, the taking of an answer, or the next request lets wait for too
        long."""
        passed, self._checked = moment - self._checked, moment
        unsent, before = self._transport.get_write_buffer_size(), self._unsent
        self._unsent = unsent
        if unsent and before:
            earned = max(0, before - unsent) - self._bounds.least_rate * passed
            self._answer_credit = min(self._answer_credit + earned, self._answer_most)
            if self._answer_credit < 0:
                return self._abort()
        else:
            self._answer_credit = self._answer_most
        if self._transport.is_closing():
            return None
        if self._lingers_since is not None:
            return self._transport.abort() if moment - self._lingers_since > _LINGER else None
        if self._head_since is not None and moment - self._head_since > self._bounds.header_seconds:
            self._connections.ended("slow")
            return self.drop()
        if self._receiving and self._reading:
            self._body_credit -= self._bounds.least_rate * passed
            if self._body_credit < 0:
                return self._refuse(408, "slow") if self._open else self._abort()
        elif self._head_since is None and not self._open:
            if moment - self._idle_since > self._bounds.keep_alive_seconds:
                self.drop()
        return None

    def end_with_answer(self) -> None:
        """What is being answered is the last."""
        if self._open:
            self._open[-1].keeps = False

    def drop(self) -> None:
        """Closes a connection that has no request."""
        self._connections.remove(self)
        self._transport.close()

    def shutdown(self) -> None:
        """Ends with what is being asked. Is called again and again until the connection has ended."""
        if self._head_since is not None and time.monotonic() - self._head_since <= _ABOUT_TO_ASK:
            return
        if self._open:
            self.end_with_answer()
        else:
            self._transport.close()

    def abort(self) -> None:
        self._transport.abort()

    def _abort(self) -> None:
        self._connections.ended("slow")
        self._transport.abort()

    def _refuse(self, status: int, why: str) -> None:
        """Ends the connection, once what was asked before this has been answered, with a status that says why unless
        that would be taken for an answer to something else."""
        self._connections.ended(why)
        self._ending, self._head_since = True, None
        broken = self._asked if self._receiving else None
        self._receiving = False
        if broken is not None and broken.complete:
            return self._close_gently()
        if broken is not None:
            self._open.pop()
            broken.lose()
            if broken.begun:
                return self._transport.abort()
        if self._open:
            self._open[-1].keeps = False
            return None
        again = b"retry-after: 5\r\n" if status == 503 else b""
        self.write(b"%b%bconnection: close\r\ncontent-length: 0\r\n\r\n" % (_STATUS_LINES[status], again))
        return self._close_gently()


def _target_of(sent: bytes) -> bytes | None:
    """Path and query of what a request is for, without a fragment; None where it is no address."""
    if not sent.isascii():
        return None
    if sent[:1] == b"/":
        return sent.partition(b"#")[0]
    try:
        parts = httptools.parse_url(sent)
    except httptools.HttpParserInvalidURLError:
        return None
    path = parts.path or b"/"
    return b"%b?%b" % (path, parts.query) if parts.query else path
