from __future__ import annotations

import threading
import types
from contextlib import contextmanager

import pytest

from octavo.kit.clock import now
from octavo.kit.work import jobs, outbox
from octavo.kit.work.jobs import enqueue, list_jobs
from octavo.kit.work.outbox import consume, emit, prune, prune_events
from octavo.kit.work.worker import Worker
from octavo.settings import Settings
from settled import PATIENCE


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    monkeypatch.setattr(outbox, "_consumers", {})
    monkeypatch.setattr(jobs, "schedules", {})


def _emit(database, *types_, **payload):
    with database.write() as tx:
        for type in types_:
            emit(tx, type, organization_id="o", space_id="s", **payload)


class Seen:
    def __init__(self):
        self.types = []

    def __call__(self, tx, event):
        self.types.append(event.type)


def test_each_consumer_gets_events_once_and_in_order(database):
    seen, other = Seen(), Seen()
    assert consume(database, {"a": seen}) == 0
    _emit(database, "one", "two")
    assert consume(database, {"a": seen}) == 2
    _emit(database, "three")
    assert [consume(database, {"a": seen}), consume(database, {"a": seen})] == [1, 0]
    assert [consume(database, {"b": other}, limit=2) for _ in range(3)] == [2, 1, 0]
    assert seen.types == other.types == ["one", "two", "three"]


def test_an_event_contains_its_ids_and_payload(database):
    found = []
    before = now()
    _emit(database, "page.updated", page="p1", version=3)
    consume(database, {"a": lambda tx, event: found.append(event)})
    (event,) = found
    assert event[1:5] == ("page.updated", "o", "s", {"page": "p1", "version": 3})
    assert before <= event.created_at <= now()


def test_an_event_is_part_of_its_transaction(database):
    seen = Seen()
    with pytest.raises(ZeroDivisionError), database.write() as tx:
        emit(tx, "never")
        raise ZeroDivisionError
    _emit(database, "after-the-gap")
    assert consume(database, {"a": seen}) == 1
    assert seen.types == ["after-the-gap"]


def test_writes_of_a_handler_commit_with_its_cursor(database, monkeypatch):
    monkeypatch.setattr(jobs, "kinds", {})

    @jobs.job("send", bound="a test")
    def send(context, event):
        pass

    _emit(database, "one", "two")
    consume(database, {"a": lambda tx, event: enqueue(tx, "send", event=event.id)})
    with database.read() as tx:
        assert tx.value("SELECT COUNT(*) FROM jobs") == 2


def test_a_failed_event_becomes_a_job_and_others_continue(database, clock):
    broken = [True]
    seen = []

    @outbox.consumer("a")
    def handle(tx, event):
        if event.type == "bad" and broken[0]:
            raise ValueError("cannot read it")
        tx.run("INSERT INTO secrets (name, value) VALUES (:name, '')", name=event.type)
        seen.append(event.type)

    @outbox.consumer("b")
    def handle_well(tx, event):
        tx.run("INSERT INTO secrets (name, value) VALUES (:name, '')", name=f"b:{event.type}")

    _emit(database, "one", "bad", "three", page="p")
    worker = Worker(database, types.SimpleNamespace(db=database))
    assert worker.run_pending() == 1  # tried again as a job, in vain
    with database.read() as tx:
        names = [name for (name,) in tx.all("SELECT name FROM secrets ORDER BY name")]
        assert names == ["b:bad", "b:one", "b:three", "one", "three"]
        assert "cannot read it" in tx.value("SELECT error FROM jobs")
        assert list_jobs(tx, state="parked") == ([], 0)
    broken[0] = False
    clock.advance(10_000)
    assert worker.run_pending() == 1
    with database.read() as tx:
        assert tx.value("SELECT COUNT(*) FROM secrets WHERE name = 'bad'") == 1
        assert tx.value("SELECT COUNT(*) FROM jobs") == 0


def test_an_event_that_commits_after_a_later_one_is_not_lost(database):
    """PostgreSQL: the first transaction takes id 1, the second takes 2 and commits before it."""
    if database.engine == "sqlite":
        pytest.skip("one writer at a time: ids follow commits")
    seen = Seen()
    emitted, go = threading.Event(), threading.Event()

    def slow():
        with database.write() as tx:
            emit(tx, "slow")
            emitted.set()
            go.wait(PATIENCE)

    writer = threading.Thread(target=slow)
    writer.start()
    assert emitted.wait(PATIENCE)
    _emit(database, "quick")
    reader = threading.Thread(target=consume, args=(database, {"a": seen}))
    reader.start()
    reader.join(0.3)
    assert reader.is_alive()
    assert seen.types == []
    go.set()
    writer.join()
    reader.join()
    assert seen.types == ["slow", "quick"]
    assert consume(database, {"a": seen}) == 0


def test_many_writers_and_consumers_lose_and_repeat_nothing(database):
    seen = Seen()
    stop = threading.Event()

    def write(who):
        for n in range(40):
            try:
                with database.write() as tx:
                    emit(tx, f"{who}-{n}")
                    if n % 5 == 0:
                        raise ZeroDivisionError
            except ZeroDivisionError:
                pass

    def read():
        while not stop.is_set():
            consume(database, {"a": seen}, limit=7)

    writers = [threading.Thread(target=write, args=(who,)) for who in range(3)]
    readers = [threading.Thread(target=read) for _ in range(2)]
    for thread in writers + readers:
        thread.start()
    for thread in writers:
        thread.join()
    stop.set()
    for thread in readers:
        thread.join()
    while consume(database, {"a": seen}):
        pass
    assert sorted(seen.types) == sorted(f"{who}-{n}" for who in range(3) for n in range(40) if n % 5)


def test_only_events_consumed_by_all_are_pruned(database):
    outbox.consumer("a")(Seen())
    outbox.consumer("b")(Seen())
    _emit(database, "one", "two")
    with database.write() as tx:
        # A consumer of an earlier release holds nothing back.
        tx.run("INSERT INTO event_cursors (consumer, event_id) VALUES ('gone', 0)")
        assert prune(tx, now() + 1000) == 0
    consume(database, {"a": Seen()})
    consume(database, {"b": Seen()}, limit=1)
    with database.write() as tx:
        assert prune(tx, 0) == 0
        assert prune(tx, now() + 1000) == 1
    late = Seen()
    consume(database, {"b": late})
    assert late.types == ["two"]


def test_events_without_a_consumer_are_deleted_later_in_small_batches(database):
    _emit(database, *["old"] * 1200)
    with database.write() as tx:
        tx.run("UPDATE events SET created_at = :old", old=now() - 31 * 86_400_000)
    _emit(database, "new")
    batches = []
    write = database.write

    @contextmanager
    def counting():
        with write() as tx:
            before = tx.value("SELECT count(*) FROM events")
            yield tx
            batches.append(before - tx.value("SELECT count(*) FROM events"))

    database.write = counting
    prune_events(types.SimpleNamespace(db=database, settings=Settings(event_days=30)))
    assert batches == [500, 500, 200, 0]
    with database.read() as tx:
        assert tx.all("SELECT type FROM events") == [("new",)]


def test_workers_deliver_on_commit(database):
    arrived = threading.Event()
    outbox.consumer("a")(lambda tx, event: arrived.set())
    stop = threading.Event()
    worker = threading.Thread(target=Worker(database, None, poll=30).run_forever, args=(stop,))
    worker.start()
    try:
        _emit(database, "one")
        assert arrived.wait(PATIENCE)
    finally:
        stop.set()
        jobs.wake()
        worker.join()
