"""Listening: sockets, and the event loop that serves what comes to them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import resource
import socket
import time
from collections.abc import Coroutine, Sequence
from email.utils import formatdate
from typing import Any, TypeVar

import uvloop

from .connection import Connections, Port
from .edge import Edge

log = logging.getLogger("octavo.serving")
T = TypeVar("T")

_SWEEP = 1.0
"""Seconds between looks at what is too slow."""
_SPARE_FILES = 256
"""Open files beside connections: databases, files being sent, logs."""
_AT_ONCE = 16
"""Connections that are taken up in one go, where no other process wants some."""
_FEW, _PART, _PAUSE = 4, 8, 0.001
"""From so many connections on, a process that shares its port takes one for each ``_PART`` that it has in one go, and lets
the others have theirs for so many seconds. Clients keep connections for long: who got most of them would answer most."""
_REST = 1.0
"""Seconds without new connections where the system gives none."""


def new_loop() -> asyncio.AbstractEventLoop:
    """The event loop that serves: its own work for a request costs half of what that of the standard library does."""
    return uvloop.new_event_loop()


def run_served(main: Coroutine[Any, Any, T]) -> T:
    """What a coroutine gives, run on a loop of that kind."""
    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(main)


class Listener:
    """Serves an application on a socket that is bound already. Begun and ended in one event loop. ``shared``: other
    processes serve on it as well."""

    def __init__(
        self, edge: Edge, bound: socket.socket, connections: Connections, *, shared: bool = False
    ) -> None:
        self._edge = edge
        self._socket = bound
        self._backlog = connections.bounds.backlog
        self._shared = shared
        self.port = Port(edge.handle, connections)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._taking_up: set[asyncio.Task[Any]] = set()

    async def open(self) -> None:
        self.tell_time()
        self._loop = asyncio.get_running_loop()
        self._socket.setblocking(False)
        self._socket.listen(self._backlog)
        self._listen()

    def _listen(self) -> None:
        if self._loop is not None:
            self._loop.add_reader(self._socket, self._accept)

    def _accept(self) -> None:
        """Takes up some of the connections that wait. The loop's own server would take all of them, however many others
        there are to take some."""
        assert self._loop is not None
        count = len(self.port.open) + len(self._taking_up)
        pause = _PAUSE if self._shared and count >= _FEW else 0.0
        try:
            for _ in range(1 + count // _PART if self._shared else _AT_ONCE):
                self._take_up(self._socket.accept()[0])
        except (BlockingIOError, InterruptedError, ConnectionError):
            pass  # There is no more, another process has it, or it is gone.
        except OSError as error:
            log.warning("no connection can be taken up: %s", error)
            pause = _REST
        if pause:
            self._loop.remove_reader(self._socket)
            self._loop.call_later(pause, self._listen)

    def _take_up(self, accepted: socket.socket) -> None:
        assert self._loop is not None
        accepted.setblocking(False)
        made = self._loop.create_task(self._loop.connect_accepted_socket(self.port.take_up, accepted))
        self._taking_up.add(made)
        made.add_done_callback(self._taken_up)

    def _taken_up(self, made: asyncio.Task[Any]) -> None:
        self._taking_up.discard(made)
        if not made.cancelled() and (error := made.exception()) is not None:
            log.warning("a connection was not taken up: %s", error)

    def tell_time(self) -> None:
        """Sets the Date of the answers that follow."""
        self.port.date = f"date: {formatdate(usegmt=True)}\r\n".encode()

    def stop_accepting(self) -> None:
        """Takes no more connections; those that come wait for whoever else has the socket."""
        if self._loop is not None:
            self._loop.remove_reader(self._socket)
            self._loop = None

    async def close(self, patience: float) -> None:
        """Takes nothing new, lets what runs end within ``patience`` seconds, then closes everything."""
        self.stop_accepting()
        port, until = self.port, time.monotonic() + patience
        while (port.open or port.tasks or self._taking_up) and time.monotonic() < until:
            for connection in list(port.open):
                connection.shutdown()
            await asyncio.sleep(0.01)
        for connection in list(port.open):
            connection.abort()
        for task in list(port.tasks):
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
