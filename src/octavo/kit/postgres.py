"""Transactions on PostgreSQL. Named nowhere but in ``databases.open_database``.

Nothing relies on what a connection remembers from one transaction to the next, so all of them may go through a pooler
that gives each transaction another connection. Listening and migrating need the server itself.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from secrets import token_hex
from typing import Any, LiteralString, TypeAlias

import psycopg
from psycopg import sql as pg_sql
from psycopg.types.numeric import IntDumper
from psycopg_pool import ConnectionPool

from ..errors import OutOfReach, Unavailable
from .db import (
    TURN_SECONDS,
    Cursor,
    Database,
    Engine,
    LockTimeout,
    RetryTransaction,
    Row,
    Transaction,
    out_of_reach,
    statement_seconds,
)

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
_CHANNEL = "octavo_changed"
_MIGRATION = 0x6F637461766F  # "octavo", as a number: the advisory lock of whoever migrates
_LOCK_TIMEOUT = "5s"
_BEGIN_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
# In one message, and for this transaction alone: so it also works through a proxy that shares connections.
_BEGIN_WRITE = "BEGIN; SET LOCAL lock_timeout = '10s'"


def _limited(begin: LiteralString) -> pg_sql.SQL | pg_sql.Composed:
    """With what a statement of the transaction may take."""
    seconds = statement_seconds()
    if seconds is None:
        return pg_sql.SQL(begin)
    limit = pg_sql.Literal(f"{seconds * 1000:.0f}ms")
    return pg_sql.SQL(begin) + pg_sql.SQL("; SET LOCAL statement_timeout = ") + limit


def _is_pooled(connection: psycopg.Connection[Any]) -> bool:
    """Whether something is between us and the server: it then greets with another process id than the server has."""
    row = connection.execute("SELECT pg_backend_pid()").fetchone()
    return row is not None and row[0] != connection.info.backend_pid


Pool: TypeAlias = "ConnectionPool[psycopg.Connection[Row]]"


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
        try:
            # Asked once without the pool, which would try again and again without saying what is wrong.
            with psycopg.connect(url, connect_timeout=_CONNECT_SECONDS) as connection:
                pooled = _is_pooled(connection)
            for pool in (self._reads, self._writes):
                pool.open(wait=True, timeout=_CONNECT_SECONDS)
        except psycopg.Error as error:
            self._close_pools()
            # The driver's message may have several lines; this one also goes into a table.
            raise Unavailable(f"OCTAVO_DATABASE_URL: {' '.join(str(error).split())}") from None
        if pooled and not direct_url:
            self._close_pools()
            raise Unavailable(
                "OCTAVO_DATABASE_URL leads to a connection pooler. Set OCTAVO_DATABASE_DIRECT_URL to the address of the"
                " server itself: a process hears of changes through it."
            )
        self._name = token_hex(8)
        self._generation = 0
        self._generation_lock = threading.Lock()
        self._listening = False
        self._closing = threading.Event()
        self._listener: threading.Thread | None = None

    def _pool(self, size: int, pooled: bool) -> Pool:
        return ConnectionPool(
            self._url,
            min_size=1,
            max_size=size,
            open=False,
            configure=self._configure,
            # A statement is prepared on one connection, and a pooler may run it on another.
            kwargs={"autocommit": True, **({"prepare_threshold": None} if pooled else {})},
        )

    def _close_pools(self) -> None:
        self._reads.close()
        self._writes.close()

    @staticmethod
    def _configure(connection: psycopg.Connection[Any]) -> None:
        connection.adapters.register_dumper(bool, _BoolAsInt)

    @contextmanager
    def _begun(self, pool: Pool, begin: LiteralString, seconds: float) -> Iterator[psycopg.Connection[Row]]:
        """A connection of a pool, waited for so long, on which ``begin`` has run. Those that died while nobody used
        them are replaced."""
        for left in range(pool.max_size, -1, -1):
            connection = pool.getconn(timeout=seconds)
            try:
                connection.execute(_limited(begin))
                break
            except BaseException as error:
                pool.putconn(connection)
                if not left or not isinstance(error, _FAILURES):
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
        return self._written(lambda: self._begun(self._writes, _BEGIN_WRITE, TURN_SECONDS))

    @contextmanager
    def _written(
        self, begin: Callable[[], AbstractContextManager[psycopg.Connection[Row]]]
    ) -> Iterator[Transaction]:
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
        except _FAILURES as error:
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
                with psycopg.connect(self._direct_url, autocommit=True) as connection:
                    connection.execute(f"LISTEN {_CHANNEL}")
                    # Changes before LISTEN went unheard: a new number drops whatever was cached.
                    self._changed()
                    self._listening = True
                    while not self._closing.is_set():
                        for notice in connection.notifies(timeout=1, stop_after=1):
                            if notice.payload != self._name:
                                self._changed()
            except psycopg.Error:
                self._listening = False
                self._closing.wait(1)
        self._listening = False

    @contextmanager
    def _direct(self) -> Iterator[psycopg.Connection[Row]]:
        """A connection to the server itself, in a write transaction."""
        with psycopg.connect(
            self._direct_url, autocommit=True, connect_timeout=_CONNECT_SECONDS
        ) as connection:
            self._configure(connection)
            connection.execute(_limited(_BEGIN_WRITE))
            yield connection

    @contextmanager
    def migration(self) -> Iterator[Transaction]:
        try:
            with self._written(self._direct) as tx:
                # Without a limit: whoever migrates just now may take long.
                tx.run("SET LOCAL lock_timeout = 0")
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
