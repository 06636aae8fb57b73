"""Reads that use rows of earlier reads: still one snapshot, and never older than the cache allows."""

from __future__ import annotations

import ast
import random
import re
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import TypeVar

import psycopg
import pytest

import octavo
from octavo.errors import TemporarilyUnavailable
from octavo.kit.db import postgres
from octavo.kit.db.cache import ByteCache, Memory, Share
from octavo.kit.db.cached_rows import CachedRows
from octavo.kit.db.database import Database, Live, StaleCachedRead, Transaction
from octavo.kit.db.databases import open_database
from settled import PATIENCE, settle, until

T = TypeVar("T")
NAMES = "abcd"
VALUE = "SELECT value FROM secrets WHERE name = :name"


def _set(tx: Transaction, value: str, name: str) -> None:
    tx.run(
        """INSERT INTO secrets (name, value) VALUES (:name, :value)
           ON CONFLICT (name) DO UPDATE SET value = excluded.value""",
        name=name,
        value=value,
    )


def _set_all(database: Database, value: str) -> None:
    with database.write() as tx:
        for name in NAMES:
            _set(tx, value, name)


def _set_unheard(database_url: str, value: str) -> None:
    """Set a value from another process whose notice is still in transit."""
    statement = "UPDATE secrets SET value = '" + value + "'"
    if database_url.startswith("sqlite"):
        with closing(sqlite3.connect(database_url.removeprefix("sqlite:///"))) as connection:
            connection.execute(statement)
            connection.commit()
    else:
        with psycopg.connect(database_url) as connection:
            connection.execute(statement)  # type: ignore[arg-type]


def _value(tx: Transaction, name: str) -> str:
    return str(tx.value(VALUE, name=name))


def _answer(database: Database, work: Callable[[Transaction], T]) -> T:
    """Run a read like the dispatcher."""
    try:
        with database.read_cached() as tx:
            return work(tx)
    except StaleCachedRead:
        with database.read() as tx:
            return work(tx)


@pytest.fixture
def listening(database: Database, database_url: str) -> Database:
    """Return a connected database without pending notices, with the same value under all names."""
    _set_all(database, "0")
    settle(database, database_url)
    return database


def test_cached_rows_are_not_queried_again(listening: Database, database_url: str) -> None:
    with listening.read_cached() as tx:
        assert [_value(tx, name) for name in NAMES] == ["0"] * 4
    _set_unheard(database_url, "1")
    for _ in range(2):
        with listening.read_cached() as tx:
            seen = "0" if listening.engine == "postgresql" else "1"
            assert [_value(tx, name) for name in NAMES] == [seen] * 4
    with listening.read() as tx:
        assert _value(tx, "a") == "1", "others take nothing that is kept"


@pytest.mark.parametrize("seed", range(4))
def test_a_read_never_sees_two_snapshots(listening: Database, database_url: str, seed: int) -> None:
    """All names change at once, and commits come between reads and between the statements of a read, with a notice and
    before it."""
    chance = random.Random(seed)
    count = 0

    def commit() -> None:
        nonlocal count
        count += 1
        if chance.random() < 0.5:
            _set_unheard(database_url, str(count))
        else:
            # A read of this thread is open.
            writer = threading.Thread(target=_set_all, args=(listening, str(count)))
            writer.start()
            writer.join()

    def look(tx: Transaction) -> list[str]:
        seen = []
        for name in chance.sample(NAMES, chance.randint(1, 4)):
            seen.append(_value(tx, name))
            if chance.random() < 0.15:
                commit()
        return seen

    for _ in range(150):
        if chance.random() < 0.2:
            commit()
        assert len(set(_answer(listening, look))) == 1


