"""Writers wait for each other for a bounded time, and readers do not wait for writers."""

import asyncio
import threading

import pytest

from octavo.errors import OutOfReach
from octavo.kit import db
from octavo.kit.db import Database
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
            go_on.wait(30)

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
    locked.wait(30)
    try:
        world._loop.run_until_complete(ask())
    finally:
        go_on.set()
        holder.join()


def test_who_gets_no_turn_is_told_when_to_try_again(database: Database, monkeypatch) -> None:
    monkeypatch.setattr(db, "TURN_SECONDS", 0.1)
    locked, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        with database.write() as tx:
            tx.run("UPDATE held SET n = n + 1")
            locked.set()
            go_on.wait(30)

    with database.write() as tx:
        tx.run("CREATE TABLE held (n INTEGER)")
        tx.run("INSERT INTO held VALUES (1)")
    holder = threading.Thread(target=hold)
    holder.start()
    locked.wait(30)
    try:
        with pytest.raises(OutOfReach) as refused, database.write() as tx:
            if tx.engine == "postgresql":
                assert tx.value("SHOW lock_timeout") == "10s"
                tx.run("SET LOCAL lock_timeout = '100ms'")
            tx.run("UPDATE held SET n = n + 1")
        assert int(refused.value.headers["retry-after"]) > 0
    finally:
        go_on.set()
        holder.join()
    with database.write() as tx:
        assert tx.value("SELECT n FROM held") == 2
        tx.run("DROP TABLE held")
