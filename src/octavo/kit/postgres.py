"""Transactions on PostgreSQL. Named nowhere but in ``databases.open_database``.

Nothing relies on what a connection remembers from one transaction to the next, so all of them may go through a pooler
that gives each transaction another connection. Listening and migrating need the server itself.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from secrets import token_hex
from typing import Any, TypeAlias, TypeVar

import psycopg
from psycopg import sql as pg_sql
from psycopg.abc import PQGen
from psycopg.conninfo import conninfo_to_dict
from psycopg.types.numeric import IntDumper
from psycopg_pool import ConnectionPool

from ..errors import OutOfReach, Unavailable
from .db import (
    Cursor,
    Database,
    Engine,
    LockTimeout,
    RetryTransaction,
    Row,
    Transaction,
    no_turn,
    out_of_reach,
    statement_seconds,
    turn_seconds,
)

T = TypeVar("T")
log = logging.getLogger("octavo.db")
_PARAMETER = re.compile(r"'(?:[^']|'')*'|(?<![:\w]):([a-zA-Z_]\w*)|%")


def _to_postgres(sql: str) -> str:
    def replace(match: re.Match[str]) -> str:
        if match[0] == "%":
            return "%%"
        return f"%({match[1]})s" if match[1] else match[0].replace("%", "%%")

    return _PARAMETER.sub(replace, sql)


class _BoolAsInt(IntDumper):
    """Flags are 0 and 1 in both engines."""

    def dump(self, obj: Any) -> bytes:
        return b"1" if obj else b"0"


class _PostgresTransaction(Transaction):
    engine: Engine = "postgresql"
    _translated: dict[str, str] = {}

    def __init__(self, connection: psycopg.Connection[Row]) -> None:
        super().__init__()
        self._connection = connection

    def _execute(self, sql: str, parameters: dict[str, Any]) -> Cursor:
        query = self._translated.get(sql)
        if query is None:
            query = _to_postgres(sql)
            if len(self._translated) < 10_000:
                self._translated[sql] = query
        return self._connection.execute(query, parameters)

    def run_many(self, sql: str, rows: Iterable[dict[str, Any]]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(_to_postgres(sql), rows)

    def script(self, sql: str) -> None:
        self._connection.execute(pg_sql.SQL(sql))


_RETRY = (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected)
_FAILURES = (psycopg.OperationalError, psycopg.InterfaceError)
"""The server is gone, full, or overloaded; nothing is wrong with the statement."""
_CONNECT_SECONDS = 5
"""How long the server may take to answer what is no work: a connection, the beginning of a read, a sign of life."""
_QUIET_SECONDS = 1
_LEAST_SECONDS = 0.5
"""How long a transaction waits for a connection while the server is known to be away."""
_NETWORK = {
    "connect_timeout": _CONNECT_SECONDS,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}
"""A server that vanished without a word is noticed by its silence. What the address says goes first."""
_CHANNEL = "octavo_changed"
_MIGRATION = 0x6F637461766F  # "octavo", as a number: the advisory lock of whoever migrates
_LOCK_TIMEOUT = "5s"
_BEGIN_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
# In one message, and for this transaction alone: so it also works through a proxy that shares connections.
_BEGIN_WRITE = "BEGIN; SET LOCAL lock_timeout = {:.0f}"


class _Connection(psycopg.Connection[Row]):
    """Ends when the server says nothing for longer than ``patience`` seconds: the limits that the server keeps itself
    are of no use when it stands still, or a pooler in front of it does."""

    patience: float | None = None

    def wait(self, gen: PQGen[T], interval: float = 0.1, timeout: float | None = None) -> T:
        if timeout is not None:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, self.patience)
        except psycopg.errors._WaitTimeout:
            self.pgconn.finish()
            raise psycopg.OperationalError(
                f"the server said nothing for {self.patience:.0f} seconds"
            ) from None

    def begin(self, begin: str, seconds: float) -> None:
        """Begins a transaction, which the server may take so many seconds to do, with what each of its statements may
        take."""
        self.patience = seconds
        most = statement_seconds()
        limit = "" if most is None else f"; SET LOCAL statement_timeout = {most * 1000:.0f}"
        self.execute(f"{begin}{limit}".encode())
        self.patience = None if most is None else most + _CONNECT_SECONDS


def _connect(url: str) -> _Connection:
    """A connection of its own, without a pool."""
    connection = _Connection.connect(url, autocommit=True, **_bounds(url))
    connection.patience = _CONNECT_SECONDS
    return connection


def _bounds(url: str) -> dict[str, Any]:
    given = conninfo_to_dict(url)
    return {name: value for name, value in _NETWORK.items() if name not in given}


def _is_pooled(connection: _Connection) -> bool:
    """Whether something is between us and the server: it then greets with another process id than the server has."""
    row = connection.execute("SELECT pg_backend_pid()").fetchone()
    return row is not None and row[0] != connection.info.backend_pid


def _in_one_line(error: Exception) -> str:
    """The driver's message may have several lines; this one also goes into a table."""
    return " ".join(str(error).split())