def test_cached_and_queried_rows_belong_to_one_snapshot(listening: Database, database_url: str) -> None:
    with listening.read_cached() as tx:
        assert _value(tx, "a") == "0"
    _set_unheard(database_url, "1")

    def look(tx: Transaction) -> list[str]:
        return [_value(tx, "a"), _value(tx, "b")]

    if listening.engine == "postgresql":
        with pytest.raises(StaleCachedRead), listening.read_cached() as tx:
            assert _value(tx, "a") == "0"
            with pytest.raises(StaleCachedRead):
                _value(tx, "b")
            assert _value(tx, "a") == "0", "whoever goes on nevertheless sees no mixture"
            _value(tx, "c")
    assert _answer(listening, look) == ["1", "1"]
    # The result is cached, so that no one has to start again.
    for _ in range(2):
        with listening.read_cached() as tx:
            assert look(tx) == ["1", "1"]


def test_a_write_starts_the_surrounding_read(listening: Database, database_url: str) -> None:
    """So no one who has written has to start again."""
    with listening.read_cached() as tx:
        _value(tx, "a")
    settle(listening, database_url)
    with listening.read_cached() as tx:
        assert _value(tx, "a") == "0"
        _set_all(listening, "1")
        assert [_value(tx, name) for name in NAMES] == ["0"] * 4
    settle(listening, database_url)
    with listening.read_cached() as tx:
        assert _value(tx, "a") == "1"
    _set_unheard(database_url, "2")
    if listening.engine == "postgresql":
        with pytest.raises(StaleCachedRead), listening.read_cached() as tx:
            assert _value(tx, "a") == "1"
            with listening.write() as other:
                _set(other, "never", "b")
    with listening.read() as tx:
        assert [_value(tx, name) for name in NAMES] == ["2"] * 4


def test_own_writes_are_read_immediately(listening: Database) -> None:
    for n in range(50):
        _set_all(listening, str(n))
        assert _answer(listening, lambda tx: [_value(tx, name) for name in "ab"]) == [str(n)] * 2


def test_writes_of_other_processes_are_read_after_their_notice(
    listening: Database, database_url: str
) -> None:
    other = open_database(database_url, 3)
    try:
        for n in range(5):
            before = listening.generation()
            _set_all(other, f"other {n}")
            until(lambda before=before: listening.generation() != before)
            assert _answer(listening, lambda tx: _value(tx, "a")) == f"other {n}"
    finally:
        other.close()


def test_a_notice_takes_effect_before_the_listener_processes_it(database_url: str, monkeypatch) -> None:
    if database_url.startswith("sqlite"):
        return
    reading, go_on = threading.Event(), threading.Event()

    def wait(database: postgres.PostgresDatabase, connection: object, seconds: float) -> None:
        reading.set()
        go_on.wait(PATIENCE)

    monkeypatch.setattr(postgres.PostgresDatabase, "_receive_notices", wait)
    database, other = open_database(database_url), open_database(database_url, 3)
    try:
        _set_all(other, "0")
        until(lambda: database.generation() is not None and reading.is_set())
        with database.read_cached() as tx:
            assert _value(tx, "a") == "0"
        _set_all(other, "1")
        assert isinstance(database, postgres.PostgresDatabase)
        until(database._has_news)
        with database.read_cached() as tx:
            assert _value(tx, "a") == "1"
        with pytest.raises(StaleCachedRead), database.read_cached(begins=False):
            pass
    finally:
        go_on.set()
        database.close()
        other.close()


def test_a_read_without_a_transaction_uses_only_cached_rows(listening: Database) -> None:
    if listening.engine == "sqlite":
        with listening.read_cached(begins=False) as tx:
            assert _value(tx, "a") == "0"
        return
    with pytest.raises(StaleCachedRead), listening.read_cached(begins=False):
        pass
    with listening.read_cached() as tx:
        _value(tx, "a")
    with pytest.raises(StaleCachedRead), listening.read_cached(begins=False) as tx:
        assert _value(tx, "a") == "0"
        _value(tx, "b")


def test_without_a_listener_nothing_is_cached(database: Database, database_url: str) -> None:
    for value in "01":
        _set_all(database, value)
        _set_unheard(database_url, f"{value}, unheard")
        with database.read_cached() as tx:
            assert _value(tx, "a") == f"{value}, unheard"


