"""HTTP transport for Git that connects only to hosts that the rules for outgoing requests allow, so that attackers
can't misuse it.

This module is loaded only if Git is used, because the Git libraries are slow to load.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import urllib3

from octavo.core.url_parts import write_authority
from octavo.errors import format_size
from octavo.kit.scheduling import deadlines
from octavo.kit.tls import outgoing_tls

CONNECT_SECONDS = 10
_TIMEOUT = urllib3.Timeout(connect=CONNECT_SECONDS, read=60)

AllowUrl = Callable[[str], str]
"""Function that returns the IP address to connect to for a URL, or raises ``ValueError`` if the URL isn't
allowed."""


class GitRefused(ValueError):
    """Raised if a connection isn't allowed or a response is too large. The message is for the person who
    provided the URL."""


class RepositoryTooLarge(GitRefused):
    """Raised if a response has more bytes than allowed. ``most``: the maximum number of bytes."""

    def __init__(self, most: int) -> None:
        super().__init__(f"the repository is larger than the limit of {format_size(most)}")


class GuardedPool(urllib3.PoolManager):
    """Connection pool that connects only to IP addresses that its guard allows, and stops if more than ``most``
    bytes arrive."""

    def __init__(self, allow_url: AllowUrl, most: int) -> None:
        super().__init__(
            timeout=_TIMEOUT,
            retries=urllib3.Retry(connect=1, read=0, redirect=5),
            ssl_context=outgoing_tls(),
        )
        self.received, self.most = 0, most
        self._connections: list[Any] = []

        def connected(scheme: str, connection: Any) -> socket.socket:
            host = write_authority(connection.host)
            self._connections.append(connection)
            try:
                address = allow_url(f"{scheme}://{write_authority(connection.host, connection.port)}/")
            except GitRefused:
                raise
            except ValueError as error:
                raise GitRefused(f"fetching from {host} isn't allowed: {error}") from error
            try:
                return socket.create_connection((address, connection.port), timeout=CONNECT_SECONDS)
            except OSError as error:
                message = f"the connection to {host} failed: {error}"
                raise urllib3.exceptions.NewConnectionError(connection, message) from error

        class PlainConnection(urllib3.connection.HTTPConnection):
            def _new_conn(self) -> socket.socket:
                return connected("http", self)

        class SafeConnection(urllib3.connection.HTTPSConnection):
            def _new_conn(self) -> socket.socket:
                return connected("https", self)

        class PlainPool(urllib3.HTTPConnectionPool):
            ConnectionCls = PlainConnection

        class SafePool(urllib3.HTTPSConnectionPool):
            ConnectionCls = SafeConnection

        self.pool_classes_by_scheme = {"http": PlainPool, "https": SafePool}

    def cut(self) -> None:
        """Close all connections, including those that threads are waiting on."""
        for connection in self._connections:
            with suppress(OSError, AttributeError):
                connection.sock.shutdown(socket.SHUT_RDWR)

    def urlopen(self, method: str, url: str, *arguments: Any, **options: Any) -> Any:
        response = super().urlopen(method, url, *arguments, **options)
        read = response.read

        def counted(*sizes: Any, **named: Any) -> bytes:
            deadlines.check()
            piece = read(*sizes, **named)
            self.received += len(piece)
            if self.received > self.most:
                raise RepositoryTooLarge(self.most)
            return piece

        response.read = counted  # type: ignore[method-assign]
        return response
