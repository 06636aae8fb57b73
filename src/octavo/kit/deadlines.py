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

_deadline: ContextVar[float | None] = ContextVar("octavo_deadline", default=None)


class OutOfTime(Exception):
    """Deadline that has passed: the work has to end without any further effect."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Limit the block to so many seconds, or to what is left of an outer limit."""
    token = _deadline.set(time.monotonic() + remaining(seconds))
    try:
        yield
    finally:
        _deadline.reset(token)


def left() -> float | None:
    """Return the seconds until the deadline, None without one; 0 when it has passed."""
    deadline = _deadline.get()
    return None if deadline is None else max(0.0, deadline - time.monotonic())


def remaining(most: float) -> float:
    """Return the seconds that are left, at most ``most``; 0 when the deadline has passed."""
    deadline = _deadline.get()
    return most if deadline is None else max(0.0, min(most, deadline - time.monotonic()))


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