def _end_listener(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute(
            """SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()
               AND (query LIKE 'LISTEN%' OR query = 'SELECT 1') AND pid <> pg_backend_pid()"""
        )


def test_losing_the_listener_connection_clears_the_cache(listening: Database, database_url: str) -> None:
    if listening.engine == "sqlite":
        return
    for value in "12":
        with listening.read_cached() as tx:
            _value(tx, "a")
        before = listening.generation()
        assert before is not None
        _end_listener(database_url)
        until(lambda before=before: listening.generation() != before)
        _set_unheard(database_url, value)
        with listening.read_cached() as tx:
            assert _value(tx, "a") == value
        until(lambda: listening.generation() is not None)
        assert listening.generation() > before
        settle(listening, database_url)


def test_a_silent_server_clears_the_cache(listening: Database, monkeypatch) -> None:
    if not isinstance(listening, postgres.PostgresDatabase):
        return
    with listening.read_cached() as tx:
        _value(tx, "a")
    silent = threading.Event()
    ask = psycopg.Connection.execute

    def hang(
        connection: psycopg.Connection[postgres.Row], query: object, *rest: object, **more: object
    ) -> object:
        if query == "SELECT 1":
            silent.wait(PATIENCE)
        return ask(connection, query, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(psycopg.Connection, "execute", hang)
    listening._heard_until = time.monotonic() + 0.1  # as after some seconds
    try:
        until(lambda: listening.generation() is None)
        with pytest.raises(StaleCachedRead), listening.read_cached(begins=False):
            pass
    finally:
        silent.set()
    until(lambda: listening.generation() is not None)


def test_an_unannounced_commit_invalidates_the_cache(listening: Database, database_url: str) -> None:
    """The connection breaks while it commits: it may have, or will."""
    if not isinstance(listening, postgres.PostgresDatabase):
        return
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(
            """CREATE FUNCTION break_off() RETURNS trigger LANGUAGE plpgsql AS
               'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END'"""
        )
        connection.execute(
            """CREATE CONSTRAINT TRIGGER break_off AFTER UPDATE ON secrets DEFERRABLE INITIALLY DEFERRED
               FOR EACH ROW EXECUTE FUNCTION break_off()"""
        )
        try:
            name, before = listening._name, listening.generation()
            assert before is not None
            with pytest.raises(TemporarilyUnavailable), listening.write() as tx:
                tx.run("UPDATE secrets SET value = 'unknown'")
            assert listening.generation() != before
            assert listening._name != name, (
                "its notice is not taken for one of our own, of which all is known"
            )
        finally:
            connection.execute("DROP TRIGGER break_off ON secrets")
            connection.execute("DROP FUNCTION break_off")


# --- what is kept -------------------------------------------------------------------------------------


def test_cached_rows_are_limited_by_their_bytes() -> None:
    rows = CachedRows(1, "")
    rows._rows = ByteCache(Share("rows", 1), Memory(100_000))
    for n in range(1000):
        rows.store(("statement", ("id", n)), [("x" * 900, n)])
    assert 50_000 < rows.size <= 100_000
    assert rows.find(("statement", ("id", 999))) is not None
    assert rows.find(("statement", ("id", 1))) is None
    rows.store(("statement", ("id", "y" * 200_000)), [])
    assert rows.size <= 100_000


def test_large_and_mutable_results_are_not_cached() -> None:
    rows = CachedRows(1, "")
    rows.store(("large",), [("x" * 1000,)] * 200)
    rows.store(("list",), [(1, ["a"])])
    rows.store(("long", ("text", "x" * 200_000)), [])
    assert rows.size == 0
    rows.store(("row",), [(1, "a", 1.5, b"b", None, True)])
    assert rows.find(("row",)) == ((1, "a", 1.5, b"b", None, True),)


def test_cached_rows_cannot_be_modified(listening: Database) -> None:
    for _ in range(3):
        with listening.read_cached() as tx:
            rows = tx.all("SELECT name FROM secrets ORDER BY name")
        assert rows == [(name,) for name in NAMES]
        rows.clear()


def test_parameters_are_distinguished_by_name(listening: Database) -> None:
    sql = "SELECT COUNT(*) FROM secrets WHERE name >= :a AND name <= :b"
    with listening.read_cached() as tx:
        assert (tx.value(sql, a="a", b="c"), tx.value(sql, b="a", a="c")) == (3, 0)


OWN_CONNECTIONS = {"postgres.py", "replica.py"}
"""These ask connections themselves, below what keeps anything."""


@cache
def _statements() -> tuple[tuple[str, bool], ...]:
    """Return all texts of the product that can be reading statements, and whether each is declared ``Live``."""
    found = []
    for path in Path(octavo.__file__).parent.rglob("*.py"):
        source = path.read_text()
        if "SELECT" not in source or (path.parent.name == "db" and path.name in OWN_CONNECTIONS):
            continue
        nodes = list(ast.walk(ast.parse(source)))
        live, pieces = set(), set()
        for node in nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Live":
                live.update(map(id, node.args))
            elif isinstance(node, ast.JoinedStr):  # whose pieces are no statements
                pieces.update(map(id, node.values))
        for node in nodes:
            if isinstance(node, ast.JoinedStr):
                text = "".join(
                    str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values
                )
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in pieces:
                text = node.value
            else:
                continue
            if text.lstrip().startswith(("SELECT", "WITH")):
                found.append((text, id(node) in live))
    return tuple(found)


DEPENDS_ON_MORE = re.compile(
    r"""\b(?:\w*now|\w*random\w*|\w*timestamp|timeofday|age|\w+val|pg_\w+|txid_\w+|current_setting|set_config
           |version|inet_\w+)\s*\(
        |\b(?:current|local)_?(?:date|time|timestamp)\b|\b(?:current|session)_(?:user|role|catalog|schema)\b""",
    re.I | re.X,
)


def test_queries_depending_on_more_than_the_snapshot_are_marked() -> None:
    asked = _statements()
    assert len(asked) > 500
    kept = [text for text, live in asked if not live]
    assert [text for text in kept if DEPENDS_ON_MORE.search(text)] == []
    pages = re.compile(r"\bpage_(?:live|steps|snapshots|carets)\b")
    rare = [text for text, live in asked if live and not pages.search(text)]
    assert len(rare) < 20, (
        "what is live costs a transaction each time; pages that people write change all the time"
    )


def test_volatile_functions_are_listed(database: Database) -> None:
    """The server knows which of its own do; those that depend on settings or on the time are named."""
    if database.engine == "sqlite":
        return
    with database.read() as tx:
        volatile = {str(row[0]) for row in tx.all("SELECT proname FROM pg_proc WHERE provolatile = 'v'")}
    volatile |= {"now", "transaction_timestamp", "statement_timestamp", "current_setting"}
    wrong = [
        text
        for text, live in _statements()
        if not live and volatile & {name.lower() for name in re.findall(r"(\w+)\s*\(", text)}
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT now()",
        "SELECT CURRENT_TIMESTAMP",
        "SELECT 1 WHERE random() < 0.5",
        "SELECT nextval('numbers')",
        "SELECT pg_backend_pid()",
        "SELECT relpages FROM pg_class WHERE pg_relation_size(oid) > 0",
    ],
)
def test_volatile_statements_are_recognized(sql: str) -> None:
    assert DEPENDS_ON_MORE.search(sql)


def test_live_queries_run_each_time(listening: Database) -> None:
    asked = "SELECT random() AS chance, name FROM secrets WHERE name IN :names ORDER BY name"
    found = []
    for _ in range(3):
        with listening.read_cached() as tx:
            found.append((tx.all(Live(asked), names=["a"]), tx.value(VALUE, name="a")))
    assert len({str(rows) for rows, _ in found}) == 3
