"""Transactions on SQLite and PostgreSQL. They are started only by a ``Database``, with methods such as ``read`` and
``write``.

Each SQL statement is written once for both engines, with ``:name`` parameters. List parameters, written as ``IN
:ids``, are expanded. Rows are returned as tuples. All differences between the engines are in this file, except
those for search.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from contextvars import ContextVar
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal, Protocol
from weakref import WeakSet

import msgspec

from octavo.errors import Damaged, DiskFull, TemporarilyUnavailable
from octavo.kit.ids import new_id
from octavo.kit.observability.slowness import watched
from octavo.kit.observability.tracing import timed
from octavo.kit.private_files import close_file
from octavo.kit.scheduling import deadlines
from octavo.kit.scheduling.owners import NOBODY, current_owner
from octavo.kit.scheduling.permits import pause, without
from octavo.kit.scheduling.process_turns import ProcessTurns
from octavo.kit.scheduling.shares import Busy, Shares

Engine = Literal["sqlite", "postgresql"]
Row = tuple[Any, ...]

_SPREAD = re.compile(r"\bIN :(\w+)")


log = logging.getLogger("octavo.db")

TURN_SECONDS = 10.0
"""Number of seconds that a write waits for its turn. After that, it fails, and the caller has to try again."""
_LEAST_TURN_SECONDS = 1.0
"""Number of seconds that a write waits for its turn if its request has already waited ``TURN_SECONDS`` for a
thread. A longer wait would delay other requests."""

_LEAST_PROCESS_SECONDS = 0.1
"""Number of seconds that a write waits for its process's turn if nearly all of the available time was spent waiting
for threads of this process."""
_THREADS = 1000
"""Number greater than the number of threads in any process."""
_LATELY = 0.001
"""Number of seconds for which the last known number of other processes' commits can be reused."""
REQUEST_SECONDS = 60.0
"""Time limit in seconds for one statement of a request, if the engine can stop statements."""
_patience: ContextVar[float | None] = ContextVar("octavo_patience", default=None)
_waited: ContextVar[float] = ContextVar("octavo_waited", default=0.0)


class statements_within:  # noqa: N801
    """Context manager that limits the duration of each statement in the transactions of its block, because a client
    is waiting. ``waited``: the seconds already spent waiting, which shorten the time that a write waits for its
    turn."""

    # Each request enters one of these. Entering an instance takes a third of the time of a generator function.
    __slots__ = ("_before", "_seconds", "_token", "_waited")

    def __init__(self, seconds: float, waited: float = 0.0) -> None:
        self._seconds = seconds
        self._waited = waited

    def __enter__(self) -> None:
        self._token, self._before = _patience.set(self._seconds), _waited.set(self._waited)

    def __exit__(self, *error: object) -> None:
        _patience.reset(self._token)
        _waited.reset(self._before)


def turn_seconds() -> float:
    """Return the number of seconds that a write starting now waits for its turn."""
    return max(min(_LEAST_TURN_SECONDS, TURN_SECONDS), TURN_SECONDS - _waited.get())


def statement_seconds() -> float | None:
    """Return the time limit in seconds for a statement starting now; None if there is no limit. Jobs are
    limited by their deadline, and commands have no limit."""
    left = deadlines.left()
    limits = [limit for limit in (_patience.get(), left) if limit is not None]
    return max(0.001, min(limits)) if limits else None


def unreachable_error(error: Exception) -> TemporarilyUnavailable:
    """Return the error to raise if the engine fails for a reason unrelated to the statement, and log the reason."""
    log.error("database: %s", error)
    return TemporarilyUnavailable("The database can't be reached right now. Try again in a moment.")


_FULL_SECONDS = 30.0
_full_until = [0.0]


def disk_full_error(error: Exception) -> DiskFull:
    """Return the error to raise if there is no disk space for the data to be written, and log the reason."""
    log.error("database: %s", error)
    _full_until[0] = time.monotonic() + _FULL_SECONDS
    return DiskFull()


def was_full_recently() -> bool:
    """Return whether a recent write by this process failed because the disk was full."""
    return time.monotonic() < _full_until[0]


