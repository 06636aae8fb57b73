from __future__ import annotations

import threading
import time
from random import Random

import pytest

from octavo.kit.db.cache import MEMORY, ByteCache, FreshCache, Memory, OwnCache, Share, share
from octavo.kit.db.database import SqliteDatabase


def test_bytes_are_limited_and_the_least_recently_used_entry_is_evicted():
    cache: ByteCache[str] = ByteCache(Share("one", 1), Memory(10))
    cache.put("a", "A", 4)
    cache.put("b", "B", 4)
    assert cache.get("a") == "A"
    cache.put("c", "C", 4)
    assert cache.get("b") is None
    assert (cache.get("a"), cache.get("c"), cache.size, len(cache)) == ("A", "C", 8, 2)
    cache.put("a", "AA", 2)
    assert (cache.get("a"), cache.size) == ("AA", 6)
    cache.put("half", "H", 6)
    assert cache.get("half") is None
    assert len(cache) == 2
    assert (cache.share.hits, cache.share.misses) == (4, 2)
    cache.clear()
    assert (cache.size, len(cache)) == (0, 0)


def test_cache_space_unused_by_one_is_available_to_others():
    memory = Memory(1000)
    small: ByteCache[int] = ByteCache(Share("small", 1), memory)
    large: ByteCache[int] = ByteCache(Share("large", 3), memory)
    for n in range(100):
        small.put(n, n, 20)
    assert 900 <= small.size <= 1000  # no other cache needs it
    for n in range(100):
        large.put(n, n, 20)
    assert 900 <= small.size + large.size <= 1000
    assert 200 <= small.size <= 300  # a quarter, as their shares say
    assert small.get(99) == 99 and small.get(80) is None  # the least recently used entry was evicted
    del large
    for n in range(100):
        small.put(n, n, 20)
    assert 900 <= small.size <= 1000  # an application that ended leaves its memory


def test_values_that_were_not_read_for_a_minute_are_dropped(monkeypatch: pytest.MonkeyPatch):
    clock = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    memory = Memory(1000)
    caches: list[ByteCache[str]] = [ByteCache(Share(name, 1), memory) for name in ("one", "two")]
    for cache in caches:
        cache.put("idle", "I", 100)
        cache.put("read", "R", 100)
    clock[0] += 40
    assert [cache.get("read") for cache in caches] == ["R", "R"]
    memory.drop_unread()
    assert [len(cache) for cache in caches] == [2, 2]
    clock[0] += 40
    memory.drop_unread()
    assert [(cache.get("idle"), cache.get("read"), cache.size) for cache in caches] == [(None, "R", 100)] * 2
    caches[0].put("large", "L", 500)
    caches[0].put("larger", "X", 300)  # The dropped values no longer count.
    assert len(caches[0]) == 3


def test_memory_is_limited_across_threads():
    memory = Memory(10_000)
    caches = [ByteCache(Share(str(n), n + 1), memory) for n in range(4)]

    def fill(seed: int) -> None:
        random = Random(seed)
        for n in range(2000):
            cache = random.choice(caches)
            cache.put(random.randrange(100), n, random.randrange(1, 400))
            cache.get(random.randrange(100))

    threads = [threading.Thread(target=fill, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(cache.size for cache in caches) <= 10_000
    for cache in caches:
        assert cache.size == sum(size for _, size, _ in cache._entries.values())


def test_two_caches_need_different_names():
    share("a name of this test", 1)
    with pytest.raises(ValueError, match="a name of this test"):
        OwnCache("a name of this test", 1)


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
    return FreshCache(database, Share("fresh", 1), lambda value: 1000, Memory(3500))


def test_a_value_is_cached_until_the_next_commit(database, cache):
    made = []

    def make() -> int:
        made.append(1)
        return _count(database)

    assert [cache.get("n", make) for _ in range(3)] == [0, 0, 0]
    assert len(made) == 1
    _put(database, "a")
    assert [cache.get("n", make) for _ in range(3)] == [1, 1, 1]
    assert len(made) == 2


def test_a_value_that_is_still_valid_is_renewed(database, cache):
    assert cache.renew("n", lambda kept: True) is None
    cache.get("n", lambda: _count(database))
    asked = []
    _put(database, "a")
    assert cache.renew("n", lambda kept: bool(asked.append(kept))) is None
    assert cache.renew("n", lambda kept: kept == 0) == 0
    assert cache.renew("n", lambda kept: bool(asked.append(kept))) == 0
    assert asked == [0]
    assert cache.find("n", database.generation()) == 0


def test_an_older_snapshot_stores_nothing(database, cache):
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


def test_entries_are_limited(cache):
    for n in range(10):
        cache.get(n, lambda n=n: n)
    made = []
    for n in (9, 8, 7):
        assert cache.get(n, lambda: made.append(1)) == n
    assert made == []
    cache.get(6, lambda: made.append(1))
    assert made == [1]


def test_costly_and_uncacheable_values_are_not_cached(database):
    while database.generation() is None:
        threading.Event().wait(0.01)
    generation = database.generation()
    cache = FreshCache(
        database, Share("fresh", 1), lambda value: None if value == "never" else len(value), Memory(16)
    )
    made = []

    def ask(value: str) -> None:
        cache.get(value, lambda: made.append(value) or value)

    for value in ("never", "four", "never", "four", "larger than all of it", "four"):
        ask(value)
    assert made == ["never", "four", "never", "larger than all of it"]
    assert (cache.find("four", generation), cache.find("never", generation)) == ("four", None)
    for value in ("eight by", "eight or", "four"):
        ask(value)
    assert made[-3:] == ["eight by", "eight or", "four"]


def test_each_application_has_its_own_caches(tmp_path):
    declared: OwnCache[str] = OwnCache("of each application", 1)
    one, other = SqliteDatabase(str(tmp_path / "one.db")), SqliteDatabase(str(tmp_path / "other.db"))
    try:
        declared.of(one).put("key", "value", 3)
        with one.read() as tx:
            assert declared.of(tx).get("key") == "value"
        with one.write() as tx:
            assert declared.of(tx) is declared.of(one)
        with other.read() as tx:
            assert declared.of(tx).get("key") is None
        assert declared.of(one).size == 3 + MEMORY.entry
    finally:
        one.close()
        other.close()
