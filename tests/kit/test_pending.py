"""Calls that are awaited: what came of them, who gives up, and that nothing of them is left."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from octavo.kit.http.edge import in_thread, in_turn
from octavo.kit.http.serving import run_served
from octavo.kit.scheduling.pending import PendingCall, run_in
from octavo.kit.scheduling.shares import LoopTurns, SharedThreads, request_threads
from settled import PATIENCE

OWNER = ("organization", "a")


class Found:
    """Something that a call gives."""


class Wrong(Exception):
    pass


@pytest.fixture
def pool() -> Iterator[SharedThreads]:
    pool = request_threads("requests wait", 1, "octavo-test", connections=100)
    yield pool
    pool.close()


Way = Callable[[SharedThreads, Callable[[], Any]], Awaitable[Any]]


async def run_held(pool: SharedThreads, function: Callable[[], Any]) -> Any:
    found, give_back = await pool.begin(OWNER, 5, function)
    give_back()
    return found


async def run_on_loop(pool: SharedThreads, function: Callable[[], Any]) -> Any:
    return await LoopTurns("requests wait", 5).run(lambda: OWNER, function)


WAYS: dict[str, Way] = {
    "a thread": lambda pool, function: run_in(pool.threads, function),
    "a thread, with a place": run_held,
    "a thread, in turn": lambda pool, function: in_turn(pool, OWNER, function),
    "a thread, a piece": lambda pool, function: in_thread(pool, OWNER, function),
    "the loop": run_on_loop,
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_results_and_errors_are_released_with_their_waiters(way: Way, pool: SharedThreads) -> None:
    """Circles would keep it until the collector comes by."""
    left: list[weakref.ref[Any]] = []

    def give() -> Found:
        found = Found()
        left.append(weakref.ref(found))
        return found

    def fail() -> None:
        raise Noted

    class Noted(Wrong):
        def __init__(self) -> None:
            left.append(weakref.ref(self))

    async def ask() -> None:
        assert isinstance(await way(pool, give), Found)
        try:
            await way(pool, fail)
        except Wrong:
            return
        raise AssertionError("it did not fail")

    gc.disable()
    try:
        run_served(ask())
        # A pool thread holds its last task until the next one.
        pool.threads.submit(int).result(PATIENCE)
        assert [each() for each in left] == [None, None]
    finally:
        gc.enable()
    assert (pool.held, pool.waiting) == (0, 0)


def test_started_calls_finish_and_pending_calls_are_canceled(pool: SharedThreads) -> None:
    go, began, made = threading.Event(), threading.Event(), []

    def work() -> bool:
        began.set()
        return go.wait(PATIENCE)

    async def ask() -> None:
        first, second = PendingCall(work), PendingCall(made.append, 1)
        with ThreadPoolExecutor(1) as threads:
            threads.submit(first.run_apart)
            threads.submit(second.run_apart)
            assert began.wait(PATIENCE)
            assert second.cancel() and not first.cancel()
            with pytest.raises(asyncio.CancelledError):
                await second
            go.set()
            assert await first

    run_served(ask())
    assert made == []


def test_a_canceled_waiter_frees_its_place_after_the_call(pool: SharedThreads) -> None:
    go, began = threading.Event(), threading.Event()

    def work() -> None:
        began.set()
        go.wait(PATIENCE)

    def fail() -> None:
        raise Wrong

    async def ask() -> None:
        asked = asyncio.ensure_future(pool.begin(OWNER, 5, work))
        while not began.is_set():
            await asyncio.sleep(0.001)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        assert pool.held == 1
        go.set()
        while pool.held:
            await asyncio.sleep(0.001)
        with pytest.raises(Wrong):
            await pool.begin(OWNER, 5, fail)
        assert pool.held == 0

    run_served(ask())
