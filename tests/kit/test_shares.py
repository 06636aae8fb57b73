"""Slots that organizations share: the rule, every pool, and that there are no other pools."""

from __future__ import annotations

import ast
import asyncio
import gc
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from octavo.app import api_app
from octavo.delivery.reader.app import reader_edge
from octavo.kit.db.database import SqliteDatabase
from octavo.kit.http.serving import run_served
from octavo.kit.runtime.host import Host
from octavo.kit.scheduling import shares
from octavo.kit.scheduling.owners import Owner
from octavo.kit.scheduling.shares import WAITING, Busy, SharedThreads, Shares
from octavo.kit.work.worker import Worker
from settled import PATIENCE
from world import World

SRC = Path(shares.__file__).parents[2]


def fill(pool: Shares, organization: str, most: int = 10_000) -> list[Callable[[], None]]:
    """Take all slots that one organization can get, for any number of people."""
    taken = []
    for person in range(most):
        owner = (organization, str(person))
        while pool.may_take(owner) and len(taken) < most:
            taken.append(pool.hold(owner))
    return taken


# --- the rule -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 3, 4, 8, 16, 100])
def test_no_owner_gets_all_slots(size: int) -> None:
    pool = Shares("x", size)
    greedy = fill(pool, "greedy", 500)
    assert len(greedy) == max(1, size // 2)
    others = [fill(pool, name, 500) for name in ("second", "third", "fourth")]
    assert pool.held <= size
    if size > 1:
        assert others[0], "room is left for whoever has none"
        assert pool.may_take(("modest", "one")) or pool.held == size
    for give_back in greedy:
        give_back()
        give_back()  # once is enough
    assert pool.held == sum(map(len, others))


def test_one_person_leaves_room_in_their_organization() -> None:
    pool = Shares("x", 16)
    one = []
    while pool.may_take(("org", "one")):
        one.append(pool.hold(("org", "one")))
    assert len(one) == 4
    assert pool.may_take(("org", "two"))


def test_the_last_slots_are_reserved_for_owners_without_any() -> None:
    pool = Shares("x", 8)
    for name in ("a", "b", "c"):
        fill(pool, name, 500)
    assert pool.held == 6 + 1, "six to the greedy ones, and one of the last two to who had none"
    assert pool.may_take(("modest", "x"))


def test_slots_are_shared_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waiting callers take turns by organization, then by person, regardless of how many calls each has queued."""
    pool = Shares("x", 1, waiting=(1000, 1000))
    hold = pool.wait(("z", "z"), 0)
    served: list[Owner] = []
    tickets = []
    for owner, count in ((("a", "1"), 20), (("a", "2"), 3), (("b", "1"), 2), (("c", "1"), 1)):
        for _ in range(count):
            tickets.append(pool.ask(owner, lambda owner=owner: served.append(owner)))  # type: ignore[misc]
    hold()
    for _ in range(len(tickets)):
        pool.release(served[-1])
    assert [owner for owner, _ in served[:3]] == ["a", "b", "c"]
    assert Counter(served[:9]) == {("a", "1"): 3, ("a", "2"): 3, ("b", "1"): 2, ("c", "1"): 1}
    assert len(served) == 26 and (pool.held, pool.waiting) == (0, 0)
    assert not pool._in_line and not pool._held and not pool._waiting


def test_the_heaviest_owner_is_refused() -> None:
    pool = Shares("questions are being answered", 4)
    with ExitStack() as stack:
        for _ in range(pool.share(1)):
            stack.enter_context(pool.place(("greedy", str(_)), 0))
        for number in range(WAITING[0]):
            pool.ask(("greedy", str(number)), lambda: None)
        with pytest.raises(Busy) as refused:
            pool.wait(("greedy", "one more"), 0)
        assert refused.value.status == 503 and refused.value.headers["retry-after"] == "5"
        assert (
            refused.value.message == "Too many questions are being answered right now. Try again in a moment."
        )
        with pool.place(("modest", "x"), 0):
            pass


def test_one_person_does_not_fill_the_queue_of_their_organization() -> None:
    pool = Shares("x", 1)
    hold = pool.wait(("other", "x"), 0)
    for _ in range(WAITING[1]):
        pool.ask(("org", "greedy"), lambda: None)
    with pytest.raises(Busy):
        pool.ask(("org", "greedy"), lambda: None)
    pool.ask(("org", "modest"), lambda: None)
    hold()


def test_a_canceled_waiter_leaves_the_queue() -> None:
    pool = Shares("x", 1)
    hold = pool.wait(("a", "a"), 0)
    with pytest.raises(Busy):
        pool.wait(("b", "b"), 0.01)
    assert pool.waiting == 0
    hold()
    assert pool.held == 0


def test_random_threads_never_exceed_the_limit() -> None:
    """In any order of arrival, neither the size nor a share is exceeded, and no call is lost."""
    pool, chance = Shares("x", 6), random.Random(5)
    most: Counter[str] = Counter()
    now: Counter[str] = Counter()
    lock = threading.Lock()

    def work(seed: int) -> None:
        own = random.Random(seed)
        for _ in range(30):
            organization = own.choice("abc")
            try:
                with pool.place((organization, own.choice("12")), 5):
                    with lock:
                        now[organization] += 1
                        now["all"] += 1
                        for name in (organization, "all"):
                            most[name] = max(most[name], now[name])
                    time.sleep(own.random() / 2000)
                    with lock:
                        now[organization] -= 1
                        now["all"] -= 1
            except Busy:
                pass

    threads = [threading.Thread(target=work, args=(chance.random(),)) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most["all"] <= 6 and all(most[name] <= 3 for name in "abc")
    assert (pool.held, pool.waiting) == (0, 0) and not pool._held


def test_a_slot_is_used_until_its_work_is_done() -> None:
    pool = SharedThreads("x", 2, "octavo-test")
    began, go = threading.Event(), threading.Event()

    def work() -> None:
        began.set()
        go.wait()

    async def ask() -> None:
        task = asyncio.create_task(pool.run(("a", "a"), 5, work))
        assert await asyncio.to_thread(began.wait, PATIENCE)
        task.cancel()
        await asyncio.wait([task])
        assert pool.held == 1
        with pytest.raises(Busy):
            await pool.run(("a", "b"), 0.05, print)
        assert pool.waiting == 0
        assert await pool.run(("b", "b"), 5, pool.is_mine) is True
        go.set()
        assert await pool.run(("a", "c"), 5, str, 1) == "1"
        with pytest.raises(ZeroDivisionError):
            await pool.run(("a", "c"), 5, lambda: 1 / 0)

    run_served(ask())
    pool.close()
    assert pool.held == 0 and not pool.is_mine()


# --- every pool ---------------------------------------------------------------------------------------

POOLS = {
    "questions are being answered",
    "requests are waiting for integrations",
    "requests are waiting for other servers",
    "requests are being sent",
    "images are being generated",
    "integration scripts are running",
    "short jobs are running",
    "long jobs are running",
    "jobs are waiting for other servers",
    "event streams are open",
    "requests are being processed",
    "changes are being processed",
    "uploads are being processed",
    "pages are being rendered",
    "changes are being written",
    "app documents are being fetched",
}


@pytest.fixture
def pools(sqlite_world: World) -> Iterator[list[Shares]]:
    """Return all pools of one process, as it creates them."""
    gc.collect()
    before = set(shares.everywhere)
    context = sqlite_world.context
    apps = [api_app(context), reader_edge(context)]
    others = [Worker(context.db, context), Host(16)]
    made = set(shares.everywhere) - before | {
        context.questions,
        context.endpoints,
        context.servers,
        context.scripts,
        context.documents,
    }
    assert isinstance(context.db, SqliteDatabase)
    made.add(context.db._turns)
    yield sorted(made, key=lambda pool: pool.name)
    for app in apps:
        app.close()
    assert isinstance(others[1], Host)
    others[1].close()


def test_a_heavy_organization_leaves_room_in_every_pool(pools: list[Shares]) -> None:
    assert {pool.name for pool in pools} == POOLS, "a pool that is new belongs here, and shares"
    for pool in pools:
        greedy = fill(pool, "greedy")
        assert 0 < len(greedy) < max(2, pool.size), pool.name
        waiting = []
        with pytest.raises(Busy):
            for number in range(pool._waiting_most[0] + 1):
                waiting.append(pool.ask(("greedy", f"n{number}"), lambda: None))
        # The modest one has a place at once, as long as one is free; where there is one alone, the next.
        modest = pool.ask(("modest", "one"), lambda: None)
        if pool.size == 1:
            greedy.pop()()
        assert modest.holds, pool.name
        pool.release(modest.owner)
        for ticket in waiting:
            if pool.withdraw(ticket):
                pool.release(ticket.owner)
        for give_back in greedy:
            give_back()
        assert (pool.held, pool.waiting) == (0, 0), pool.name


OTHERS = {
    "operations/admin/site_checks.py": "a command, which nobody shares",
    "kit/scheduling/shares.py": "the pools themselves",
    "kit/work/worker.py": "runs what has a place in a group",
    "assistants/findings/outbound.py": "one job that checks links of all organizations, four hosts at a time",
    "kit/work/hub.py": "one thread, which tells all listeners",
    "kit/net/fetch.py": "look-ups of names, which nothing can stop",
    "content/live/group_commit.py": "one thread, which commits what all writers send",
    "content/changes/uploading.py": "files of one request, fetched together",
    "organization/identity/passwords.py": "hashes; attempts are counted by address before",
}
"""Files with threads or semaphores of their own, and why."""


KINDS_OF_POOLS = ("ThreadPoolExecutor", "Semaphore", "BoundedSemaphore")


def test_all_pools_use_shares() -> None:
    found = set()
    for path in sorted(SRC.rglob("*.py")):
        source = path.read_text()
        # To parse all of them takes seconds.
        if not any(pool in source for pool in KINDS_OF_POOLS):
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call):
                name = (
                    node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                )
                if name in KINDS_OF_POOLS:
                    found.add(str(path.relative_to(SRC)))
    assert found == set(OTHERS), "what organizations share goes through kit/scheduling/shares.py"