def taking_turns(name: str, size: int) -> Shares:
    """Return the slots that the threads of a process share to read or write a database. A quarter of the slots are
    reserved for organizations that don't hold any. The slots don't limit the number of waiting threads, because the
    number of threads is already limited."""
    reserved = size // 4 if size >= 4 else min(1, size - 1)
    most = max(1, size - reserved)
    return Shares(name, size, each=(most, most), waiting=(_THREADS, _THREADS), reserved=reserved)


def no_turn_error() -> TemporarilyUnavailable:
    """Return the error to raise if a write waited too long for its turn because of other writes."""
    return TemporarilyUnavailable(
        "Too many changes are being written right now. Nothing was changed. Try again in a moment."
    )


class RetryTransaction(Exception):
    """Raised if a transaction conflicts with another transaction (a deadlock or a serialization failure) and must be
    run again."""


class StaleCachedRead(Exception):
    """Raised if a read can't continue with cached rows. The code that started the read must start a new read."""


class LockTimeout(Exception):
    """Raised if another transaction held a lock for longer than a migration waits."""


def json_list(values: Iterable[str | int]) -> str:
    """Return a JSON list of values, the format of parameters for ``Transaction.given`` and ``Transaction.among``."""
    return msgspec.json.encode(list(values)).decode()


class Cursor(Protocol):
    """Common interface of both drivers' cursors."""

    @property
    def rowcount(self) -> int: ...
    def fetchone(self) -> Row | None: ...
    def fetchall(self) -> list[Row]: ...


class Live(str):
    """Statement whose rows depend on more than its parameters and the snapshot: for example, on a clock, random
    numbers, a sequence, or the state of the server. Its rows are never cached."""

    __slots__ = ()


class Transaction:
    """Open transaction on a database, which is the first parameter of every store function. It is valid only inside the
    ``with`` block that created it. ``live``: whether it is a live transaction (``Database.write``). Code that changes
    other rows after all sets this to False."""

    engine: Engine
    live = False

    def __init__(self, caches: dict[Any, Any]) -> None:
        self.caches = caches
        self._after_commit: list[Callable[[], None]] = []

    @cached_property
    def id(self) -> str:
        """Return the ID of this transaction. All audit events that the transaction records have this ID."""
        return new_id()

    def _execute(self, sql: str, parameters: Mapping[str, object]) -> Cursor:
        raise NotImplementedError

    def one(self, sql: str, **parameters: object) -> Row | None:
        """Return the first row, or None."""
        return self._execute(*_spread(sql, parameters)).fetchone()

    def all(self, sql: str, **parameters: object) -> list[Row]:
        return self._execute(*_spread(sql, parameters)).fetchall()

    def value(self, sql: str, **parameters: object) -> Any:
        """Return the first column of the first row, or None."""
        row = self.one(sql, **parameters)
        return row[0] if row else None

    def run(self, sql: str, **parameters: object) -> int:
        """Execute a statement and return the number of rows that it changed."""
        return self._execute(*_spread(sql, parameters)).rowcount

    def insert(self, table: str, /, **row: object) -> None:
        """Insert a row. Columns without a given value get their defaults."""
        self._execute(_insertion(table, tuple(row)), row)

    def run_many(self, sql: str, rows: Iterable[Mapping[str, object]]) -> None:
        raise NotImplementedError

    def script(self, sql: str) -> None:
        """Execute several statements without parameters, each ending at the end of a line (for migrations)."""
        raise NotImplementedError

    def after_commit(self, effect: Callable[[], None]) -> None:
        """Run ``effect`` after the transaction has been committed. Use this only to wake threads or to update
        caches of this process."""
        self._after_commit.append(effect)

    def given(self, name: str, *columns: str) -> str:
        """Return SQL for a table with these text columns. Its rows are the parameter ``name``: a JSON array
        of arrays or, for a single column, an array of strings (``json_list``)."""
        rows = columns[1:] != ()
        if self.engine == "sqlite":
            values = [f"json_extract(value, '$[{n}]')" if rows else "value" for n in range(len(columns))]
            source = f"json_each(:{name})"
        else:
            values = [f'{f"(value ->> {n})" if rows else "value"} COLLATE "C"' for n in range(len(columns))]
            elements = "jsonb_array_elements" if rows else "jsonb_array_elements_text"
            source = f"{elements}(CAST(:{name} AS jsonb)) AS given_{name}(value)"
        picked = (f"{value} AS {column}" for value, column in zip(values, columns, strict=True))
        return f"(SELECT {', '.join(picked)} FROM {source})"

    def among(self, name: str, type: Literal["TEXT", "BIGINT"] = "TEXT") -> str:
        """Return an SQL condition to place after a column. It matches if the column has one of the values in the
        parameter ``name`` (``json_list``). The SQL is the same for any number of values, and the index is read in one
        pass."""
        if self.engine == "sqlite":
            return f"IN (SELECT value FROM json_each(:{name}))"
        values = (
            f"SELECT CAST(value AS {type}) FROM jsonb_array_elements_text(CAST(:{name} AS jsonb)) AS g(value)"
        )
        return f"= ANY(ARRAY({values}))"

    @property
    def for_update(self) -> str:
        """Return SQL to append to a SELECT to lock its rows. It is empty on SQLite, because the whole transaction
        already holds the lock."""
        return " FOR UPDATE" if self.engine == "postgresql" else ""

    @property
    def skip_locked(self) -> str:
        return " FOR UPDATE SKIP LOCKED" if self.engine == "postgresql" else ""

    def wait_for_writers(self, table: str) -> None:
        """Wait until every transaction that has written to ``table`` so far has ended.

        New writers wait until this transaction ends, so do nothing else in it.
        """
        if self.engine == "postgresql":
            self._execute(f"LOCK TABLE {table} IN SHARE MODE", {})


