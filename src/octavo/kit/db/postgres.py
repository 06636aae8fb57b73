"""Transactions on PostgreSQL. Only ``databases.open_database`` uses this module.

Nothing relies on state that a connection keeps from one transaction to the next, so all transactions can go through
a pooler that assigns each transaction a different connection. Listening and migrations require the server itself.

Why reads can use cached rows -----------------------------

``CachedRows`` contains the results of statements in one snapshot, and is identified by the generation at which its
reads started. A read that can use it (``read_cached``) also starts at a generation, and uses only rows of that
generation.

*It sees one snapshot.* As long as everything it requests is cached, all its rows come from the snapshot of its one
``CachedRows``. When a row isn't cached, it starts a transaction, whose snapshot the server returns in the same message.
If the two snapshots are equal, exactly the same transactions have committed (an aborted transaction never will), and
the read continues. If they are different, there are two cases. If the read has used no cached rows yet, all its rows
will come from this snapshot. Otherwise, it raises StaleCachedRead: its caller starts again with a read that begins a
transaction immediately, so no read starts again twice. A transaction that has started never raises StaleCachedRead,
unless it runs on a replica that fails. A read starts before its thread writes, and doesn't raise StaleCachedRead after
it has written, so nothing is written twice.

*It sees this process's commits.* Each commit starts a new generation before its caller learns that it succeeded,
and a read that starts afterward doesn't use older rows.

*It sees other processes' commits as soon as their notice has arrived*, like all data that is cached under a
generation, including permissions. A read checks whether a notice has arrived at the socket that the listening
thread hasn't read yet. A snapshot is taken after the generation was looked up. Therefore, rows cached under a
generation can be outdated only by commits whose notice hasn't arrived yet, and they expire when the notice arrives.
For the same reason, the transaction may run on a replica that has applied the same commits (``replica``).

*Without a listener nothing is cached.* The generation counts as known for a few seconds after the server last
responded to the listener. When it responds, all earlier notices have arrived. This way, caching also stops if a
connection fails unnoticed. A listener that reconnects starts a new generation after LISTEN, which covers all
notices that it missed.
"""

from __future__ import annotations

import logging
import re
import select
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from secrets import token_hex

import psycopg
from psycopg import sql as pg_sql
from psycopg.pq.abc import PGresult

from octavo.errors import Damaged, TemporarilyUnavailable, Unavailable
from octavo.kit.observability.slowness import watched
from octavo.kit.observability.tracing import timed

from .cached_rows import NOTHING, CachedRows
from .database import (
    Cursor,
    Database,
    Engine,
    Live,
    LockTimeout,
    RetryTransaction,
    Row,
    StaleCachedRead,
    Transaction,
    disk_full_error,
    no_turn_error,
    turn_seconds,
    unreachable_error,
)
from .postgres_connections import (
    BEGIN_READ,
    CONNECT_SECONDS,
    DAMAGE,
    FAILURES,
    LEAST_SECONDS,
    Connection,
    Pool,
    configure,
    connect,
    in_one_line,
    make_pool,
)
from .replica import OUTCOMES, Replica, ServerPlace, place_of_server

log = logging.getLogger("octavo.db")
_PARAMETER = re.compile(r"'(?:[^']|'')*'|(?<![:\w]):([a-zA-Z_]\w*)|%")


def _to_postgres(sql: str) -> str:
    def replace(match: re.Match[str]) -> str:
        if match[0] == "%":
            return "%%"
        return f"%({match[1]})s" if match[1] else match[0].replace("%", "%%")

    return _PARAMETER.sub(replace, sql)


_statements: dict[str, str] = {}


def _statement(sql: str) -> str:
    """Return a statement in the driver's parameter syntax."""
    found = _statements.get(sql)
    if found is None:
        found = _to_postgres(sql)
        if len(_statements) < 10_000:
            _statements[sql] = found
    return found


def _measured(connection: Connection) -> Callable[[str, Mapping[str, object]], Cursor]:
    """Return the function that executes statements. It measures their duration if traces or the log require that."""
    return timed(watched(connection.execute, partial(_explain, connection)))


def _explain(connection: Connection, sql: str, parameters: Mapping[str, object]) -> list[str]:
    """Return the plan of a statement. A failure doesn't affect the transaction."""
    connection.execute("SAVEPOINT explaining")
    try:
        return [row[0] for row in connection.execute(f"EXPLAIN {sql}", parameters).fetchall()]
    finally:
        connection.execute("ROLLBACK TO SAVEPOINT explaining")


