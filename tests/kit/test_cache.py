from __future__ import annotations

import threading

import pytest

from octavo.kit.cache import ByteCache, FreshCache, OwnCache
from octavo.kit.db import SqliteDatabase


def test_bytes_are_bounded_and_the_least_recently_used_goes():
    cache: ByteCache[str] = ByteCache(10)
    cache.put("a", "A", 4)
    cache.put("b", "B", 4)
    assert cache.get("a") == "A"
    cache.put("c", "C", 4)
    assert cache.get("b") is None
    assert (cache.get("a"), cache.get("c"), cache.size, len(cache)) == ("A", "C", 8, 2)
    cache.put("a", "AA", 2)
    assert (cache.get("a"), cache.size) == ("AA", 6)
    cache.put("huge", "H", 11)
    assert cache.get("huge") is None
    assert len(cache) == 2


def _count(database) -> int:
    with database.read() as tx:
        return tx.value("SELECT COUNT(*) FROM secrets")


def _put(database, name: str) -> None:
    with database.write() as tx:
        tx.run("INSERT INTO secrets (name, value) VALUES (:name, 'v')", name=name)


@pytest.fixture
def cache(database) -> FreshCache:
    while database.generation() is None:
        threading.Event().wait(0.01)
    return FreshCache(database, capacity=3)


def test_a_value_is_kept_until_somebody_commits(database, cache):
    made = []

    def make() -> int:
        made.append(1)
        return _count(database)

    assert [cache.get("n", make) for _ in range(3)] == [0, 0, 0]
    assert len(made) == 1
    _put(database, "a")
    assert [cache.get("n", make) for _ in range(3)] == [1, 1, 1]
    assert len(made) == 2


def test_an_older_snapshot_leaves_nothing_behind(database, cache):
    with database.read() as tx:
        assert tx.value("SELECT COUNT(*) FROM secrets") == 0
        writer = threading.Thread(target=_put, args=(database, "a"))
        writer.start()
        writer.join()
        assert cache.get("n", lambda: _count(database)) == 0
        found = []
        reader = threading.Thread(target=lambda: found.append(cache.get("n", lambda: _count(database))))
        reader.start()
        reader.join()
        assert found == [1]
        assert cache.get("n", lambda: _count(database)) == 0  # its own snapshot still
    assert cache.get("n", lambda: _count(database)) == 1


def test_entries_are_bounded(cache):
    for n in range(10):
        cache.get(n, lambda n=n: n)
    made = []
    for n in (9, 8, 7):
        assert cache.get(n, lambda: made.append(1)) == n
    assert made == []
    cache.get(6, lambda: made.append(1))
    assert made == [1]


def test_what_costs_too_much_or_says_so_is_not_kept(database):
    while database.generation() is None:
        threading.Event().wait(0.01)
    generation = database.generation()
    cache = FreshCache(database, 10, cost=lambda value: None if value == "never" else len(value))
    made = []

    def ask(value: str) -> None:
        cache.get(value, lambda: made.append(value) or value)

    for value in ("never", "four", "never", "four", "larger than all of it", "four"):
        ask(value)
    assert made == ["never", "four", "never", "larger than all of it"]
    assert (cache.find("four", generation), cache.find("never", generation)) == ("four", None)
    ask("eight by")
    ask("four")
    assert made[-2:] == ["eight by", "four"]


def test_each_application_has_caches_of_its_own(tmp_path):
    declared: OwnCache[str] = OwnCache(10)
    one, other = SqliteDatabase(str(tmp_path / "one.db")), SqliteDatabase(str(tmp_path / "other.db"))
    try:
        declared.of(one).put("key", "value", 3)
        with one.read() as tx:
            assert declared.of(tx).get("key") == "value"
        with one.write() as tx:
            assert declared.of(tx) is declared.of(one)
        with other.read() as tx:
            assert declared.of(tx).get("key") is None
        declared.of(one).put("large", "value", 11)
        assert declared.of(one).capacity == 10 and declared.of(one).size == 3
    finally:
        one.close()
        other.close()
