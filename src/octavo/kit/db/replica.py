"""Streaming replica, which answers a read if the results would be the same as the server's.

A read can start on a replica if the replica's snapshot contains every transaction that this process knows to have
been committed: its own, and those whose notice has arrived (``postgres.PostgresDatabase``). A read with cached rows
has the same guarantee. Therefore, no matter how far a replica is behind, people see their own changes in their next
read, and access ends immediately when it is revoked. If the replica lags, is unreachable, or follows another
server, reads use the server itself.

Why the snapshot is sufficient ------------------------------

Transaction numbers grow. A replica's snapshot contains two of them, ``xmin:xmax``: all transactions below ``xmin``
have ended, and none from ``xmax`` on has started. Unlike the server's snapshot, it doesn't list the transactions in
between, so a replica is used only if there are none. On both servers, ``N:N`` means that all transactions below N
have ended and no others have started, so rows cached from one server are valid for the other. The snapshot is up to
date if N is greater than the highest number known to be committed. The snapshot is checked when the transaction
starts; the progress of a replica is never remembered.

Transaction numbers are comparable only within one history. After a failover, the new server and a replica of the
old server may have assigned the same numbers to different transactions. Therefore, both report their cluster, their
timeline, and their database, which must match.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from typing import Literal, NamedTuple

import psycopg
from psycopg_pool import PoolTimeout

from octavo.kit.scheduling.shares import Busy

from .postgres_connections import BEGIN_READ, FAILURES, Connection, connect, in_one_line, make_pool

log = logging.getLogger("octavo.db")

Outcome = Literal["answered", "behind", "away"]
OUTCOMES: tuple[Outcome, ...] = ("answered", "behind", "away")

_WAIT_SECONDS = 0.02
"""Number of seconds that a read waits for a connection before it uses the server instead."""
_ANSWER_SECONDS = 0.5
"""Number of seconds within which the replica must start a read."""
_AWAY_SECONDS = 2.0
"""Number of seconds for which a replica isn't used after it fails to respond."""
_BEHIND_SECONDS = 0.005
"""Number of seconds for which a replica isn't used if it hasn't reached the state that a read needs. A replica is
usually only a few milliseconds behind."""
_OTHER = "it isn't a replica of the server in OCTAVO_DATABASE_URL, or hasn't caught up with it yet"
_SNAPSHOT = "; SELECT pg_is_in_recovery(), pg_current_snapshot()"


class ServerPlace(NamedTuple):
    """Identity of a history of transactions. Two servers with the same identity have assigned the same
    numbers to the same transactions."""

    cluster: str
    timeline: int
    database: str


def place_of_server(connection: Connection) -> ServerPlace:
    """Return the identity of the transaction history of a server that accepts writes."""
    row = connection.execute(
        """SELECT (SELECT system_identifier FROM pg_control_system())::text,
                  substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8), current_database()"""
    ).fetchone()
    assert row is not None
    return ServerPlace(row[0], int(row[1], 16), row[2])


def place_of_replica(connection: Connection) -> ServerPlace:
    """Return the identity of the transaction history that a replica follows. After a failover, the replica reports
    the change only at its next restart point."""
    row = connection.execute(
        """SELECT (SELECT system_identifier FROM pg_control_system())::text,
                  (SELECT timeline_id FROM pg_control_checkpoint()), current_database()"""
    ).fetchone()
    assert row is not None
    return ServerPlace(*row)


