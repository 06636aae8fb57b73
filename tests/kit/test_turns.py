"""Writers wait for each other for a bounded time, and readers do not wait for writers."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from octavo.errors import TemporarilyUnavailable
from octavo.kit.db import database as db
from octavo.kit.db.database import Database
from octavo.kit.http import edge
from octavo.kit.http.edge import in_turn
from octavo.kit.http.serving import run_served
from octavo.kit.scheduling import deadlines
from octavo.kit.scheduling.shares import SharedThreads
from settled import PATIENCE
from world import URL, World


def test_readers_do_not_wait_for_writers(world: World) -> None:
    context, org = world.context, world.home["organizationId"]
    path = f"{URL}/v1/orgs/{org}"
    headers = {"authorization": f"Bearer {world.token('admin')}"}
    locked, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        with context.db.write() as tx:
            tx.run("UPDATE organizations SET title = title WHERE id = :id", id=org)
            locked.set()
            go_on.wait(PATIENCE)

    async def ask() -> None:
        writes = [
            asyncio.create_task(world._client.patch(path, headers=headers, json={"title": f"Title {n}"}))
            for n in range(20)
        ]
        await asyncio.sleep(0.1)
        for _ in range(10):
            assert (await world._client.get(path, headers=headers)).status_code == 200
        assert not any(write.done() for write in writes)
        go_on.set()
        assert {answer.status_code for answer in await asyncio.gather(*writes)} == {200}

    holder = threading.Thread(target=hold)
    holder.start()
    locked.wait(PATIENCE)
    try:
        world._loop.run_until_complete(ask())
    finally:
        go_on.set()
        holder.join()


def test_requests_without_a_turn_get_a_time_to_retry(database: Database, monkeypatch) -> None:
    monkeypatch.setattr(db, "TURN_SECONDS", 0.5)
    locked, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        with database.write() as tx:
            tx.run("UPDATE held SET n = n + 1")
            locked.set()
            go_on.wait(PATIENCE)

    with database.write() as tx:
        tx.run("CREATE TABLE held (n INTEGER)")
        tx.run("INSERT INTO held VALUES (1)")
    holder = threading.Thread(target=hold)
    holder.start()
    locked.wait(PATIENCE)
    try:
        with pytest.raises(TemporarilyUnavailable) as refused, database.write() as tx:
            tx.run("UPDATE held SET n = n + 1")
        assert "Nothing was changed" in refused.value.message
        assert int(refused.value.headers["retry-after"]) > 0
    finally:
        go_on.set()
        holder.join()
    with database.write() as tx:
        assert tx.value("SELECT n FROM held") == 2
        tx.run("DROP TABLE held")


def test_time_spent_waiting_for_a_thread_counts_for_the_turn() -> None:
    """Else those behind them would wait as long again."""
    with db.statements_within(60, waited=4):
        assert db.turn_seconds() == db.TURN_SECONDS - 4
    with db.statements_within(60, waited=100):
        assert 0 < db.turn_seconds() < db.TURN_SECONDS / 2
    assert db.turn_seconds() == db.TURN_SECONDS


def test_a_new_thread_reads_during_a_write(database: Database) -> None:
    with database.write(), ThreadPoolExecutor(1) as pool:

        def read() -> object:
            with database.read() as tx:
                return tx.value("SELECT 1")

        assert pool.submit(read).result(timeout=PATIENCE) == 1


def test_requests_without_a_thread_get_a_time_to_retry(monkeypatch) -> None:
    monkeypatch.setattr(edge, "QUEUE_SECONDS", 0.1)
    go_on, ran = threading.Event(), []

    async def ask() -> None:
        first = asyncio.create_task(in_turn(pool, ("a", "a"), go_on.wait, 30))
        await asyncio.sleep(0)
        with pytest.raises(TemporarilyUnavailable) as refused:
            await in_turn(pool, ("a", "a"), ran.append, "second")
        assert int(refused.value.headers["retry-after"]) > 0
        go_on.set()
        assert await first, "who has a thread keeps it"
        await in_turn(pool, ("a", "a"), ran.append, "third")

    pool = SharedThreads("x", 1, "octavo-test")
    run_served(ask())
    pool.close()
    assert (pool.held, pool.waiting) == (0, 0)
    assert ran == ["third"]


def test_the_duration_of_statements_of_requests_is_limited(database: Database) -> None:
    """Where the engine can stop one: on SQLite a statement runs in the process that asks."""
    if database.engine == "sqlite":
        return
    limit = "SELECT setting FROM pg_settings WHERE name = 'statement_timeout'"
    for begin in (database.read, database.write):
        with pytest.raises(TemporarilyUnavailable), db.statements_within(0.05), begin() as tx:
            tx.value("SELECT pg_sleep(30)")
        with db.statements_within(db.REQUEST_SECONDS), deadlines.limited(7), begin() as tx:
            assert 6000 < int(tx.value(limit)) <= 7000
        with begin() as tx:
            assert tx.value(limit) == "0", "a command takes what it takes"
    with db.statements_within(0.05), database.migration() as tx:
        assert tx.value(limit) == "0"
