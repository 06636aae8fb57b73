"""A greedy organization and a modest one, at all that the requests of both wait for: who has much waiting waits behind
themselves."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

import psycopg
import pytest

from octavo.kit.db.database import Database, SqliteDatabase
from octavo.kit.db.postgres import PostgresDatabase
from octavo.kit.http.recent_access import RecentAccess
from octavo.kit.http.serving import run_served
from octavo.kit.scheduling import permits
from octavo.kit.scheduling.owners import NOBODY, Owner, Places, current_owner, done_for
from octavo.kit.scheduling.permits import compute
from octavo.kit.scheduling.shares import Busy, LoopTurns, Shares, request_threads
from octavo.kit.work.worker import Worker
from octavo.organization.access.tokens import create_token
from settled import PATIENCE, until
from visiting import ADDRESS, Visitor
from world import World

GREEDY, MODEST = ("greedy", "a"), ("modest", "b")


class Line:
    """Threads that wait for something one after the other, and in which order they got it."""

    def __init__(self, enter: Callable[[], AbstractContextManager[Any]], waiting: Callable[[], int]) -> None:
        self.order: list[str] = []
        self._enter, self._waiting = enter, waiting
        self._threads: list[threading.Thread] = []

    def join(self, owner: Owner) -> None:
        def run() -> None:
            with done_for(owner), self._enter():
                self.order.append(owner[0])

        before = self._waiting()
        self._threads.append(threading.Thread(target=run, daemon=True))
        self._threads[-1].start()
        until(lambda: self._waiting() > before)

    def end(self) -> list[str]:
        for thread in self._threads:
            thread.join(PATIENCE)
            assert not thread.is_alive()
        return self.order


def test_permits_go_to_the_longest_waiting_owner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(permits, "PATIENCE", 60.0)

    @contextmanager
    def computing() -> Iterator[None]:
        permits._permit.take()
        yield
        permits._permit.release()

    def busy() -> None:
        for owner in (GREEDY, GREEDY, GREEDY, MODEST, GREEDY):
            line.join(owner)

    line = Line(computing, lambda: permits._permit._places.waiting)
    with done_for(GREEDY):
        compute(busy)
    assert line.end() == ["modest", "greedy", "greedy", "greedy", "greedy"]


def test_write_turns_go_to_the_longest_waiting_owner(sqlite_world: World) -> None:
    database = sqlite_world.context.db
    assert isinstance(database, SqliteDatabase)
    line = Line(database.write, lambda: database._turns.waiting)
    with done_for(GREEDY), database.write():
        for owner in (GREEDY, GREEDY, GREEDY, MODEST, GREEDY):
            line.join(owner)
    assert line.end() == ["modest", "greedy", "greedy", "greedy", "greedy"]


def test_a_write_inside_a_write_is_refused_at_once(sqlite_world: World) -> None:
    database = sqlite_world.context.db
    with database.write(), pytest.raises(RuntimeError), database.write():
        pass
    with database.write() as tx:
        assert tx.value("SELECT 1") == 1


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_a_connection_is_reserved_for_owners_without_one(database: Database) -> None:
    assert isinstance(database, PostgresDatabase)
    for pool in (database._reads, database._writes):
        with ExitStack() as stack:
            taken = []
            while pool._turns.may_take(GREEDY):
                taken.append(stack.enter_context(held(pool, GREEDY)))
            assert len(taken) == pool.size - pool._turns.reserved < pool.size
            with done_for(GREEDY), pytest.raises(Busy):
                pool.get(0)
            stack.enter_context(held(pool, MODEST))
        assert (pool._turns.held, pool._turns.waiting) == (0, 0)


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_connections_go_to_the_longest_waiting_owner(database: Database) -> None:
    assert isinstance(database, PostgresDatabase)
    for pool, enter in ((database._reads, database.read), (database._writes, database.write)):
        line = Line(enter, lambda turns=pool._turns: turns.waiting)  # type: ignore[misc]
        with ExitStack() as rest, ExitStack() as first:
            first.enter_context(held(pool, GREEDY))
            while pool._turns.held < pool.size:
                rest.enter_context(held(pool, (f"other {pool._turns.held}", "c")))
            for owner in (GREEDY, GREEDY, MODEST, GREEDY):
                line.join(owner)
            first.close()
            # One connection goes from hand to hand, the others are held.
            until(lambda line=line: bool(line.order))  # type: ignore[misc]
        assert line.end() == ["modest", "greedy", "greedy", "greedy"]


@pytest.mark.parametrize("world", ["postgresql"], indirect=True)
def test_a_locked_row_of_one_organization_delays_no_other(world: World) -> None:
    """Its writers have all the connections that they may have, and each waits for what another transaction holds."""
    context, space = world.context, world.home["spaceId"]
    done: list[int] = []

    def write(number: int) -> None:
        with done_for((world.home["organizationId"], "")), context.db.write() as tx:
            tx.run("UPDATE spaces SET updated_at = updated_at + 1 WHERE id = :id", id=space)
        done.append(number)

    assert isinstance(context.db, PostgresDatabase)
    turns = context.db._writes._turns
    with psycopg.connect(context.settings.database) as holder:
        holder.execute("SELECT 1 FROM spaces WHERE id = %s FOR UPDATE", (space,))
        greedy = [threading.Thread(target=write, args=(number,), daemon=True) for number in range(20)]
        for thread in greedy:
            thread.start()
        until(lambda: turns.held + turns.waiting == 20)
        path = world.away.path("/spaces/{spaceId}")
        assert world.call("stranger", "PATCH", path, json={"title": "Meanwhile"}).status_code == 200
        assert done == [] and turns.waiting > 0
    for thread in greedy:
        thread.join(PATIENCE)
    assert len(done) == 20


@contextmanager
def held(pool: Any, owner: Owner) -> Iterator[Any]:
    with done_for(owner):
        connection = pool.get(PATIENCE)
    try:
        yield connection
    finally:
        pool.put(connection)


# --- threads of requests ------------------------------------------------------------------------------


def test_threads_are_reserved_for_owners_without_one() -> None:
    pool = request_threads("requests wait", 2, "octavo-test", connections=8)
    go = threading.Event()

    async def ask() -> None:
        greedy = [pool.submit(GREEDY, go.wait, PATIENCE) for _ in range(6)]
        assert (pool.held, pool.waiting) == (2, 4), "a lone organization has all that were asked for"
        with pytest.raises(Busy) as refused:
            pool.submit(GREEDY, print)
        assert int(refused.value.headers["retry-after"]) > 0
        # In the modest one's turn, whom the work is done for is known to all that it waits for.
        assert await pool.submit(MODEST, current_owner) == MODEST
        assert not any(each.is_over for each in greedy)
        go.set()
        assert all([await each for each in greedy])

    run_served(ask())
    pool.close()
    assert (pool.held, pool.waiting) == (0, 0)


def test_an_abandoned_request_holds_no_thread() -> None:
    pool = request_threads("requests wait", 1, "octavo-test", connections=100)
    go, began = threading.Event(), threading.Event()

    def work() -> None:
        began.set()
        go.wait(PATIENCE)

    async def ask() -> None:
        first, second, third = (pool.submit(GREEDY, run) for run in (work, go.wait, go.is_set))
        assert began.wait(PATIENCE)
        assert second.cancel() and not first.cancel() and pool.waiting == 1
        go.set()
        assert await third
        with pytest.raises(ZeroDivisionError):
            await pool.submit(GREEDY, lambda: 1 // 0)
        pool.close()
        assert (pool.held, pool.waiting) == (0, 0)
        late = pool.submit(GREEDY, print)
        with pytest.raises(asyncio.CancelledError):  # no one waits for threads that ended
            await late

    run_served(ask())


# --- the event loop -----------------------------------------------------------------------------------


def test_heavy_users_of_the_event_loop_only_delay_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LoopTurns, "TURN", 0)
    turns, order = LoopTurns("requests wait", 30), []

    async def ask(owner: Owner) -> None:
        await turns.run(lambda: owner, order.append, owner[1])

    async def ask_all() -> list[Any]:
        greedy = [("greedy", who) for who in "aaaaaaaaaaaaaaaaaaaaaaaaab"]
        owners = [*greedy, MODEST, *greedy[:8]]
        return await asyncio.gather(*map(ask, owners), return_exceptions=True)

    refused = [found for found in run_served(ask_all()) if found is not None]
    assert [type(each) for each in refused] == [Busy] * 4, "one organization's, above what may wait"
    assert len(order) == 31 and turns.waiting == 0
    assert sorted(order[:3]) == ["a", "b", "b"], "turns by organization, and in it by who it is"


def test_the_event_loop_does_other_things_between_two_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LoopTurns, "TURN", 0)
    turns, order = LoopTurns("requests wait", 30), []

    async def ask_all() -> None:
        loop = asyncio.get_running_loop()
        work = [asyncio.create_task(turns.run(lambda: GREEDY, order.append, n)) for n in range(3)]
        gone = asyncio.create_task(turns.run(lambda: GREEDY, order.append, "gone"))
        await asyncio.sleep(0)
        gone.cancel()
        loop.call_soon(order.append, "other")
        await asyncio.gather(*work)
        with pytest.raises(ZeroDivisionError):
            await turns.run(lambda: GREEDY, lambda: 1 // 0)

    run_served(ask_all())
    assert order.index("other") < order.index(2) and "gone" not in order
    assert turns.waiting == 0


def test_short_work_runs_immediately_without_taking_turns() -> None:
    turns = LoopTurns("requests wait", 30)
    turns.TURN = PATIENCE  # type: ignore[misc]
    asked: list[Owner] = []

    async def ask() -> None:
        for _ in range(3):
            assert await turns.run(lambda: asked.append(GREEDY) or GREEDY, str, 7) == "7"  # type: ignore[func-returns-value]

    run_served(ask())
    assert len(asked) <= 1, "the first one after a rest"


# --- whose a request is -------------------------------------------------------------------------------


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> list[Owner]:
    """Return in whose turn requests were answered on the event loop."""
    seen: list[Owner] = []
    run = LoopTurns.run

    async def note(self: LoopTurns, owner: Callable[[], Owner], *work: Any) -> Any:
        seen.append(owner())
        return await run(self, owner, *work)

    monkeypatch.setattr(LoopTurns, "run", note)
    # If no one waits, cached responses need no turn.
    monkeypatch.setattr(LoopTurns, "is_free", lambda self: False)
    return seen


def test_a_request_counts_for_an_organization_once_it_is_authorized(world: World, turns: list[Owner]) -> None:
    home, away = world.home, world.away
    admin, space = home.admin, home.path("/spaces/{spaceId}")
    mine = home["organizationId"]
    organization = f"/orgs/{mine}"
    with world.context.db.write() as tx:
        mine_alone = {"authorization": f"Bearer {create_token(tx, world.users[admin], name='new')}"}
    for path in (space, space, "/user", organization, organization, away.path("/spaces/{spaceId}")):
        world.call(admin, "GET", path, headers=mine_alone)
    assert [owner[0] for owner in turns][1:] == [mine, mine, "", mine, ""]
    # Naming objects of others uses none of their turns.
    turns.clear()
    with world.context.db.write() as tx:
        token = {"authorization": f"Bearer {create_token(tx, world.users['stranger'], name='new')}"}
    for headers in ({"authorization": "Bearer oct_nobodys"}, token):
        for _ in range(2):
            assert world.call("stranger", "GET", space, headers=headers).status_code in (401, 404)
    assert all(owner[0] != mine for owner in turns)


def test_a_visit_counts_for_the_organization_of_the_site(world: World, turns: list[Owner]) -> None:
    org = world.home["organizationId"]
    site = world.get(world.home.admin, world.home.path("/orgs/{organizationId}/sites/{siteId}"))
    published = world.post(world.home.admin, f"/orgs/{org}/sites/{site['id']}/publish", {})["urls"][
        "published"
    ]
    path = "/" + published.split("/", 3)[3]
    visitor = Visitor(world.context)
    for each in (path, path, "/nowhere/at-all/"):
        visitor.get(each)
    assert turns == [("", ADDRESS), (org, ADDRESS), ("", ADDRESS)]


def test_recent_access_is_remembered_by_place() -> None:
    known = RecentAccess()
    known.record("ann", "first", "space", "")
    assert known.organization("ann", "space") == "first"
    assert known.organization("ann", "other", "") == "first", "where they were let in last"
    assert known.organization("eve", "space", "") == ""
    known.record("ann", "second", "space")
    assert known.organization("ann", "space", "") == "second", "a space may go to another organization"


def test_a_job_counts_for_its_organization(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    context, seen = world.context, set()
    write = type(context.db).write

    def note(database: Database) -> AbstractContextManager[Any]:
        seen.add(current_owner())
        return write(database)

    monkeypatch.setattr(context.db, "write", lambda: note(context.db))
    world.post(
        world.home.admin,
        world.home.path("/spaces/{spaceId}/comments"),
        {"body": {"markdown": "Hello"}},
    )
    seen.clear()
    Worker(context.db, context).run_pending()
    assert NOBODY in seen, "who looks for jobs"
    assert (world.home["organizationId"], "") in seen
    assert current_owner() == NOBODY


def test_many_waiting_owners_are_served_as_fast_as_few() -> None:
    """The scheduler selects the next caller from a few candidates, and every waiting caller gets a turn."""
    places, order = Places(1, (1, 1), 0), []
    places.take(GREEDY)
    for number in range(200):
        owner = ("greedy", str(number))
        places.ask(owner, lambda owner=owner: order.append(owner))  # type: ignore[misc]
    places.ask(MODEST, lambda: order.append(MODEST))
    places.release(GREEDY)
    while places.held:
        places.release(order[-1])
    assert order[0] == MODEST and len(set(order)) == len(order) == 201
    assert isinstance(places, Places) and not isinstance(places, Shares)
