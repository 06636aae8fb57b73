"""Until when the work of this thread may go on.

Nothing can stop a thread from outside. Who sets a deadline relies on long loops to ``check`` it, and on whatever
waits (fetches, processes) to wait no longer than what is ``remaining``.
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
    """The deadline of this work has passed: it is to end without any further effect."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """The block may take so many seconds, or what is left of an outer limit."""
    token = _deadline.set(time.monotonic() + remaining(seconds))
    try:
        yield
    finally:
        _deadline.reset(token)


def left() -> float | None:
    """Seconds until the deadline, None without one; 0 when it has passed."""
    deadline = _deadline.get()
    return None if deadline is None else max(0.0, deadline - time.monotonic())


def remaining(most: float) -> float:
    """Seconds that are left, at most ``most``; 0 when the deadline has passed."""
    deadline = _deadline.get()
    return most if deadline is None else max(0.0, min(most, deadline - time.monotonic()))


def check() -> None:
    """Raises OutOfTime when the deadline has passed, and lets others compute. For every round of a loop that may take
    long."""
    if remaining(1) == 0:
        raise OutOfTime("the time for this work is over")
    pause()


@contextmanager
def ended_by(end: Callable[[], None]) -> Iterator[None]:
    """Calls ``end`` from another thread when the deadline passes within the block: for what waits where nothing checks,
    and stops waiting once its connection is closed."""
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
