"""A streaming replica serves reads without a visible difference."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg_pool import PoolTimeout

from clusters import Server, servers
from octavo.errors import Unavailable
from octavo.kit.db.database import Database, StaleCachedRead, Transaction
from octavo.kit.db.databases import open_database
from octavo.kit.db.postgres import PostgresDatabase, _CachedRead
from octavo.kit.db.replica import OUTCOMES, Replica, ServerPlace
from octavo.settings import SettingsError, load
from settled import settle, until

HERE = ServerPlace("1", 1, "docs")
VALUE = "SELECT value FROM secrets WHERE name = :name"


class Result:
    def __init__(self, recovers: bool, snapshot: str) -> None:
        self._row = (b"t" if recovers else b"f", snapshot.encode())

    def get_value(self, row: int, column: int) -> bytes:
        return self._row[column]


class Asked:
    """A connection to a replica, and its pool."""

    def __init__(self, snapshot: str, recovers: bool, place: ServerPlace) -> None:
        self.place, self.patience, self.broken = place, 0.0, False
        self._result = Result(recovers, snapshot)
        self.open = 0

    def begin(self, begin: str, seconds: float, more: str) -> Result:
        return self._result

    def send(self, statement: str) -> None:
        assert statement == "ROLLBACK"

    def close(self) -> None:
        self.broken = True

    def get(self, seconds: float) -> Asked:
        self.open += 1
        return self

    def put(self, connection: Asked) -> None:
        self.open -= 1


@pytest.mark.parametrize(
    ("snapshot", "recovers", "place", "wanted", "outcome"),
    [
        ("10:10:", True, HERE, None, "answered"),
        ("10:10:", True, HERE, "10:10:", "answered"),
        ("12:12:", True, HERE, "10:10:", "behind"),  # Rows of another snapshot were already read.
        ("9:9:", True, HERE, None, "behind"),  # The known commits aren't in it.
        ("8:12:", True, HERE, None, "behind"),  # The ones in between are unknown.
        ("10:12:", True, HERE, None, "behind"),
        ("12:12:", False, HERE, None, "away"),  # it was promoted
        ("12:12:", True, ServerPlace("1", 2, "docs"), None, "away"),  # another history, with the same numbers
        ("12:12:", True, ServerPlace("2", 1, "docs"), None, "away"),
        ("12:12:", True, ServerPlace("1", 1, "others"), None, "away"),
    ],
)
def test_a_replica_serves_reads_that_it_has_caught_up_with(
    snapshot: str, recovers: bool, place: ServerPlace, wanted: str | None, outcome: str
) -> None:
    replica, asked = Replica("postgresql://nowhere", 1), Asked(snapshot, recovers, place)
    replica._pool, replica._is_open = asked, True  # type: ignore[assignment]
    begun = replica.begin(HERE, 9, wanted)
    assert dict(replica.counts) == {outcome: 1}
    assert begun == ((asked, snapshot) if outcome == "answered" else None)
    assert asked.open == (outcome == "answered")
    if outcome != "answered":
        assert replica.begin(HERE, 9, wanted) is None and asked.open == 0, "it is left alone for a while"
    assert dict(replica.counts) == {outcome: 1 if outcome == "answered" else 2}


def test_a_busy_replica_is_not_unavailable() -> None:
    """As long as it answers others."""
    replica, asked = Replica("postgresql://nowhere", 1), Asked("10:10:", True, HERE)
    replica._pool, replica._is_open = asked, True  # type: ignore[assignment]

    def none_free(seconds: float) -> Asked:
        raise PoolTimeout("there is none")

    assert replica.begin(HERE, 9, None) is not None
    asked.get = none_free  # type: ignore[method-assign]
    assert replica.begin(HERE, 9, None) is None
    assert (replica.counts["behind"], replica.counts["away"]) == (1, 0)
    replica._rests_until, replica._answered_at = 0, time.monotonic() - 10
    assert replica.begin(HERE, 9, None) is None
    assert (replica.counts["behind"], replica.counts["away"]) == (1, 1)


def test_without_a_replica_the_primary_serves_reads(database: Database) -> None:
    assert database.replica_reads == {} and database.check_replica(0) is None


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_a_replica_requires_postgresql(engine: str, tmp_path: Path) -> None:
    url = "postgresql://here/docs" if engine == "postgresql" else f"sqlite:///{tmp_path}/octavo.db"
    given = {"OCTAVO_DATABASE_URL": url, "OCTAVO_DATABASE_REPLICA_URL": "postgresql://me:hushhush@there/docs"}
    if engine == "sqlite":
        with pytest.raises(SettingsError, match="OCTAVO_DATABASE_REPLICA_URL: can only be used with"):
            load(environ=given)
    else:
        assert "hushhush" in load(environ=given).secrets
    with pytest.raises(SettingsError, match="OCTAVO_DATABASE_REPLICA_URL: must be"):
        load(environ=given | {"OCTAVO_DATABASE_REPLICA_URL": "mysql://there/docs"})


@pytest.fixture
def postgres_url(database_url: str) -> str:
    if database_url.startswith("sqlite"):
        pytest.skip("it has no replicas")
    return database_url


def _read(database: Database, name: str = "a") -> str:
    """Run a read like the dispatcher."""
    try:
        with database.read_cached() as tx:
            return str(tx.value(VALUE, name=name))
    except StaleCachedRead:
        with database.read() as tx:
            return str(tx.value(VALUE, name=name))


def _write(database: Database, value: str, name: str = "a") -> None:
    with database.write() as tx:
        tx.run(
            """INSERT INTO secrets (name, value) VALUES (:name, :value)
               ON CONFLICT (name) DO UPDATE SET value = excluded.value""",
            name=name,
            value=value,
        )


@contextmanager
def opened(url: str, replica_url: str) -> Iterator[PostgresDatabase]:
    database = open_database(url, 8, "", replica_url)
    assert isinstance(database, PostgresDatabase)
    try:
        until(lambda: database.generation() is not None and database._knows == bool(replica_url))
        yield database
    finally:
        database.close()


def test_invalid_replicas_are_not_used(postgres_url: str) -> None:
    """The server itself, a missing one, and one without transaction numbers."""
    for replica_url, said in (
        (postgres_url, "it isn't a replica"),
        (postgres_url.replace("host=", "host=/nowhere"), "No such file"),
    ):
        with opened(postgres_url, replica_url) as database:
            # It may take some reads until it counts as away: a busy one answers late, too.
            for number in range(1000):
                _write(database, str(number))
                assert _read(database) == str(number)
                if number > 2 and database.replica_reads["away"]:
                    break
            assert database.replica_reads["answered"] == 0 < database.replica_reads["away"]
            assert said in str(database.check_replica(0.1))


def test_the_number_of_the_last_commit_is_known(postgres_url: str) -> None:
    with opened(postgres_url, postgres_url) as database, opened(postgres_url, "") as other:
        settle(database, postgres_url)
        database._knows = True
        for writing in (database, other):
            with writing.write() as tx:
                number = tx.value("SELECT CAST(CAST(pg_current_xact_id() AS text) AS bigint)")
                tx.run("DELETE FROM secrets")
            until(lambda number=number: database._known == number)
            assert database._knows
        with psycopg.connect(postgres_url) as connection:
            connection.execute("NOTIFY octavo_changed, 'an older version'")
        until(lambda: not database._knows)
        assert database.begin_at_replica(None) is None


@contextmanager
def replicated() -> Iterator[tuple[Server, Server]]:
    with servers(2) as (first, second):
        first.create()
        first.start()
        second.copy_of(first, "-R", "-X", "stream")
        second.start()
        first.ask("CREATE TABLE secrets (name TEXT PRIMARY KEY, value TEXT)")
        yield first, second


@pytest.mark.slow
def test_reads_run_on_a_replica() -> None:
    """Two processes: each reads its own writes, and those of the other that it was notified of, whether the
    replica follows, pauses, fails, returns, or is promoted."""
    with (
        replicated() as (first, second),
        opened(first.url, second.url) as one,
        opened(first.url, second.url) as other,
    ):
        second.wait_for("SELECT count(*) = 1 FROM pg_class WHERE relname = 'secrets'")
        dice = random.Random(29)
        numbers = iter(range(1_000_000))

        def step() -> None:
            writing, reading = dice.sample([one, other], 2)
            name, value = dice.choice("ab"), str(next(numbers))
            _write(writing, value, name)
            until(lambda: reading._known >= writing._known)
            for database in (writing, reading):
                for _ in range(dice.randrange(3)):
                    assert _read(database, name) == value
                    time.sleep(dice.choice((0, 0.002)))

        def steps(count: int) -> dict[str, int]:
            """Run steps and return the outcomes of replica reads during them."""
            before = {
                outcome: one.replica_reads[outcome] + other.replica_reads[outcome] for outcome in OUTCOMES
            }
            for _ in range(count):
                step()
            return {
                outcome: one.replica_reads[outcome] + other.replica_reads[outcome] - before[outcome]
                for outcome in OUTCOMES
            }

        assert steps(200)["answered"] > 20
        assert one.check_replica(3) == ""
        second.ask("SELECT pg_wal_replay_pause()")
        second.wait_for("SELECT pg_get_wal_replay_pause_state() = 'paused'")
        _write(one, "paused")
        _write(other, "paused")
        found = steps(50)
        assert found["answered"] == 0 < found["behind"]
        assert "still behind" in str(one.check_replica(0.1))
        second.ask("SELECT pg_wal_replay_resume()")
        until(lambda: steps(5)["answered"])
        # A long write is unknown to others: finished and unfinished commits can't be distinguished.
        with psycopg.connect(first.url) as connection:
            connection.execute("INSERT INTO secrets VALUES ('c', 'c')")
            _write(one, "beside it")
            assert steps(20)["answered"] == 0
        until(lambda: steps(5)["answered"])
        second.kill()
        assert steps(30)["away"]
        second.start()
        until(lambda: steps(5)["answered"])
        second.promote()
        assert one.check_replica(0.1)
        found = steps(30)
        assert found["answered"] == 0 < found["away"]


class NotYet(Exception):
    """The replica was not asked."""


@pytest.mark.slow
def test_a_read_continues_on_the_primary_if_the_replica_fails() -> None:
    """The read starts again on the primary, unless it can have written."""
    with replicated() as (first, second), opened(first.url, second.url) as database:
        _write(database, "1")

        def begin_at_replica(tx: Transaction) -> None:
            tx.value(VALUE, name=f"asked {time.monotonic()}")
            # Also as long as the notice of the write before has not been read.
            if not isinstance(tx, _CachedRead) or tx._replica is None:
                raise NotYet

        def fail(writes: bool) -> None:
            while True:
                try:
                    with database.read_cached() as tx:
                        begin_at_replica(tx)
                        if writes:
                            _write(database, "2")
                        second.ask(
                            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                            " WHERE state = 'idle in transaction'"
                        )
                        tx.value(VALUE, name="asked when it is gone")
                        return
                except NotYet:
                    time.sleep(0.05)

        with pytest.raises(StaleCachedRead):
            fail(writes=False)
        assert _read(database) == "1"
        with pytest.raises(Unavailable):
            fail(writes=True)
        assert _read(database) == "2"
