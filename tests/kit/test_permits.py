"""Few threads compute for requests at a time, and none waits long."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from octavo.kit import permits
from octavo.kit.permits import PERMITS, compute, give_back, waiting

SOON = 5.0


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(permits, "PATIENCE", 60.0)


class Computing:
    """A thread that computes until it is let go."""

    def __init__(self, then: Callable[[], object] = lambda: None) -> None:
        self.began, self._go_on = threading.Event(), threading.Event()
        self._then = then
        self._thread = threading.Thread(target=compute, args=(self._run,), daemon=True)
        self._thread.start()

    def _run(self) -> None:
        self.began.set()
        self._go_on.wait(SOON)
        self._then()

    def let_go(self) -> None:
        self._go_on.set()

    def end(self) -> None:
        self.let_go()
        self._thread.join(SOON)
        assert not self._thread.is_alive()


@pytest.fixture
def busy() -> Iterator[list[Computing]]:
    threads = [Computing() for _ in range(PERMITS)]
    assert all(one.began.wait(SOON) for one in threads)
    yield threads
    for one in threads:
        one.end()


@pytest.mark.usefixtures("patient")
def test_who_comes_later_computes_when_another_has_ended(busy: list[Computing]) -> None:
    late = Computing()
    assert not late.began.wait(0.05)
    busy[0].end()
    assert late.began.wait(SOON)
    late.end()


@contextmanager
def given_back() -> Iterator[None]:
    give_back()
    yield


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("leave", [given_back, waiting])
def test_who_waits_lets_others_compute(leave: Callable[[], AbstractContextManager[None]]) -> None:
    left, stay = threading.Event(), threading.Event()

    def wait() -> None:
        with leave():
            left.set()
            stay.wait(SOON)

    waiters = [Computing(wait) for _ in range(PERMITS)]
    for one in waiters:
        assert one.began.wait(SOON)
        one.let_go()
    assert left.wait(SOON)
    others = [Computing() for _ in range(PERMITS)]
    assert all(one.began.wait(SOON) for one in others)
    for one in others:
        one.end()
    stay.set()
    for one in waiters:
        one.end()


def test_nobody_waits_long(busy: list[Computing]) -> None:
    late = Computing()
    assert late.began.wait(SOON)
    late.end()


def test_a_permit_is_given_back_whatever_happens() -> None:
    def fail() -> None:
        with waiting():
            raise KeyError

    for _ in range(PERMITS + 1):
        with pytest.raises(KeyError):
            compute(fail)
        with pytest.raises(ZeroDivisionError):
            compute(lambda: 1 // 0)
    began = time.monotonic()
    assert compute(lambda: 7) == 7
    assert time.monotonic() - began < permits.PATIENCE
    # Who has none waits for none, and gives none.
    with waiting():
        give_back()
    assert permits._free.qsize() == PERMITS