class Replica:
    """Replica for the reads of a process. ``connections``: the maximum number of connections. It is
    thread-safe."""

    def __init__(self, url: str, connections: int) -> None:
        self._url = url
        self._pool = make_pool("requests are reading from the replica", url, connections)
        self._rests_until = 0.0
        self._said = ""
        """Last state that was logged; empty while the replica is usable."""
        self._is_open = False
        self._answered_at = -_AWAY_SECONDS
        """Time at which the replica last started a read, by the monotonic clock."""
        self.counts: Counter[Outcome] = Counter()

    def close(self) -> None:
        self._pool.connections.close()

    def check(self, place: ServerPlace, reached: str, seconds: float) -> str:
        """Return the reason the replica can't answer reads, or an empty string if it can. ``reached``: the log position
        that the replica must have reached."""
        until = time.monotonic() + seconds
        try:
            with connect(self._url) as connection:
                if place_of_replica(connection) != place:
                    return _OTHER
                while True:
                    row = connection.execute(
                        "SELECT pg_is_in_recovery(), pg_last_wal_replay_lsn() >= CAST(%s AS pg_lsn)",
                        (reached,),
                    ).fetchone()
                    assert row is not None
                    if not row[0]:
                        return _OTHER
                    if row[1]:
                        return ""
                    if time.monotonic() > until:
                        return f"it was still behind the server after {seconds:.0f} s; reads use the server"
                    time.sleep(0.05)
        except psycopg.Error as error:
            return f"{in_one_line(error)}; reads use the server"

    def begin(self, place: ServerPlace, known: int, snapshot: str | None) -> tuple[Connection, str] | None:
        """Start a read, and return its connection and its snapshot; None if the server must be used.

        ``place``: the identity of the server's history. ``known``: the highest transaction known to be committed.
        ``snapshot``: the only acceptable snapshot, or None for any snapshot.
        """
        if time.monotonic() < self._rests_until:
            self.counts["away" if self._said else "behind"] += 1
            return None
        if not self._is_open:
            # The pool is opened by the first read, because commands never read from the replica.
            self._is_open = True
            self._pool.connections.open(wait=False)
        try:
            connection = self._pool.get(_WAIT_SECONDS)
        except Busy:
            self.counts["behind"] += 1
            return None
        except FAILURES as error:
            # All of its connections are in use, or one more is being opened: other reads are answered in the
            # meantime.
            if isinstance(error, PoolTimeout) and time.monotonic() - self._answered_at < _AWAY_SECONDS:
                self._rest()
            else:
                self._leave(in_one_line(error))
            return None
        try:
            found = self._begin(connection, place)
        except FAILURES as error:
            connection.close()
            self._pool.put(connection)
            self._leave(in_one_line(error))
            return None
        except BaseException:
            connection.close()
            self._pool.put(connection)
            raise
        if found is None:
            # Checked again, because servers change their roles without closing connections.
            connection.close()
            self._pool.put(connection)
            self._leave(_OTHER)
            return None
        self._answered_at = time.monotonic()
        if self._said:
            log.warning("database: the replica is used again")
            self._said = ""
        least, _, rest = found.partition(":")
        exact = rest.partition(":")[0] == least
        if not exact or int(least) <= known or (snapshot is not None and snapshot != found):
            self.end(connection)
            self._rest()
            return None
        self.counts["answered"] += 1
        return connection, found

    @staticmethod
    def _begin(connection: Connection, place: ServerPlace) -> str | None:
        """Return the snapshot of a started transaction; None if its transaction IDs can't be compared."""
        connection.patience = _ANSWER_SECONDS
        if connection.place is None:
            connection.place = place_of_replica(connection)
        if connection.place != place:
            return None
        result = connection.begin(BEGIN_READ, _ANSWER_SECONDS, _SNAPSHOT)
        if result.get_value(0, 0) != b"t":
            return None
        return (result.get_value(0, 1) or b"").decode()

    def end(self, connection: Connection) -> None:
        """End a read. A failure is only logged, because the rows have already been read."""
        try:
            if not connection.broken:
                connection.patience = _ANSWER_SECONDS
                connection.send("ROLLBACK")
        except FAILURES as error:
            connection.close()
            self._leave(in_one_line(error))
        finally:
            self._pool.put(connection)

    def _rest(self) -> None:
        """Stop using the replica for a few milliseconds, because it is behind."""
        self.counts["behind"] += 1
        self._rests_until = time.monotonic() + _BEHIND_SECONDS

    def _leave(self, why: str) -> None:
        """Stop using the replica for ``_AWAY_SECONDS``, because it is unreachable or can't be used. The reason is
        logged only once."""
        self.counts["away"] += 1
        self._rests_until = time.monotonic() + _AWAY_SECONDS
        if not self._said:
            log.warning("database: the replica isn't used; reads go to the server: %s", why)
        self._said = why
