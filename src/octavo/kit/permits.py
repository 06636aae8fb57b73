"""One thread computes at a time.

Threads that compute take the interpreter from each other and from the event loop, which answers most readers by itself:
it waits for all of them each time that it has let go of the interpreter, which every query and every piece that it
sends makes it do. So whoever computes for a request takes the one permit of its process, and gives it back while it
waits for something. What computes for long loses the permit to whoever has waited for it the longest: it goes on
computing, and keeps no others from computing beside it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")

PATIENCE = 0.1
"""Seconds for which a thread keeps the permit while another wants it."""


class _Permit:
    def __init__(self) -> None:
        self._changed, self._next = threading.Condition(), threading.Lock()
        self._holder: int | None = None
        self._since = 0.0

    def take(self) -> None:
        with self._next, self._changed:
            while self._holder is not None and (left := self._since + PATIENCE - time.monotonic()) > 0:
                self._changed.wait(left)
            self._holder, self._since = threading.get_ident(), time.monotonic()

    def is_held(self) -> bool:
        return self._holder == threading.get_ident()

    def give_back(self) -> None:
        with self._changed:
            if self.is_held():
                self._holder = None
                self._changed.notify()


_permit = _Permit()


def compute(function: Callable[..., T], *arguments: Any) -> T:
    """What a function gives, run in this thread with the permit."""
    _permit.take()
    try:
        return function(*arguments)
    finally:
        _permit.give_back()


@contextmanager
def waiting() -> Iterator[None]:
    """The block waits for somebody else (a server, a process, a place) and computes nothing: others may meanwhile."""
    if not _permit.is_held():
        yield
        return
    _permit.give_back()
    try:
        yield
    finally:
        _permit.take()


def give_back() -> None:
    """What this thread goes on with needs no permit: only one at a time does it, and others wait for it."""
    _permit.give_back()
