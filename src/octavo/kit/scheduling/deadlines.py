"""Deadlines of the work in a thread.

Nothing can stop a thread from outside. Deadlines rely on long loops that ``check`` them, and on everything
that waits (fetches, processes) to wait no longer than the ``remaining`` time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from .permits import pause


class Deadline:
    """The end of the time for some work, ``seconds`` from now on the monotonic clock. Work that continues in
    parts renews it with each part."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.renew()

    def renew(self) -> None:
        """Restart the time limit of the work."""
        self.at = time.monotonic() + self.seconds


_deadlines: ContextVar[tuple[Deadline, ...]] = ContextVar("octavo_deadlines", default=())
"""Those of this work, outer ones first: the earliest counts."""


class OutOfTime(Exception):
    """Deadline that has passed: the work has to end without any further effect."""


@contextmanager
def within(deadline: Deadline) -> Iterator[None]:
    """Give the block a deadline, in addition to those of outer blocks."""
    token = _deadlines.set((*_deadlines.get(), deadline))
    try:
        yield
    finally:
        _deadlines.reset(token)


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Limit the block to this many seconds, or to the rest of an outer limit."""
    with within(Deadline(seconds)):
        yield


def left() -> float | None:
    """Return the seconds until the deadline, None without one; 0 when it has passed."""
    deadlines = _deadlines.get()
    return max(0.0, min(each.at for each in deadlines) - time.monotonic()) if deadlines else None


def remaining(most: float) -> float:
    """Return the seconds that are left, at most ``most``; 0 when the deadline has passed."""
    seconds = left()
    return most if seconds is None else min(most, seconds)


def check() -> None:
    """Raise OutOfTime when the deadline has passed, and let other threads compute. Call it in every round of
    a loop that may take long."""
    if remaining(1) == 0:
        raise OutOfTime("the time limit for this work was reached")
    pause()


@contextmanager
def ended_by(end: Callable[[], None]) -> Iterator[None]:
    """Call ``end`` from another thread when the deadline passes within the block: for code that waits without
    checking, and stops once its connection is closed."""
    seconds = left()
    if seconds is None:
        yield
        return
    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
