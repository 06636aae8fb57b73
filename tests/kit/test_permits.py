"""One thread computes for requests at a time, and none waits long."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest

from octavo.kit.scheduling import permits
from octavo.kit.scheduling.permits import compute, compute_aside, pause, waiting, without
from settled import PATIENCE


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(permits, "PATIENCE", 10 * PATIENCE)


class Computing:
    """A thread that computes until it is let go."""

    def __init__(
        self, then: Callable[[], object] = lambda: None, run: Callable[..., object] = compute
    ) -> None:
        self.began, self._go_on = threading.Event(), threading.Event()
        self._then = then
        self._thread = threading.Thread(target=run, args=(self._run,), daemon=True)
        self._thread.start()

    def _run(self) -> None:
        self.began.set()
        self._go_on.wait(PATIENCE)
        self._then()

    def let_go(self) -> None:
        self._go_on.set()

    def end(self) -> None:
        self.let_go()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()


@pytest.fixture
def busy() -> Iterator[Computing]:
    thread = Computing()
    assert thread.began.wait(PATIENCE)
    yield thread
    thread.end()


@pytest.mark.usefixtures("patient")
def test_later_callers_compute_when_another_has_ended(busy: Computing) -> None:
    late = Computing()
    assert not late.began.wait(0.05)
    busy.end()
    assert late.began.wait(PATIENCE)
    late.end()


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("leave", [without, waiting])
def test_waiting_callers_let_others_compute(leave: Callable[[], AbstractContextManager[None]]) -> None:
    left, stay = threading.Event(), threading.Event()

    def wait() -> None:
        with leave():
            left.set()
            stay.wait(PATIENCE)

    waiter = Computing(wait)
    assert waiter.began.wait(PATIENCE)
    waiter.let_go()
    assert left.wait(PATIENCE)
    other = Computing()
    assert other.began.wait(PATIENCE)
    other.end()
    stay.set()
    waiter.end()


def test_waiting_for_a_permit_is_short(busy: Computing) -> None:
    late = Computing()
    assert late.began.wait(PATIENCE)
    late.end()


def test_long_computations_delay_no_others(busy: Computing, monkeypatch: pytest.MonkeyPatch) -> None:
    late = Computing()
    assert late.began.wait(PATIENCE)
    monkeypatch.setattr(permits, "PATIENCE", 10 * PATIENCE)
    # The permit went from the first to the second: what the first does with it now changes nothing.
    busy.end()
    third = Computing()
    assert not third.began.wait(0.05)
    late.end()
    assert third.began.wait(PATIENCE)
    third.end()
    # No one had to wait for a lost permit.
    fourth = Computing()
    assert fourth.began.wait(PATIENCE)
    fourth.end()


def test_permits_are_always_released(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(permits, "PATIENCE", 10 * PATIENCE)

    def fail() -> None:
        with waiting():
            raise KeyError

    for _ in range(2):
        with pytest.raises(KeyError):
            compute(fail)
        with pytest.raises(ZeroDivisionError):
            compute(lambda: 1 // 0)
    assert compute(lambda: 7) == 7
    # Who does not hold it waits for none, and gives none.
    with waiting(), without():
        pass
    assert not permits._permit.is_held()


@pytest.mark.usefixtures("patient")
def test_a_job_yields_after_a_while_at_its_next_pause() -> None:
    paused = threading.Event()

    def pause_once() -> None:
        pause()
        paused.set()

    job = Computing(pause_once, compute_aside)
    assert job.began.wait(PATIENCE)
    request = Computing()
    assert request.began.wait(PATIENCE)
    job.let_go()
    assert not paused.wait(0.05)
    request.end()
    assert paused.wait(PATIENCE)
    job.end()
    assert compute(lambda: 7) == 7


@pytest.mark.usefixtures("patient")
def test_writing_jobs_do_not_wait_for_computing_ones() -> None:
    written = threading.Event()

    def write() -> None:
        with without():
            pause()
            with waiting():
                written.set()

    job = Computing(write, compute_aside)
    assert job.began.wait(PATIENCE)
    request = Computing()
    assert request.began.wait(PATIENCE)
    job.let_go()
    assert written.wait(PATIENCE)
    request.end()
    job.end()


def test_requests_never_yield(busy: Computing) -> None:
    pause()
    assert not permits._permit.is_held()
