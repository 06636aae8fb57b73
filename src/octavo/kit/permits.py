"""Few threads compute at a time.

Threads that compute take the interpreter from each other and from the event loop, which answers most readers by itself:
with eight of them it waited for eight turns each time that it had let go of the interpreter, once for every piece that
it sent. So whoever computes for a request takes one of few permits, and gives it back while it waits for something.
Nobody waits long for one: what computes for seconds keeps no others from computing beside it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")

PERMITS = 2
"""In each process."""
PATIENCE = 0.1
"""Seconds after which a thread computes without a permit."""

_free: SimpleQueue[None] = SimpleQueue()
for _ in range(PERMITS):
    _free.put(None)


class _Held(threading.local):
    permit = False


_held = _Held()


def compute(function: Callable[..., T], *arguments: Any) -> T:
    """What a function gives, run in this thread with a permit, for which it waits ``PATIENCE`` at most."""
    _take()
    try:
        return function(*arguments)
    finally:
        give_back()


@contextmanager
def waiting() -> Iterator[None]:
    """The block waits for somebody else (a server, a process, a place) and computes nothing: others may meanwhile."""
    if not _held.permit:
        yield
        return
    give_back()
    try:
        yield
    finally:
        _take()


def give_back() -> None:
    """What this thread goes on with needs no permit: only one at a time does it, and others wait for it."""
    if _held.permit:
        _held.permit = False
        _free.put(None)


def _take() -> None:
    try:
        _free.get(timeout=PATIENCE)
    except Empty:
        return
    _held.permit = True