class _PostgresTransaction(Transaction):
    engine: Engine = "postgresql"

    def __init__(self, connection: Connection, caches: dict[object, object]) -> None:
        super().__init__(caches)
        self._connection = connection

    def _execute(self, sql: str, parameters: Mapping[str, object]) -> Cursor:
        return _measured(self._connection)(_statement(sql), parameters)

    def run_many(self, sql: str, rows: Iterable[Mapping[str, object]]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(_to_postgres(sql), rows)

    def script(self, sql: str) -> None:
        self._connection.execute(pg_sql.SQL(sql))


_RETRY = (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected)
_QUIET_SECONDS = 1
_CHANNEL = "octavo_changed"
_LIVE = " live"
"""End of the notice of a live commit."""
_DAMAGED = "damaged"
"""Notice that informs other processes that the database is damaged."""
_NOTIFY = f"""SELECT pg_notify('{_CHANNEL}', %s || ' ' || CAST(pg_current_xact_id() AS text) || %s),
                     CAST(CAST(pg_current_xact_id() AS text) AS bigint)"""
"""Statement that notifies other processes of a change, and includes the number of the transaction that made the
change."""
_MIGRATION = 0x6F637461766F  # "octavo" as a number: the advisory lock of migrations
_LOCK_TIMEOUT = "5s"
_HEARD_SECONDS = 5.0
"""Number of seconds after which the server's last response is considered outdated."""
_SNAPSHOT = "; SELECT pg_current_snapshot()"
# Sent in one message, and for this transaction alone, so that it also works through a proxy that shares
# connections.
_BEGIN_WRITE = "BEGIN; SET LOCAL lock_timeout = {:.0f}"


def _is_pooled(connection: Connection) -> bool:
    """Return whether there is a pooler between this process and the server. If there is one, the process ID in the
    greeting is different from the server's process ID."""
    row = connection.execute("SELECT pg_backend_pid()").fetchone()
    return row is not None and row[0] != connection.info.backend_pid


def _last_completed(snapshot: str) -> int:
    """Return the end (``xmax``) of a snapshot, which increases as transactions complete."""
    return int(snapshot.split(":")[1])


class _Rows:
    """Fetched rows with the interface of the driver's cursors."""

    __slots__ = ("_rows",)

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows

    @property
    def rowcount(self) -> int:
        return len(self._rows)

    def fetchone(self) -> Row | None:
        return self._rows[0] if self._rows else None

    def fetchall(self) -> list[Row]:
        return list(self._rows)


class _CachedRead(Transaction):
    """Read that uses cached rows, and starts a transaction if other rows are required."""

    engine: Engine = "postgresql"

    def __init__(self, database: PostgresDatabase, kept: CachedRows, generation: int, begins: bool) -> None:
        super().__init__(database.caches)
        self._database = database
        self._cached = kept
        self._generation = generation
        self._begins = begins
        self._has_taken = False
        self._connection: Connection | None = None
        self._replica: Replica | None = None
        """Replica that the transaction runs on; None for the server itself."""
        self.has_written = False
        """Whether the read's thread may have written in the meantime, in which case the read isn't started
        again."""

    def _execute(self, sql: str, parameters: Mapping[str, object]) -> Cursor:
        statement = _statement(sql)
        if isinstance(sql, Live):
            return self._ask(statement, parameters)
        key = (statement, *parameters.items())
        kept = self._cached.find(key)
        if kept is not None:
            self._has_taken = True
            return _Rows(kept)
        rows = self._ask(statement, parameters).fetchall()
        self._cached.store(key, rows)
        return _Rows(rows)

    def _ask(self, statement: str, parameters: Mapping[str, object]) -> Cursor:
        try:
            return _measured(self.begin())(statement, parameters)
        except psycopg.errors.QueryCanceled:
            raise  # The statement took too long, and would also take too long on the server.
        except (*FAILURES, *DAMAGE) as error:
            if self._replica is None:
                raise
            if isinstance(error, DAMAGE):
                log.error("database: the replica is damaged: %s", in_one_line(error))
            if self.has_written:
                raise unreachable_error(error) from error
            raise self._no_more() from None

    def run(self, sql: str, **parameters: object) -> int:
        # The server rejects statements that change data.
        return super().run(Live(sql), **parameters)

    def begin(self) -> Connection:
        """Start a transaction whose snapshot provides all remaining rows. Raises StaleCachedRead if the read has
        already returned rows from another snapshot, or if it isn't allowed to start a transaction."""
        if self._connection is not None:
            return self._connection
        if not self._begins:
            raise StaleCachedRead
        found = self._database.begin_at_replica(self._cached.snapshot if self._has_taken else None)
        if found is not None:
            self._replica, self._connection, snapshot = found
        else:
            self._connection, result = self._database.begin_read(_SNAPSHOT)
            snapshot = (result.get_value(0, 0) or b"").decode()
        if snapshot != self._cached.snapshot:
            kept = self._database.begin_cached(self._generation, snapshot)
            if self._has_taken:
                raise self._no_more()
            self._cached = kept
        return self._connection

    def _no_more(self) -> StaleCachedRead:
        """Prevent further queries, and return the exception that they raise."""
        self.end()
        self._connection, self._begins = None, False
        return StaleCachedRead()

    def end(self) -> None:
        if self._connection is None:
            return
        if self._replica is not None:
            self._replica.end(self._connection)
        else:
            self._database.end_read(self._connection)


class PostgresDatabase(Database):
    engine: Engine = "postgresql"
    row_errors = (psycopg.IntegrityError, psycopg.DataError, psycopg.errors.ProgramLimitExceeded)

    def __init__(self, url: str, connections: int, direct_url: str = "", replica_url: str = "") -> None:
        """Connect to PostgreSQL.

        ``connections``: the maximum number of connections, one of which is for listening. Half of the other
        connections are for writes, so that writes that wait for a row don't block readers. ``direct_url``: the URL
        of the server, if ``url`` points to a pooler. ``replica_url``: the URL of a streaming replica, which has as
        many connections as reads do.
        """
        super().__init__()
        self._url = url
        self._damaged = False
        self._most = 1 if direct_url else connections
        """Maximum number of this process's connections to the server itself."""
        self._direct_url = direct_url or url
        self._local = threading.local()
        writes = max(1, (connections - 1) // 2)
        reads, pooled = max(1, connections - 1 - writes), bool(direct_url)
        self._reads = make_pool("requests read", self._url, reads, pooled=pooled)
        self._writes = make_pool("changes are being written", self._url, writes, pooled=pooled)
        self._replica = Replica(replica_url, reads) if replica_url else None
        self._name = token_hex(8)
        try:
            self._open_pools(pooled=bool(direct_url))
        except BaseException:
            self._close_pools()
            raise
        self._place: ServerPlace | None = None
        """Identity of the server's history (``ServerPlace``); None if it isn't known."""
        self._known, self._knows = 0, False
        """Highest transaction number known to be committed, and whether it covers all commits that this process was
        notified of."""
        self._generation = self._commits = 0
        self._generation_lock = threading.Lock()
        self._heard_until = 0.0
        """Time until which the generation counts as known; 0 if there is no listener."""
        self._ear = -1
        """Socket of the listening thread."""
        self._lost_at: float | None = None
        """Time at which the server was found to be unreachable."""
        self._closing = threading.Event()
        self._listener: threading.Thread | None = None
        self._cached = NOTHING
        self._cached_lock = threading.Lock()

    def _open_pools(self, pooled: bool) -> None:
        """Open the pools. Raises Unavailable with the name of the incorrect setting if they can't be
        opened."""
        try:
            # Checked once without the pool, which would retry without reporting the problem.
            with connect(self._url) as connection:
                if pooled:
                    self._require_heard(connection)
                elif _is_pooled(connection):
                    raise Unavailable(
                        "OCTAVO_DATABASE_URL points to a connection pooler, which doesn't support change"
                        " notifications. Set OCTAVO_DATABASE_DIRECT_URL to the URL of the server itself."
                    )
            for pool in (self._reads, self._writes):
                pool.connections.open(wait=True, timeout=CONNECT_SECONDS)
        except psycopg.Error as error:
            raise Unavailable(f"OCTAVO_DATABASE_URL: {in_one_line(error)}") from None

    def _require_heard(self, connection: Connection) -> None:
        """Check that notices sent on this connection are received at the direct URL. That URL must point to the same
        database, and to the server itself."""
        name = "OCTAVO_DATABASE_DIRECT_URL"
        try:
            with connect(self._direct_url) as direct:
                if _is_pooled(direct):
                    raise Unavailable(
                        f"{name} points to a connection pooler. Use the URL of the server itself."
                    )
                direct.execute(f"LISTEN {_CHANNEL}")
                connection.execute(f"NOTIFY {_CHANNEL}, '{self._name}'")
                until = time.monotonic() + CONNECT_SECONDS
                while (left := until - time.monotonic()) > 0:
                    if any(
                        notice.payload == self._name for notice in direct.notifies(timeout=left, stop_after=1)
                    ):
                        return
        except psycopg.Error as error:
            raise Unavailable(f"{name}: {in_one_line(error)}") from None
        raise Unavailable(
            f"{name} and OCTAVO_DATABASE_URL point to different databases. Set both to URLs of the same"
            " database."
        )

    def is_damaged(self) -> bool:
        return self._damaged

    def _explained(self, error: psycopg.Error) -> Unavailable:
        """Return the error to raise if the statement didn't cause the failure."""
        if not isinstance(error, DAMAGE):
            return unreachable_error(error)
        if not self._damaged:
            self._damaged = True
            log.critical("database: %s: restore it from a backup", in_one_line(error))
            with suppress(psycopg.Error), connect(self._direct_url) as connection:
                connection.execute(f"NOTIFY {_CHANNEL}, '{_DAMAGED}'")
        return Damaged()

    def _require_tables(self, error: psycopg.Error) -> None:
        """Raise TemporarilyUnavailable if a table is missing because someone emptied or replaced the database after
        this process started."""
        with suppress(psycopg.Error), connect(self._direct_url) as connection:
            row = connection.execute("SELECT to_regclass('migrations')").fetchone()
            if row is not None and row[0] is not None:
                return
        log.error("database: %s: stop Octavo, and restore a backup", in_one_line(error))
        raise TemporarilyUnavailable(
            "The database is empty. Ask the server administrator to restore a backup."
        ) from error

    def _close_pools(self) -> None:
        self._reads.connections.close()
        self._writes.connections.close()
        if self._replica is not None:
            self._replica.close()

    def _take(self, pool: Pool, begin: str, seconds: float, more: str = "") -> tuple[Connection, PGresult]:
        """Return a connection from a pool with a started transaction, and the result of ``more``, within
        ``seconds``. Connections that failed while they were unused are replaced."""
        moment = time.monotonic()
        until = moment + seconds
        if self._lost_at is not None:
            until = min(until, max(moment + LEAST_SECONDS, self._lost_at + CONNECT_SECONDS))
        for left in range(pool.size, -1, -1):
            connection = pool.get(until - time.monotonic())
            try:
                return connection, connection.begin(begin, max(LEAST_SECONDS, until - time.monotonic()), more)
            except BaseException as error:
                pool.put(connection)
                if not left or time.monotonic() > until or not isinstance(error, FAILURES):
                    raise
        raise AssertionError("unreachable")

    @contextmanager
    def _begun(self, pool: Pool, begin: str, seconds: float) -> Iterator[Connection]:
        connection, _ = self._take(pool, begin, seconds)
        try:
            yield connection
        finally:
            pool.put(connection)

    def begin_read(self, more: str = "") -> tuple[Connection, PGresult]:
        return self._take(self._reads, BEGIN_READ, CONNECT_SECONDS, more)

    @property
    def replica_reads(self) -> dict[str, int]:
        if self._replica is None:
            return {}
        return {outcome: self._replica.counts[outcome] for outcome in OUTCOMES}

    def check_replica(self, seconds: float) -> str | None:
        if self._replica is None:
            return None
        try:
            with connect(self._direct_url) as server:
                place = place_of_server(server)
                row = server.execute("SELECT pg_current_wal_flush_lsn()").fetchone()
        except psycopg.Error as error:
            raise unreachable_error(error) from error
        assert row is not None
        return self._replica.check(place, row[0], seconds)

    def begin_at_replica(self, snapshot: str | None) -> tuple[Replica, Connection, str] | None:
        """Start a read on the replica, and return the replica, the connection, and the snapshot; None if that isn't
        possible. ``snapshot``: the only acceptable snapshot, or None for any snapshot."""
        if self._replica is None or self._place is None or not self._knows:
            return None
        begun = self._replica.begin(self._place, self._known, snapshot)
        return (self._replica, *begun) if begun is not None else None

    def end_read(self, connection: Connection) -> None:
        try:
            if not connection.broken:
                connection.patience = CONNECT_SECONDS
                connection.send("ROLLBACK")
        finally:
            self._reads.put(connection)

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        current = getattr(self._local, "read", None)
        if current is not None:
            yield current
            return
        try:
            generation = self._current_generation()
            connection, _ = self.begin_read()
            self._local.generation = generation
            self._local.read = _PostgresTransaction(connection, self.caches)
            try:
                yield self._local.read
            finally:
                self._local.read = None
                self.end_read(connection)
        except psycopg.errors.UndefinedTable as error:
            self._require_tables(error)
            raise
        except (*FAILURES, *DAMAGE) as error:
            raise self._explained(error) from error

    @contextmanager
    def read_cached(self, begins: bool = True) -> Iterator[Transaction]:
        generation = self._current_generation()
        if generation is None or self._has_news() or getattr(self._local, "read", None) is not None:
            if not begins:
                raise StaleCachedRead
            with self.read() as tx:
                yield tx
            return
        kept = self._cached if self._cached.generation == generation else NOTHING
        if kept is NOTHING and not begins:
            raise StaleCachedRead
        read = _CachedRead(self, kept, generation, begins)
        self._local.generation = generation
        self._local.read = read
        try:
            try:
                yield read
            finally:
                self._local.read = None
                read.end()
        except psycopg.errors.UndefinedTable as error:
            self._require_tables(error)
            raise
        except (*FAILURES, *DAMAGE) as error:
            raise self._explained(error) from error

    def begin_cached(self, generation: int, snapshot: str) -> CachedRows:
        """Return the row cache for this snapshot. All reads that started at this generation share it."""
        with self._cached_lock:
            kept = self._cached
            if kept.generation == generation and kept.snapshot == snapshot:
                return kept
            made = CachedRows(generation, snapshot)
            if kept.generation < generation or (
                kept.generation == generation and _last_completed(kept.snapshot) <= _last_completed(snapshot)
            ):
                self._cached = made
            return made

    def _has_news(self) -> bool:
        """Return whether a message has arrived that the listening thread hasn't read yet."""
        poll = select.poll()
        poll.register(self._ear, select.POLLIN)
        return bool(poll.poll(0))

    def write(self, *, live: bool = False) -> AbstractContextManager[Transaction]:
        read = getattr(self._local, "read", None)
        if isinstance(read, _CachedRead):
            read.begin()
            read.has_written = True
        seconds = turn_seconds()
        begin = partial(self._begun, self._writes, _BEGIN_WRITE.format(seconds * 1000), seconds)
        return self._written(begin, live)

    @contextmanager
    def _written(
        self, begin: Callable[[], AbstractContextManager[Connection]], live: bool = False
    ) -> Iterator[Transaction]:
        """Run a write transaction on a connection. ``begin``: a function that returns the connection with a started
        transaction. ``live``: see ``write``."""
        if self._damaged:
            raise Damaged
        try:
            with begin() as connection:
                transaction = _PostgresTransaction(connection, self.caches)
                transaction.live = live
                try:
                    yield transaction
                    notice = (self._name, _LIVE if transaction.live else "")
                    row = connection.execute(_NOTIFY, notice).fetchone()
                except BaseException:
                    if not connection.broken:
                        connection.execute("ROLLBACK")
                    raise
                try:
                    connection.execute("COMMIT")
                except FAILURES:
                    self._treat_as_foreign()
                    raise
        except _RETRY as error:
            raise RetryTransaction(str(error)) from error
        except psycopg.errors.LockNotAvailable as error:
            raise no_turn_error() from error
        except psycopg.errors.DiskFull as error:
            raise disk_full_error(error) from error
        except psycopg.errors.UndefinedTable as error:
            self._require_tables(error)
            raise
        except (*FAILURES, *DAMAGE, psycopg.errors.ReadOnlySqlTransaction) as error:
            # A server accepts no writes while it is a standby of another one or its disk is full.
            raise self._explained(error) from error
        assert row is not None
        # Don't wait for the process's own notice, so that a thread reads its own writes.
        self._changed(row[1], transaction.live)
        for effect in transaction._after_commit:
            effect()

    def _start_listening(self) -> None:
        if self._listener is None:
            with self._generation_lock:
                if self._listener is None:
                    self._listener = threading.Thread(target=self._listen, daemon=True, name="octavo-listen")
                    self._listener.start()

    def commits(self) -> int | None:
        self._start_listening()
        return self._commits if time.monotonic() < self._heard_until else None

    def generation(self) -> int | None:
        self._start_listening()
        if getattr(self._local, "read", None) is not None:
            begun_with: int | None = self._local.generation
            return begun_with
        return self._current_generation()

    def _current_generation(self) -> int | None:
        return self._generation if time.monotonic() < self._heard_until else None

    def _changed(self, transaction: int = 0, live: bool = False) -> None:
        """Record a commit. ``transaction``: its number; 0 if it is unknown. ``live``: see ``write``."""
        with self._generation_lock:
            self._known = max(self._known, transaction)
            self._commits += 1
            if not live:
                self._generation += 1

    def _treat_as_foreign(self) -> None:
        """Treat this transaction like a transaction of another process, because it is unknown whether it has been
        or will be committed."""
        self._name = token_hex(8)
        self._changed()

    def _receive_notices(self, connection: Connection, seconds: float) -> None:
        for notice in connection.notifies(timeout=seconds, stop_after=1):
            name, _, transaction = notice.payload.removesuffix(_LIVE).partition(" ")
            if name == _DAMAGED:
                self._damaged = True
            elif name != self._name:
                # Older versions send no number.
                self._knows = self._knows and transaction.isdigit()
                live = notice.payload.endswith(_LIVE)
                self._changed(int(transaction) if transaction.isdigit() else 0, live)

    def _check_server(self, connection: Connection) -> None:
        """Check that the server responds. If there is a replica, also determine the latest completed transaction."""
        if self._place is None:
            connection.execute("SELECT 1")
            return
        row = connection.execute(
            "SELECT CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS text) AS bigint)"
        ).fetchone()
        assert row is not None
        with self._generation_lock:
            self._known, self._knows = max(self._known, row[0] - 1), True

    def _find_place(self, connection: Connection) -> ServerPlace | None:
        if self._replica is None:
            return None
        try:
            return place_of_server(connection)
        except psycopg.ProgrammingError as error:
            log.warning("database: the replica isn't used: %s", in_one_line(error))
            return None

    def _listen(self) -> None:
        while not self._closing.is_set():
            try:
                with connect(self._direct_url, self._most) as connection:
                    connection.execute(f"LISTEN {_CHANNEL}")
                    self._knows, self._place = False, self._find_place(connection)
                    self._check_server(connection)
                    # Changes before LISTEN were missed: a new number invalidates all cached values.
                    self._changed()
                    self._ear, self._lost_at = connection.fileno(), None
                    self._heard_until = time.monotonic() + _HEARD_SECONDS
                    while not self._closing.is_set():
                        self._receive_notices(connection, _QUIET_SECONDS)
                        asked = time.monotonic()
                        if asked > self._heard_until - _HEARD_SECONDS / 2:
                            # A server that vanished would never send anything.
                            self._check_server(connection)
                            self._receive_notices(connection, 0)  # Notices that arrived before the response.
                            self._heard_until = asked + _HEARD_SECONDS
            except psycopg.Error as error:
                if self._heard_until or self._lost_at is None:
                    log.warning("database: change notifications aren't received: %s", in_one_line(error))
                    self._lost_at = time.monotonic()
                self._heard_until = 0.0
                self._closing.wait(_QUIET_SECONDS)
        self._heard_until = 0.0

    @contextmanager
    def _direct(self) -> Iterator[Connection]:
        """Return a connection to the server itself, in a write transaction."""
        with connect(self._direct_url) as connection:
            configure(connection)
            connection.begin(_BEGIN_WRITE.format(0), CONNECT_SECONDS)
            yield connection

    @contextmanager
    def migration(self) -> Iterator[Transaction]:
        try:
            with self._written(self._direct) as tx:
                # Without a limit: a migration in another process may take a long time.
                tx.run("SET LOCAL statement_timeout = 0")
                tx.value(Live("SELECT pg_advisory_xact_lock(:key)"), key=_MIGRATION)
                # With a limit: a transaction that waits for a table blocks all later users of it.
                tx.run(f"SET LOCAL lock_timeout = '{_LOCK_TIMEOUT}'")
                yield tx
        except TemporarilyUnavailable as error:
            if not isinstance(error.__cause__, psycopg.errors.LockNotAvailable):
                raise
            raise LockTimeout(str(error.__cause__)) from error

    def close(self) -> None:
        self._closing.set()
        self._close_pools()
