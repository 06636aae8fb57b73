"""Deadlines for work in a thread.

A thread can't be stopped from outside. Therefore, long loops must ``check`` the deadline, and code that waits (for
fetches or processes) must not wait longer than the ``remaining`` time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from .permits import pause


class Deadline:
    """Time limit for some work. The deadline is ``seconds`` from now, according to the monotonic clock. Work that
    consists of several parts renews its deadline with each part."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.renew()

    def renew(self) -> None:
        """Restart the time limit of the work."""
        self.at = time.monotonic() + self.seconds


_deadlines: ContextVar[tuple[Deadline, ...]] = ContextVar("octavo_deadlines", default=())
"""Deadlines of the current work, outermost first. The earliest deadline applies."""


class DeadlineExceeded(Exception):
    """Raised if a deadline has passed. The work must then end without further effects."""


@contextmanager
def within(deadline: Deadline) -> Iterator[None]:
    """Set a deadline for the ``with`` block, in addition to the deadlines of outer blocks."""
    token = _deadlines.set((*_deadlines.get(), deadline))
    try:
        yield
    finally:
        _deadlines.reset(token)


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Limit the ``with`` block to this many seconds, or to the remaining time of an outer limit if that is less."""
    with within(Deadline(seconds)):
        yield


def left() -> float | None:
    """Return the number of seconds until the deadline; None if there is no deadline, and 0 if it has passed."""
    deadlines = _deadlines.get()
    return max(0.0, min(each.at for each in deadlines) - time.monotonic()) if deadlines else None


def remaining(most: float) -> float:
    """Return the number of remaining seconds, but at most ``most``; 0 if the deadline has passed."""
    seconds = left()
    return most if seconds is None else min(most, seconds)


def check() -> None:
    """Raise DeadlineExceeded if the deadline has passed, and let other threads compute. Call this in every
    iteration of a loop that may be slow."""
    if remaining(1) == 0:
        raise DeadlineExceeded("the operation exceeded its time limit")
    pause()


@contextmanager
def ended_by(end: Callable[[], None]) -> Iterator[None]:
    """Call ``end`` from another thread if the deadline passes within the block. This is for code that doesn't check
    the deadline while it waits, but stops waiting when its connection is closed."""
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
