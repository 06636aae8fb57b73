"""Turns of processes to write. The system distinguishes openings of a file, so two of them in one process are
like two processes."""

from __future__ import annotations

import fcntl
import multiprocessing
import threading
import time
from typing import Any

import pytest

from octavo.kit.scheduling import process_turns
from octavo.kit.scheduling.process_turns import ProcessTurns
from settled import PATIENCE, until


def is_locked(file: int) -> bool:
    if not process_turns._lock(file, fcntl.LOCK_EX | fcntl.LOCK_NB):
        return True
    process_turns._lock(file, fcntl.LOCK_UN)
    return False


@pytest.fixture
def two(tmp_path):
    found = [ProcessTurns(str(tmp_path / "octavo.db")) for _ in range(2)]
    yield found
    for each in found:
        each.close()


def test_only_one_process_has_the_turn(two):
    first, second = two
    assert first.take(PATIENCE)
    assert not second.take(0.05)
    first.release()
    assert second.take(PATIENCE)
    assert not first.take(0.05)
    second.release()


def test_a_turn_that_comes_too_late_is_passed_on(two):
    first, second = two
    assert first.take(PATIENCE)
    assert not second.take(0.01)
    first.release()
    # It comes to the second one, which waits no longer.
    assert first.take(PATIENCE)
    first.release()
    assert second.take(PATIENCE)
    second.release()


def test_recent_writers_queue_behind_waiting_ones(two):
    first, second = two
    order = []

    def write() -> None:
        assert second.take(PATIENCE)
        order.append("second")
        second.release()

    assert first.take(PATIENCE)
    waiting = threading.Thread(target=write)
    waiting.start()
    # It tries once without waiting, which takes the door for a moment; then it waits in the door.
    until(lambda: second._asks and is_locked(first._door))
    first.release()
    assert first.take(PATIENCE)
    order.append("first")
    first.release()
    waiting.join()
    assert order == ["second", "first"]


def _hold(path: str, holds: Any) -> None:
    turns = ProcessTurns(path)
    turns.take(PATIENCE)
    holds.set()
    time.sleep(PATIENCE)


def test_a_killed_process_releases_its_turn(tmp_path):
    path = str(tmp_path / "octavo.db")
    fork = multiprocessing.get_context("fork")
    holds = fork.Event()
    process = fork.Process(target=_hold, args=(path, holds))
    process.start()
    holds.wait(PATIENCE)
    turns = ProcessTurns(path)
    assert not turns.take(0.01)
    process.kill()
    assert turns.take(PATIENCE)
    turns.close()
    process.join()
