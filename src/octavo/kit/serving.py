"""Listening: connections, each with bounds on how many there are, how slow they may be and what they may send.

Uvicorn's protocol (on httptools) reads and writes HTTP. What it leaves open is added here: a greatest number of
connections, of which those without a request give way to new ones; a time for the head of a request; a least
speed for its body and for taking the answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import resource
import socket
import time
from collections.abc import Callable, Sequence
from email.utils import formatdate
from functools import partial
from typing import Any

import uvloop
from msgspec import Struct
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from .asgi import WHOLE, Edge
from .proxies import address_key

log = logging.getLogger("octavo.serving")

_SWEEP = 1.0
"""Seconds between looks at what is too slow."""
_BODY_GRACE = 10
_ANSWER_GRACE = 30
"""Seconds at the least speed that a body, or a client that takes an answer, may fall behind."""
_TAKEN_AT_RESUME = 48 * 1024
"""Bytes that have left when a paused transport goes on: from its high to its low mark."""
_SPARE_FILES = 256
"""Open files beside connections: databases, files being sent, logs."""
_COPIED = 256 * 1024
"""Bytes of a body up to which copying it behind its head costs less than a second call of the system."""
_CHOSEN = 64
"""Connections that are chosen in one go to give way to new ones."""
_ACCEPTED_AT_ONCE = 16
"""Connections taken up in one go, so that several processes share what waits."""
_ABOUT_TO_ASK = 2.0
"""Seconds for which who has connected, or begun a request, is waited for when all connections are closed. Clients do not
ask again when the first request of a connection fails."""


def new_loop() -> asyncio.AbstractEventLoop:
    """The event loop that serves: its own work for a request costs half of what that of the standard library does."""
    return uvloop.new_event_loop()


class Bounds(Struct, frozen=True):
    """What connections may do. Sizes in bytes, times in seconds; ``least_rate`` in bytes a second."""

    connections: int
    backlog: int
    keep_alive_seconds: int
    header_seconds: int
    header_limit: int
    least_rate: int


class Connections:
    """The open connections of a process, on all its ports together. ``ended`` is told why one was ended here."""

    def __init__(self, bounds: Bounds, ended: Callable[[str], None] = lambda reason: None) -> None:
        self.bounds = bounds
        self.ended = ended
        self.open: set[_Connection] = set()
        self.leaving = False
        self._waiting: dict[_Connection, None] = {}
        """Those without a request, the longest first."""
        self._chosen: list[_Connection] = []
        """Those that give way next, the last one first."""

    def wait(self, connection: _Connection) -> None:
        """Notes that a connection has no request now."""
        self._waiting.pop(connection, None)
        self._waiting[connection] = None

    def work(self, connection: _Connection) -> None:
        """Notes that a connection has sent the head of a request."""
        self._waiting.pop(connection, None)

    def add(self, connection: _Connection) -> bool:
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

    def _choose(self) -> _Connection | None:
        """Which of those without a request gives way: the longest of whoever has the most of them, so that who opens
        many drops their own. Looking through all of them is done once for several."""
        while self._chosen:
            if (chosen := self._chosen.pop()) in self._waiting:
                return chosen
        groups: dict[str, list[_Connection]] = {}
        for connection in self._waiting:
            groups.setdefault(connection.peer, []).append(connection)
        if not groups:
            return None
        largest, *others = sorted(groups.values(), key=len, reverse=True)
        more = len(largest) - (len(others[0]) if others else 0)
        equal = [group[0] for group in (largest, *others) if len(group) == len(largest)]
        self._chosen = (largest[:more] if more else equal)[:_CHOSEN][::-1]
        return self._chosen.pop()

    def remove(self, connection: _Connection) -> None:
        self.open.discard(connection)
        self._waiting.pop(connection, None)

    def leave(self) -> None:
        """Has each connection end with the answer to the request that it has, or to its next one, which says so."""
        self.leaving = True
        for connection in self.open:
            if connection.cycle is not None and not connection.cycle.response_complete:
                connection.cycle.keep_alive = False

    def sweep(self, moment: float) -> None:
        """Closes what is too slow at a moment of the monotonic clock."""
        for connection in list(self.open):
            connection.check(moment)


class _Connection(HttpToolsProtocol):
    """One connection. What moves, in or out, earns credit with each byte and loses it with time."""

    cycle: RequestResponseCycle | None  # type: ignore[assignment]

    def __init__(self, connections: Connections, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._connections = connections
        self._bounds = connections.bounds
        self.peer = ""
        """Whose it is, as far as a connection tells: its address."""
        self._body_most = float(self._bounds.least_rate * _BODY_GRACE)
        self._answer_most = float(self._bounds.least_rate * _ANSWER_GRACE)
        self._head = 0
        self._head_since: float | None = time.monotonic()
        self._receiving = False
        self._body_credit = 0.0
        self._answer_credit = self._answer_most
        self._unsent = 0
        self._checked = time.monotonic()

    # --- from the network -----------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.peer = address_key(self.client[0]) if self.client else ""
        if not self._connections.add(self):
            self._refuse(503, b"Service Unavailable", "refused")

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        answered = self.cycle is None or self.cycle.response_complete
        if self._head_since is None and not self._receiving and answered:
            self._head_since = time.monotonic()
        if self._head_since is not None:
            self._head += len(data)
        super().data_received(data)
        if self._head_since is not None and self._head > self._bounds.header_limit:
            self._refuse(431, b"Request Header Fields Too Large", "too_large")

    def on_headers_complete(self) -> None:
        if self.transport.is_closing():
            return
        self._head, self._head_since = 0, None
        if len(self.url) + sum([len(n) + len(v) + 4 for n, v in self.headers]) > self._bounds.header_limit:
            return self._refuse(431, b"Request Header Fields Too Large", "too_large")
        version, hosts = self.parser.get_http_version(), [name for name, _ in self.headers].count(b"host")
        # Whoever is between the client and us must not understand another request than we do.
        if version not in ("1.0", "1.1") or hosts > 1 or (version == "1.1" and not hosts):
            return self._refuse(400, b"Bad Request", "malformed")
        self._connections.work(self)
        self._receiving, self._body_credit = True, self._body_most
        super().on_headers_complete()
        assert self.cycle is not None
        if self._connections.leaving:
            self.cycle.keep_alive = False
        # The task that answers has been made and begins later.
        self.scope["extensions"] = {WHOLE: partial(_send_whole, self.cycle)}  # type: ignore[dict-item]

    def on_body(self, body: bytes) -> None:
        if not self.transport.is_closing():
            self._body_credit = min(self._body_credit + len(body), self._body_most)
            super().on_body(body)

    def on_message_complete(self) -> None:
        if not self.transport.is_closing():
            self._receiving = False
            super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self.pipeline and not self.transport.is_closing():
            self._connections.wait(self)

    def resume_writing(self) -> None:
        self._answer_credit += _TAKEN_AT_RESUME
        super().resume_writing()

    def _unsupported_upgrade_warning(self) -> None:
        """Requests to switch the protocol are answered as if they had not asked for it."""

    # --- bounds ---------------------------------------------------------------------------------------

    def check(self, moment: float) -> None:
        """Ends the connection when the head, the body or the taking of an answer goes on for too long."""
        passed, self._checked = moment - self._checked, moment
        unsent, before = self.transport.get_write_buffer_size(), self._unsent
        self._unsent = unsent
        if unsent and before:
            earned = max(0, before - unsent) - self._bounds.least_rate * passed
            self._answer_credit = min(self._answer_credit + earned, self._answer_most)
            if self._answer_credit < 0:
                return self._abort()
        else:
            self._answer_credit = self._answer_most
        if self.transport.is_closing():
            return None
        if self._head_since is not None and moment - self._head_since > self._bounds.header_seconds:
            self._connections.ended("slow")
            return self.drop()
        if self._receiving and not self.flow.read_paused:
            self._body_credit -= self._bounds.least_rate * passed
            if self._body_credit < 0:
                answered = self.cycle is not None and self.cycle.response_started
                return self._abort() if answered else self._refuse(408, b"Request Timeout", "slow")
        return None

    def drop(self) -> None:
        """Closes a connection that has no request."""
        self._connections.remove(self)
        self.transport.close()

    def shutdown(self) -> None:
        """Ends with what is being asked. Is called again and again until the connection has ended."""
        if self._head_since is None or time.monotonic() - self._head_since > _ABOUT_TO_ASK:
            super().shutdown()

    def _abort(self) -> None:
        self._connections.ended("slow")
        self.transport.abort()

    def _refuse(self, status: int, reason: bytes, why: str) -> None:
        self._connections.ended(why)
        again = b"retry-after: 5\r\n" if status == 503 else b""
        self.transport.write(
            b"HTTP/1.1 %d %b\r\n%bconnection: close\r\ncontent-length: 0\r\n\r\n" % (status, reason, again)
        )
        self._head_since, self._receiving = None, False
        self.transport.close()


async def _send_whole(
    cycle: RequestResponseCycle, status: int, lines: bytes, body: bytes, close: bool
) -> None:
    """Sends a whole answer: what ``cycle.send`` does with its head and its body, in one write."""
    if cycle.flow.write_paused and not cycle.disconnected:
        await cycle.flow.drain()
    if cycle.disconnected:
        return
    if cycle.response_started:
        raise RuntimeError("this was answered already")
    if close:
        cycle.keep_alive = False
    head = [STATUS_LINE[status], *[b"%b: %b\r\n" % pair for pair in cycle.default_headers], lines]
    head.append(b"\r\n" if cycle.keep_alive else b"connection: close\r\n\r\n")
    if len(body) <= _COPIED:
        cycle.transport.write(b"".join((*head, body)))
    else:
        cycle.transport.write(b"".join(head))
        cycle.transport.write(body)
    cycle.response_started = cycle.response_complete = True
    cycle.waiting_for_100_continue = False
    cycle.message_event.set()
    if not cycle.keep_alive:
        cycle.transport.close()
    cycle.on_response()


class Listener:
    """Serves an application on a socket that is bound already. Begun and ended in one event loop."""

    def __init__(self, edge: Edge, bound: socket.socket, connections: Connections) -> None:
        self._edge = edge
        self._socket = bound
        self._connections = connections
        self._state = ServerState()
        self._config = Config(
            edge,
            http=_Connection,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=connections.bounds.keep_alive_seconds,
        )
        self._config.load()
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        self.tell_time()
        self._server = await asyncio.get_running_loop().create_server(
            self.take_up,
            # Closing the server closes what it was given, and others may go on with the socket.
            sock=self._socket.dup(),
            backlog=_ACCEPTED_AT_ONCE,
        )
        self._socket.listen(self._connections.bounds.backlog)

    def take_up(self) -> _Connection:
        """The protocol of a new connection."""
        return _Connection(self._connections, self._config, self._state, {})

    def tell_time(self) -> None:
        """Sets the Date of the answers that follow."""
        self._state.default_headers = [(b"date", formatdate(usegmt=True).encode())]

    def stop_accepting(self) -> None:
        """Takes no more connections; those that come wait for whoever else has the socket."""
        assert self._server is not None
        self._server.close()

    async def close(self, patience: float) -> None:
        """Takes nothing new, lets what runs end within ``patience`` seconds, then closes everything."""
        self.stop_accepting()
        until = time.monotonic() + patience
        while (self._state.connections or self._state.tasks) and time.monotonic() < until:
            # Some that had been taken up are made only now: clients come back that another process let go.
            for connection in list(self._state.connections):
                connection.shutdown()
            await asyncio.sleep(0.01)
        for connection in list(self._state.connections):
            connection.transport.abort()
        for task in list(self._state.tasks):
            task.cancel()
        await asyncio.get_running_loop().run_in_executor(None, self._edge.close)


async def watch(connections: Connections, listeners: Sequence[Listener]) -> None:
    """Keeps bounds and clocks, until cancelled."""
    while True:
        await asyncio.sleep(_SWEEP)
        connections.sweep(time.monotonic())
        for listener in listeners:
            listener.tell_time()


def bind(host: str, port: int) -> socket.socket:
    """A socket to listen on; it may be handed to further processes. Raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends without delay only where it sees that this is TCP.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
    except OSError:
        bound.close()
        raise
    bound.set_inheritable(True)
    return bound


def allow_open_files(connections: int) -> None:
    """Raises the limit on open files to what so many connections need, as far as the system lets us."""
    wanted = connections + _SPARE_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        if most < wanted:
            log.warning(
                "open files are limited to %d, which is too few for %d connections", most, connections
            )