Pool: TypeAlias = "ConnectionPool[_Connection]"


class PostgresDatabase(Database):
    engine: Engine = "postgresql"
    row_errors = (psycopg.IntegrityError, psycopg.DataError, psycopg.errors.ProgramLimitExceeded)

    def __init__(self, url: str, connections: int, direct_url: str = "") -> None:
        """``connections``: at most so many, one of them to listen; half of the others are for writes, so that who
        waits for a row keeps no reader waiting. ``direct_url``: the server, where ``url`` leads to a pooler in front
        of it."""
        self._url = url
        self._direct_url = direct_url or url
        self._local = threading.local()
        writes = max(1, (connections - 1) // 2)
        self._reads = self._pool(max(1, connections - 1 - writes), bool(direct_url))
        self._writes = self._pool(writes, bool(direct_url))
        self._name = token_hex(8)
        try:
            self._open_pools(pooled=bool(direct_url))
        except BaseException:
            self._close_pools()
            raise
        self._generation = 0
        self._generation_lock = threading.Lock()
        self._listening = False
        self._lost_at: float | None = None
        """Since when the server is known to be away."""
        self._closing = threading.Event()
        self._listener: threading.Thread | None = None

    def _pool(self, size: int, pooled: bool) -> Pool:
        return ConnectionPool(
            self._url,
            connection_class=_Connection,
            min_size=1,
            max_size=size,
            open=False,
            configure=self._configure,
            # Then it begins anew with whoever asks next, instead of trying less and less often.
            reconnect_timeout=_CONNECT_SECONDS,
            # A statement is prepared on one connection, and a pooler may run it on another.
            kwargs={
                "autocommit": True,
                **_bounds(self._url),
                **({"prepare_threshold": None} if pooled else {}),
            },
        )

    def _open_pools(self, pooled: bool) -> None:
        """Raises Unavailable, naming the setting that is wrong."""
        try:
            # Asked once without the pool, which would try again and again without saying what is wrong.
            with _connect(self._url) as connection:
                if pooled:
                    self._require_heard(connection)
                elif _is_pooled(connection):
                    raise Unavailable(
                        "OCTAVO_DATABASE_URL leads to a connection pooler. Set OCTAVO_DATABASE_DIRECT_URL to the"
                        " address of the server itself: a process hears of changes through it."
                    )
            for pool in (self._reads, self._writes):
                pool.open(wait=True, timeout=_CONNECT_SECONDS)
        except psycopg.Error as error:
            raise Unavailable(f"OCTAVO_DATABASE_URL: {_in_one_line(error)}") from None

    def _require_heard(self, connection: _Connection) -> None:
        """What is said on this connection has to be heard at the direct address: it leads to the same database, and
        to the server itself."""
        name = "OCTAVO_DATABASE_DIRECT_URL"
        try:
            with _connect(self._direct_url) as direct:
                if _is_pooled(direct):
                    raise Unavailable(
                        f"{name} leads to a connection pooler: give the address of the server itself."
                    )
                direct.execute(f"LISTEN {_CHANNEL}")
                connection.execute(f"NOTIFY {_CHANNEL}, '{self._name}'")
                until = time.monotonic() + _CONNECT_SECONDS
                while (left := until - time.monotonic()) > 0:
                    if any(
                        notice.payload == self._name for notice in direct.notifies(timeout=left, stop_after=1)
                    ):
                        return
        except psycopg.Error as error:
            raise Unavailable(f"{name}: {_in_one_line(error)}") from None
        raise Unavailable(f"{name} leads to another database than OCTAVO_DATABASE_URL.")

    def _close_pools(self) -> None:
        self._reads.close()
        self._writes.close()

    @staticmethod
    def _configure(connection: psycopg.Connection[Any]) -> None:
        connection.adapters.register_dumper(bool, _BoolAsInt)

    @contextmanager
    def _begun(self, pool: Pool, begin: str, seconds: float) -> Iterator[_Connection]:
        """A connection of a pool on which ``begin`` has run, all of which may take so long. Those that died while
        nobody used them are replaced."""
        moment = time.monotonic()
        until = moment + seconds
        if self._lost_at is not None:
            until = min(until, max(moment + _LEAST_SECONDS, self._lost_at + _CONNECT_SECONDS))
        for left in range(pool.max_size, -1, -1):
            connection = pool.getconn(timeout=until - time.monotonic())
            try:
                connection.begin(begin, max(_LEAST_SECONDS, until - time.monotonic()))
                break
            except BaseException as error:
                pool.putconn(connection)
                if not left or time.monotonic() > until or not isinstance(error, _FAILURES):
                    raise
        try:
            yield connection
        finally:
            pool.putconn(connection)

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        current = getattr(self._local, "read", None)
        if current is not None:
            yield current
            return
        try:
            generation = self._current_generation()
            with self._begun(self._reads, _BEGIN_READ, _CONNECT_SECONDS) as connection:
                self._local.generation = generation
                self._local.read = _PostgresTransaction(connection)
                try:
                    yield self._local.read
                finally:
                    self._local.read = None
                    if not connection.broken:
                        connection.execute("ROLLBACK")
        except _FAILURES as error:
            raise out_of_reach(error) from error

    def write(self) -> AbstractContextManager[Transaction]:
        seconds = turn_seconds()
        return self._written(lambda: self._begun(self._writes, _BEGIN_WRITE.format(seconds * 1000), seconds))

    @contextmanager
    def _written(self, begin: Callable[[], AbstractContextManager[_Connection]]) -> Iterator[Transaction]:
        """A write transaction on the connection that ``begin`` gives, where it has begun."""
        try:
            with begin() as connection:
                transaction = _PostgresTransaction(connection)
                try:
                    yield transaction
                    connection.execute(f"NOTIFY {_CHANNEL}, '{self._name}'")
                except BaseException:
                    if not connection.broken:
                        connection.execute("ROLLBACK")
                    raise
                connection.execute("COMMIT")
        except _RETRY as error:
            raise RetryTransaction(str(error)) from error
        except psycopg.errors.LockNotAvailable as error:
            raise no_turn() from error
        except (*_FAILURES, psycopg.errors.ReadOnlySqlTransaction) as error:
            # A server takes no writes while it stands by for another one, or has no room left.
            raise out_of_reach(error) from error
        self._changed()  # not waiting for our own notice: a thread reads what it wrote
        for effect in transaction._after_commit:
            effect()

    def generation(self) -> int | None:
        if self._listener is None:
            with self._generation_lock:
                if self._listener is None:
                    self._listener = threading.Thread(target=self._listen, daemon=True, name="octavo-listen")
                    self._listener.start()
        if getattr(self._local, "read", None) is not None:
            begun_with: int | None = self._local.generation
            return begun_with
        return self._current_generation()

    def _current_generation(self) -> int | None:
        return self._generation if self._listening else None

    def _changed(self) -> None:
        with self._generation_lock:
            self._generation += 1

    def _listen(self) -> None:
        while not self._closing.is_set():
            try:
                with _connect(self._direct_url) as connection:
                    connection.execute(f"LISTEN {_CHANNEL}")
                    # Changes before LISTEN went unheard: a new number drops whatever was cached.
                    self._changed()
                    self._listening, self._lost_at = True, None
                    while not self._closing.is_set():
                        self._hear(connection)
            except psycopg.Error as error:
                if self._listening or self._lost_at is None:
                    log.warning("database: nothing is heard of changes: %s", _in_one_line(error))
                    self._lost_at = time.monotonic()
                self._listening = False
                self._closing.wait(_QUIET_SECONDS)
        self._listening = False

    def _hear(self, connection: _Connection) -> None:
        """Takes what others say. When it is quiet, the server is asked for a sign of life: of one that vanished
        nothing would be heard for ever, and what was kept would go on being shown."""
        quiet = True
        for notice in connection.notifies(timeout=_QUIET_SECONDS, stop_after=1):
            quiet = False
            if notice.payload != self._name:
                self._changed()
        if quiet:
            connection.execute("SELECT 1")

    @contextmanager
    def _direct(self) -> Iterator[_Connection]:
        """A connection to the server itself, in a write transaction."""
        with _connect(self._direct_url) as connection:
            self._configure(connection)
            connection.begin(_BEGIN_WRITE.format(0), _CONNECT_SECONDS)
            yield connection

    @contextmanager
    def migration(self) -> Iterator[Transaction]:
        try:
            with self._written(self._direct) as tx:
                # Without a limit: whoever migrates just now may take long.
                tx.run("SET LOCAL statement_timeout = 0")
                tx.value("SELECT pg_advisory_xact_lock(:key)", key=_MIGRATION)
                # With one: who waits for a table holds up everybody who wants it afterwards.
                tx.run(f"SET LOCAL lock_timeout = '{_LOCK_TIMEOUT}'")
                yield tx
        except OutOfReach as error:
            if not isinstance(error.__cause__, psycopg.errors.LockNotAvailable):
                raise
            raise LockTimeout(str(error.__cause__)) from error

    def close(self) -> None:
        self._closing.set()
        self._close_pools()