@lru_cache(maxsize=512)
def _insertion(table: str, columns: tuple[str, ...]) -> str:
    values = ", ".join(f":{column}" for column in columns)
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({values})"


def _spread(sql: str, parameters: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    if "IN :" not in sql:
        return sql, parameters
    given, values = sql, dict(parameters)
    for match in _SPREAD.finditer(sql):
        name = match[1]
        if name in values:
            items: Sequence[Any] = list(values.pop(name))
            values.update({f"{name}_{i}": item for i, item in enumerate(items)})
            places = ", ".join([f":{name}_{i}" for i in range(len(items))]) or "NULL"
            sql = re.sub(rf"\bIN :{name}\b", f"IN ({places})", sql)
    return (Live(sql) if isinstance(given, Live) else sql), values


class Database:
    """Database that is read and changed in transactions. It is thread-safe."""

    engine: Engine
    row_errors: tuple[type[Exception], ...]
    """Exceptions that the engine raises for a row that it can't store or that violates a rule of the schema."""

    def __init__(self) -> None:
        self.caches: dict[Any, Any] = {}
        """Values read and computed from the database, by their declaration (``cache.OwnCache``)."""

    @property
    def replica_reads(self) -> dict[str, int]:
        """Return the number of reads by outcome: answered by the replica, answered by the server because the
        replica was behind, or made while the replica was unreachable. The result is empty if there is no replica."""
        return {}

    def check_replica(self, seconds: float) -> str | None:
        """Wait up to ``seconds`` for the replica to catch up with the server, and return the reason it doesn't
        answer reads. Return an empty string if the replica answers reads, and None if there is no replica."""
        return None

    def read(self) -> AbstractContextManager[Transaction]:
        """Start a read transaction with one snapshot. Inside another read by the same thread, join that read
        instead."""
        raise NotImplementedError

    def read_cached(self, begins: bool = True) -> AbstractContextManager[Transaction]:
        """Start a read that can use a replica or cached rows of earlier reads. Rows are cached until the next
        commit. The read still has only one snapshot.

        Use this only if the caller can repeat the read from the start: the read raises StaleCachedRead if it needs
        rows from a different snapshot than the rows that it has already returned. ``begins``: whether the read can
        start a transaction if rows aren't cached. If it can't, missing rows also raise StaleCachedRead.
        """
        return self.read()

    def write(self, *, live: bool = False) -> AbstractContextManager[Transaction]:
        """Start a write transaction, which commits at the end of the block and rolls back on any exception.

        ``live``: whether the transaction changes only rows that are always read with ``Live`` statements. Cached values
        then stay valid. Raises RetryTransaction if the transaction must be run again.
        """
        raise NotImplementedError

    def commits(self) -> int | None:
        """Return a number that increases with each commit by any process, including live ones; None if it can't be
        determined right now."""
        raise NotImplementedError

    def generation(self) -> int | None:
        """Return a number that increases with each commit by any process, except live ones; None if it can't be
        determined right now. On SQLite, live commits by other processes also increase it.

        All threads see the same numbers. Inside an open read, this is the number at the start of its snapshot, so
        values computed from the read can be cached under this number.
        """
        raise NotImplementedError

    def recent_generation(self) -> int | None:
        """Return a value of ``generation`` that is at most a millisecond old and no older than this process's last
        commit. Use this for responses that take less time to create than the generation takes to look up."""
        return self.generation()

    def shared_rows(self) -> object:
        """Return an object that identifies the cached rows that reads currently use; None if the engine doesn't cache
        rows. Values computed from these rows must not be used with newer ones, even at the same generation."""
        return None

    def is_damaged(self) -> bool:
        """Return whether the engine has detected that the database is damaged. After that, nothing is written."""
        return False

    def find_damage(self) -> list[str]:
        """Return the problems that the engine finds in its own structures, one line for each. This reads the whole
        database."""
        return []

    def migration(self) -> AbstractContextManager[Transaction]:
        """Start a write transaction that can change the schema. Migrations by other processes wait until it
        ends.

        Raises LockTimeout if another transaction holds a required lock for too long.
        """
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


# --- SQLite ---------------------------------------------------------------------------------------------


_FAILURES = frozenset(
    (
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_READONLY,
    )
)
"""Result codes for problems with the disk or other processes, not with the statement."""
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_MOST_DAMAGE = 20
"""Maximum number of lines in a damage report."""


def _is_busy(error: BaseException | None) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def is_damage(error: Exception) -> bool:
    """Return whether the engine reports that the database is damaged. Damage that affects only a word index doesn't
    count, because the index can be rebuilt."""
    code = getattr(error, "sqlite_errorcode", 0)
    if code & 0xFF in _DAMAGE:
        return code != sqlite3.SQLITE_CORRUPT_VTAB
    # The driver raises this without a code. All texts were UTF-8 when they were written.
    return isinstance(error, sqlite3.OperationalError) and str(error).startswith("Could not decode to UTF-8")


class _SqliteTransaction(Transaction):
    engine: Engine = "sqlite"

    def __init__(self, connection: sqlite3.Connection, caches: dict[object, object]) -> None:
        super().__init__(caches)
        self._connection = connection
        self._execute = timed(watched(connection.execute, self._explain))  # type: ignore[method-assign,assignment]

    def _explain(self, sql: str, parameters: Mapping[str, object]) -> list[str]:
        """Return the plan of a statement."""
        return [row[3] for row in self._connection.execute(f"EXPLAIN QUERY PLAN {sql}", parameters)]

    def run_many(self, sql: str, rows: Iterable[Mapping[str, object]]) -> None:
        self._connection.executemany(sql, rows)

    def script(self, sql: str) -> None:
        # Not executescript(), which would commit the transaction so far.
        statement = ""
        for line in sql.splitlines(keepends=True):
            statement += line
            if sqlite3.complete_statement(statement):
                self._connection.execute(statement)
                statement = ""
        self._connection.execute(statement)


class _Connection(sqlite3.Connection):
    """Connection that supports weak references, so that it is closed when the thread that opened it ends."""


def _data_version(connection: sqlite3.Connection) -> int:
    """Return the number of commits by other connections."""
    return int(connection.execute("PRAGMA data_version").fetchone()[0])


class _SqliteRead(AbstractContextManager[Transaction]):
    """Read transaction of this thread. It is a class because a request starts several reads, and entering an
    instance takes a third of the time of entering a generator function."""

    __slots__ = ("_database",)

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    def __enter__(self) -> Transaction:
        return self._database._begin_read()

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            self._database._end_read()
        except sqlite3.Error as ending:
            error = error or ending
        if isinstance(error, sqlite3.Error):
            raise self._database._explained(error) from error


class SqliteDatabase(Database):
    engine: Engine = "sqlite"
    row_errors = (sqlite3.IntegrityError, sqlite3.DataError, OverflowError)

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path
        Path(path).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # SQLite gives its other files the mode of the database; files of an older version may be readable by
        # others. An existing file is not opened here: closing it would drop the locks of this process, and
        # another process would then remove the log that is in use.
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        for suffix in ("", "-wal", "-shm"):
            close_file(Path(path + suffix))
        self._local = threading.local()
        self._damaged = False
        self._mark = Path(path + "-damaged")
        """Path of the marker file for a damaged database. Other processes, and this server after a restart, check
        it."""
        self._turns = taking_turns("changes are being written", 1)
        self._of_processes = ProcessTurns(path)
        self._writing: int | None = None
        """Thread that is currently writing."""
        self._all: WeakSet[_Connection] = WeakSet()
        self._all_lock = threading.Lock()
        """Lock that is separate from the lock for writes, so that new readers don't wait for a writer."""
        self._writer = self._connect()
        self._file = os.stat(path)
        self._busy_timeout = 0
        # data_version differs between connections, so one of them is used for all threads.
        self._watcher = self._connect()
        self._watcher_lock = threading.Lock()
        self._counted = (0.0, 0)
        """Time until which the generation is considered known, and the value of the generation."""
        self._commits = 0
        """Last known number of commits."""
        self._live = (0, 0)
        """Number of commits after this process's last live commit, and the generation, which is still the same."""
        if self._mark.exists() and not self.find_damage():
            # The database has been restored since.
            self._mark.unlink(missing_ok=True)

    def _explained(self, error: sqlite3.Error) -> Exception:
        code = getattr(error, "sqlite_errorcode", 0)
        if is_damage(error):
            if not self._damaged:
                self._damaged = True
                log.critical("database: %s: restore it from a backup", error)
                with suppress(OSError):
                    self._mark.touch(0o600)
            return Damaged()
        if code & 0xFF == sqlite3.SQLITE_FULL:
            return disk_full_error(error)
        return unreachable_error(error) if code & 0xFF in _FAILURES else error

    def is_damaged(self) -> bool:
        if not self._damaged and self._is_gone():
            self._damaged = True
            log.critical("database: %s was deleted or replaced; restore it from a backup", self._path)
        self._damaged = self._damaged or self._mark.exists()
        return self._damaged

    def _is_gone(self) -> bool:
        """Return whether the file was deleted or replaced. SQLite would continue to write to the old file, and that
        data would be lost when the process ends."""
        try:
            return not os.path.samestat(os.stat(self._path), self._file)
        except OSError:
            return True

    def find_damage(self) -> list[str]:
        with closing(sqlite3.connect(self._path)) as connection:
            try:
                rows = connection.execute(f"PRAGMA integrity_check({_MOST_DAMAGE})").fetchall()
            except sqlite3.Error as error:
                return [str(error)]
        lines = [line for row in rows for line in str(row[0]).splitlines() if not line.startswith("***")]
        return [] if lines == ["ok"] else lines[:_MOST_DAMAGE]

    def _connect(self) -> _Connection:
        connection = sqlite3.connect(
            self._path, isolation_level=None, check_same_thread=False, timeout=60, factory=_Connection
        )
        for pragma in (
            "journal_mode=WAL",
            "synchronous=FULL",
            "foreign_keys=ON",
            "busy_timeout=60000",
            "temp_store=MEMORY",
            "cache_size=-16000",
            "mmap_size=268435456",
        ):
            connection.execute(f"PRAGMA {pragma}")
        with self._all_lock:
            self._all.add(connection)
        return connection

    def _reader(self) -> Any:
        local = self._local
        if not hasattr(local, "connection"):
            if self._is_gone():
                raise Damaged  # The connection would create an empty database.
            local.connection = self._connect()
            local.connection.execute("PRAGMA query_only=ON")
            local.transaction = _SqliteTransaction(local.connection, self.caches)
            local.depth = 0
        return local

    def read(self) -> AbstractContextManager[Transaction]:
        return _SqliteRead(self)

    def _begin_read(self) -> Transaction:
        try:
            local = self._reader()
            if local.depth == 0:
                pause()
                local.generation = self._count_commits()
                local.connection.execute("BEGIN")
        except sqlite3.Error as error:
            raise self._explained(error) from error
        local.depth += 1
        transaction: Transaction = local.transaction
        return transaction

    def _end_read(self) -> None:
        local = self._local
        local.depth -= 1
        if local.depth == 0:
            try:
                local.connection.execute("COMMIT")
            except sqlite3.Error:
                local.connection.rollback()
                raise

    @contextmanager
    def write(self, *, live: bool = False) -> Iterator[Transaction]:
        if self._writing == threading.get_ident():
            raise RuntimeError("write transactions can't be nested")
        if self.is_damaged():
            raise Damaged
        seconds = turn_seconds()
        until = time.monotonic() + seconds
        with without():
            try:
                end_turn = self._turns.wait(current_owner(), seconds)
            except Busy:
                raise no_turn_error() from None
            try:
                if not self._of_processes.take(max(until - time.monotonic(), _LEAST_PROCESS_SECONDS)):
                    raise no_turn_error()
                try:
                    self._writing = threading.get_ident()
                    transaction = yield from self._written(int(seconds * 1000), live)
                    with self._watcher_lock:
                        self._counted = (0.0, 0)
                finally:
                    self._writing = None
                    self._of_processes.release()
            finally:
                end_turn()
            for effect in transaction._after_commit:
                effect()

    def _written(self, busy_timeout: int, live: bool) -> Generator[Transaction, None, Transaction]:
        """Run a write transaction. ``busy_timeout``: the time in milliseconds to wait while another process is
        writing. ``live``: see ``write``."""
        try:
            if busy_timeout != self._busy_timeout:
                self._writer.execute(f"PRAGMA busy_timeout={busy_timeout}")
                self._busy_timeout = busy_timeout
            self._writer.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            raise (no_turn_error() if _is_busy(error) else self._explained(error)) from error
        transaction = _SqliteTransaction(self._writer, self.caches)
        transaction.live = live
        try:
            before = (self._count_commits(), self._commits, _data_version(self._writer)) if live else None
            yield transaction
            self._writer.execute("COMMIT")
            if before is not None and transaction.live:
                self._keep_generation(*before)
        except BaseException as error:
            with suppress(sqlite3.Error):
                self._writer.rollback()
            if isinstance(error, sqlite3.Error):
                raise self._explained(error) from error
            raise
        return transaction

    def commits(self) -> int | None:
        with self._watcher_lock:
            return _data_version(self._watcher)

    def generation(self) -> int | None:
        local = self._reader()
        return local.generation if local.depth else self._count_commits()

    def recent_generation(self) -> int | None:
        until, generation = self._counted
        return generation if time.monotonic() < until else self.generation()

    def _count_commits(self) -> int:
        # data_version counts the commits of all other connections, including the writer's.
        with self._watcher_lock:
            self._commits = _data_version(self._watcher)
            generation = self._live[1] if self._commits == self._live[0] else self._commits
            self._counted = (time.monotonic() + _LATELY, generation)
            return generation

    def _keep_generation(self, generation: int, commits: int, others: int) -> None:
        """Keep the generation after a live commit. ``commits``: the number of commits before it. ``others``: the number
        of commits by other processes, which must still be the same."""
        with self._watcher_lock:
            # If another thread has already counted this commit, it is a new generation.
            is_unseen = self._commits == commits
            self._commits = _data_version(self._watcher)
            if is_unseen and _data_version(self._writer) == others:
                self._live = (self._commits, generation)

    @contextmanager
    def migration(self) -> Iterator[Transaction]:
        try:
            # One process writes at a time; the others wait as long as busy_timeout.
            with self.write() as tx:
                yield tx
        except TemporarilyUnavailable as error:
            if not _is_busy(error.__cause__):
                raise
            raise LockTimeout(str(error.__cause__)) from error

    def close(self) -> None:
        with self._turns.place(NOBODY, threading.TIMEOUT_MAX), self._all_lock:
            for connection in self._all:
                connection.close()
            self._all.clear()
            self._of_processes.close()
