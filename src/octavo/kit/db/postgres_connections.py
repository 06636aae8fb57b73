"""Connections to PostgreSQL that are closed if the server stops responding, and connection pools that owners share."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple, TypeVar

import psycopg
from psycopg import generators
from psycopg.abc import PQGen
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGresult
from psycopg.types.numeric import IntDumper
from psycopg_pool import ConnectionPool

from octavo.kit.scheduling.owners import current_owner
from octavo.kit.scheduling.permits import waiting

from .database import Row, statement_seconds, taking_turns

T = TypeVar("T")

FAILURES = (psycopg.OperationalError, psycopg.InterfaceError)
"""Errors that are raised if the server is unreachable, full, or overloaded, and not because of the statement."""
DAMAGE = (psycopg.errors.DataCorrupted, psycopg.errors.IndexCorrupted)
"""Errors that the server returns for damaged data."""
CONNECT_SECONDS = 5
"""Number of seconds within which the server must respond to a new connection, the start of a read, or a check."""
LEAST_SECONDS = 0.5
"""Number of seconds that a transaction waits for a connection while the server is unreachable."""
_NETWORK = {
    "connect_timeout": CONNECT_SECONDS,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
    "application_name": "octavo",
}
"""Options for detecting that a server has become unreachable. Options in the URL take precedence."""
_PROCESS = re.compile(r"octavo process, at most (\d+)")
BEGIN_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


class Connection(psycopg.Connection[Row]):
    """Connection that is closed if the server doesn't respond for ``patience`` seconds. The server's own time
    limits have no effect if the server, or a pooler in front of it, hangs."""

    patience: float | None = None
    release_slot: Callable[[], None]
    """Function that releases the connection's slot in its pool."""
    place: Hashable | None = None
    """Server at the other end of the connection, if it is known (see ``replica``)."""

    def wait(self, gen: PQGen[T], interval: float = 0.1, timeout: float | None = None) -> T:
        patience = self.patience if timeout is None else timeout
        try:
            with waiting():
                return super().wait(gen, interval, patience)
        except psycopg.errors._WaitTimeout:
            if timeout is not None:
                raise
            self.pgconn.finish()
            raise psycopg.OperationalError(
                f"the server didn't respond within {self.patience:.0f} seconds"
            ) from None

    def send(self, statements: str) -> PGresult:
        """Run statements without parameters, and return the last result. Use this only for statements that can't
        fail unless the server fails.

        This bypasses the driver's cursors, which would take longer than the server itself takes to run these
        statements. Raises OperationalError if the server fails.
        """
        self.pgconn.send_query(statements.encode())
        result: PGresult = self.wait(generators.execute(self.pgconn))[-1]
        if result.status not in (ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK):
            raise psycopg.OperationalError(result.get_error_message())
        return result

    def begin(self, begin: str, seconds: float, more: str = "") -> PGresult:
        """Start a transaction, run ``more`` if it is given, and return the result of the last statement.
        ``seconds``: the time limit for the start, and for each statement of the transaction."""
        self.patience = seconds
        most = statement_seconds()
        limit = "" if most is None else f"; SET LOCAL statement_timeout = {most * 1000:.0f}"
        result = self.send(f"{begin}{limit}{more}")
        self.patience = None if most is None else most + CONNECT_SECONDS
        return result


class Clients(NamedTuple):
    """Numbers of connections to a server. ``processes``: for each Octavo process, its maximum number of
    connections. ``others``: the number of connections of all other clients."""

    processes: list[int]
    others: int


def count_clients(names: Mapping[str, int], own: str) -> Clients:
    """Count the connections to a server. ``names``: the number of connections by ``application_name``. ``own``: the
    number of this process's connections in pools."""
    processes: list[int] = []
    others = 0
    for name, count in names.items():
        if found := _PROCESS.fullmatch(name):
            processes += [int(found[1])] * count
        elif name != own:
            others += count
    return Clients(processes, others)


def connect(url: str, most: int | None = None) -> Connection:
    """Open a connection without a pool. ``most``: this process's maximum number of connections. The connection
    makes this number known to other processes."""
    given = (
        _bounds(url)
        if most is None
        else {**_bounds(url), "application_name": f"octavo process, at most {most}"}
    )
    connection = Connection.connect(url, autocommit=True, **given)
    connection.patience = CONNECT_SECONDS
    return connection


def _bounds(url: str) -> dict[str, Any]:
    given = conninfo_to_dict(url)
    return {name: value for name, value in _NETWORK.items() if name not in given}


def in_one_line(error: Exception) -> str:
    """Return an error on one line, because it is also stored in a table. The driver's messages can have several
    lines."""
    return " ".join(str(error).split())


class _BoolAsInt(IntDumper):
    """Dumper that sends booleans as 0 and 1, because both engines store booleans as integers."""

    def dump(self, obj: object) -> bytes:
        return b"1" if obj else b"0"


def configure(connection: Connection) -> None:
    connection.adapters.register_dumper(bool, _BoolAsInt)


class Pool:
    """Connection pool of a process. Threads take turns by owner."""

    def __init__(self, name: str, connections: ConnectionPool[Connection]) -> None:
        self.connections = connections
        self._turns = taking_turns(name, connections.max_size)

    @property
    def size(self) -> int:
        return self.connections.max_size

    def get(self, seconds: float) -> Connection:
        """Return a connection, blocking this thread for at most the given time. Raises Busy if no connection becomes
        available in time."""
        until = time.monotonic() + seconds
        give_back = self._turns.wait(current_owner(), seconds)
        try:
            connection = self.connections.getconn(timeout=until - time.monotonic())
        except BaseException:
            give_back()
            raise
        connection.release_slot = give_back
        return connection

    def put(self, connection: Connection) -> None:
        try:
            self.connections.putconn(connection)
        finally:
            connection.release_slot()


def make_pool(name: str, url: str, size: int, *, pooled: bool = False) -> Pool:
    """Return a pool that isn't open yet. ``name``: the name in messages, as in ``Shares``. ``pooled``: whether
    connections go through a pooler."""
    return Pool(
        name,
        ConnectionPool(
            url,
            connection_class=Connection,
            min_size=1,
            max_size=size,
            open=False,
            configure=configure,
            # After this time, the pool starts again with the next request, instead of retrying less and less often.
            reconnect_timeout=CONNECT_SECONDS,
            # A statement is prepared on one connection, and a pooler may run it on another.
            kwargs={
                "autocommit": True,
                **_bounds(url),
                **({"prepare_threshold": None} if pooled else {}),
            },
        ),
    )
