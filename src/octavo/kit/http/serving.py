"""Serve ASGI applications with granian on the event loop of this process."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import resource
import socket
import time
from collections.abc import Coroutine
from typing import TypeVar

import uvloop
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server
from msgspec import Struct

from .asgi import Application

log = logging.getLogger("octavo.serving")
T = TypeVar("T")

_SPARE_FILES = 256
"""Number of open files to reserve in addition to connections: for databases, logs, and files that are being sent."""
_END = 1.0
"""Number of seconds within which canceled requests must end."""
_GIVEN_UP = 5.0
"""Number of seconds to wait for a port that is in use to become free."""


class PortLimits(Struct, frozen=True):
    """Limits for each port of a process: the number of open connections, the number of connections waiting to be
    accepted, the number of seconds within which a request head must arrive (and for which a connection can be
    idle), and the size of a head in bytes."""

    connections: int
    backlog: int
    header_seconds: int
    header_limit: int


class PortListener:
    """Listener that serves an application on a port. More than one process can listen on the same port; the system
    distributes connections among the processes. The listener is started and stopped in the same event loop."""

    def __init__(self, application: Application, host: str, port: int, bounds: PortLimits) -> None:
        self._application = application
        self._server = Server(
            application,
            address=resolve(host),
            port=port,
            interface=Interfaces.ASGINL,
            # With HTTP/2 enabled, a connection that sends nothing would stay open forever.
            http=HTTPModes.http1,
            websockets=False,
            backlog=bounds.backlog,
            backpressure=bounds.connections,
            http1_settings=HTTP1Settings(
                header_read_timeout=bounds.header_seconds * 1000, max_buffer_size=bounds.header_limit
            ),
            log_enabled=False,
        )
        self._address = resolve(host), port
        self._serving: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Wait until the port accepts connections. Raises OSError if it can't be opened."""
        self._serving = asyncio.ensure_future(self._server.serve())
        while not self._serving.done():
            with contextlib.suppress(ConnectionRefusedError):
                _, writer = await asyncio.open_connection(*self._address)
                return writer.close()
            await asyncio.sleep(0.005)
        return self._serving.result()

    def leave(self) -> None:
        """Let each connection end with its next response."""
        self._application.leaving = True

    async def close(self, patience: float) -> None:
        """Stop accepting new connections, let requests finish within ``patience`` seconds, and then cancel the
        remaining requests."""
        assert self._serving is not None
        self._application.leaving = True
        self._server.stop()  # type: ignore[no-untyped-call]
        done, _ = await asyncio.wait([self._serving], timeout=patience)
        if not done:
            for task in list(self._application.open):
                task.cancel()
            await asyncio.wait([self._serving], timeout=_END)


def new_loop() -> asyncio.AbstractEventLoop:
    """Return an event loop for serving requests. Its overhead per request is half that of the standard library's
    event loop."""
    return uvloop.new_event_loop()


def run_served(main: Coroutine[object, object, T]) -> T:
    """Run a coroutine on a loop from ``new_loop``."""
    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(main)


def resolve(host: str) -> str:
    """Return the IP address for a hostname or IP address. Raises OSError if it can't be resolved."""
    return str(socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][4][0])


def require_free(host: str, port: int) -> None:
    """Raise OSError if another process is listening on a port. Opening the port wouldn't fail in that case, because
    Octavo's processes share ports. Workers whose parent process was killed get a few seconds to end."""
    address = resolve(host)
    until = time.monotonic() + _GIVEN_UP
    while True:
        with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                return probe.bind((address, port))
            except OSError:
                if time.monotonic() >= until:
                    raise
        time.sleep(0.05)


def allow_connections(wanted: int, ports: int) -> int:
    """Raise the limit on open files as far as the system allows. Return the number of connections that each port
    can have, which is at most ``wanted``. A process without free file descriptors couldn't even read its database."""
    files = wanted * ports + _SPARE_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= files:
        return wanted
    most = files if hard == resource.RLIM_INFINITY else min(files, hard)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    if most == files:
        return wanted
    allowed = max(1, (most - min(_SPARE_FILES, most // 2)) // ports)
    log.warning(
        "the open file limit is %d, so each port accepts only %d connections instead of %d",
        most,
        allowed,
        wanted,
    )
    return allowed
