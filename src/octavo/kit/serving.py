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
_ACCEPTED_AT_ONCE = 16
"""Connections taken up in one go, so that several processes share what waits."""


def new_loop() -> asyncio.AbstractEventLoop:
    """The event loop that serves: its own work for a request costs half of what that of the standard library does."""
    return uvloop.new_event_loop()


def run_served(main: Coroutine[Any, Any, T]) -> T:
    """What a coroutine gives, run on a loop of that kind."""
    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(main)


class Listener:
    """Serves an application on a socket that is bound already. Begun and ended in one event loop."""

    def __init__(self, edge: Edge, bound: socket.socket, connections: Connections) -> None:
        self._edge = edge
        self._socket = bound
        self._backlog = connections.bounds.backlog
        self.port = Port(edge.handle, connections)
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        self.tell_time()
        self._server = await asyncio.get_running_loop().create_server(
            self.port.take_up,
            # Closing the server closes what it was given, and others may go on with the socket.
            sock=self._socket.dup(),
            backlog=_ACCEPTED_AT_ONCE,
        )
        self._socket.listen(self._backlog)

    def tell_time(self) -> None:
        """Sets the Date of the answers that follow."""
        self.port.date = f"date: {formatdate(usegmt=True)}\r\n".encode()

    def stop_accepting(self) -> None:
        """Takes no more connections; those that come wait for whoever else has the socket."""
        assert self._server is not None
        self._server.close()

    async def close(self, patience: float) -> None:
        """Takes nothing new, lets what runs end within ``patience`` seconds, then closes everything."""
        self.stop_accepting()
        port, until = self.port, time.monotonic() + patience
        while (port.open or port.tasks) and time.monotonic() < until:
            # Some that had been taken up are made only now: clients come back that another process let go.
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
