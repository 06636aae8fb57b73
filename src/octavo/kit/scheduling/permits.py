"""One thread computes at a time.

Threads that compute take the interpreter from each other and from the event loop, which answers most readers by itself:
it waits for all of them each time that it has let go of the interpreter, which every query and every piece that it
sends makes it do. So whoever computes for a request takes the one permit of its process, and gives it back while it
waits for something. What computes for long loses the permit to whose turn is next: it goes on computing, and keeps no
others from computing beside it. Turns go by owner (``owners``), so that those of an organization that computes much wait
behind each other.

Jobs compute with the same permit, and aside: they lose it after a moment, since nobody looks at how soon they are done,
and where they have lost it they wait for it again at the next place where nothing of others' is held (``pause``), of which
their loops have many. Without that, jobs that compute for seconds would compute beside everybody.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from .owners import Owner, Places, current_owner

T = TypeVar("T")

PATIENCE = 0.1
"""Seconds for which a thread keeps the permit while another wants it."""
ASIDE_PATIENCE = 0.005
"""The same for jobs."""


class _Thread(threading.local):
    aside = False
    """Whether it computes for a job."""
    writes = False
    """Whether others wait for what it holds, so that it must not wait for the permit."""


_thread = _Thread()


class _Permit:
    """The one permit, by the rule of all places: it goes round the owners that wait for it."""

    def __init__(self) -> None:
        self._places = Places(1, (1, 1), 0)
        self._lock = threading.Lock()
        self._holder: tuple[int, Owner] | None = None
        self._until = 0.0
        """Until when whoever holds it keeps it although another wants it."""

    def take(self) -> None:
        owner, thread = current_owner(), threading.get_ident()
        patience = ASIDE_PATIENCE if _thread.aside else PATIENCE

        def granted() -> None:
            with self._lock:
                self._holder, self._until = (thread, owner), time.monotonic() + patience

        if self._places.try_take(owner):
            return granted()
        free = threading.Event()

        def granted_late() -> None:
            granted()
            free.set()

        self._places.ask(owner, granted_late)
        while not free.wait(max(self._until - time.monotonic(), 0.001)):
            self._take_away()
        return None

    def _take_away(self) -> None:
        """Gives it on where somebody has had it for too long."""
        with self._lock:
            holder = self._holder
            if holder is None or time.monotonic() < self._until:
                return
            self._holder = None
        self._places.give_back(holder[1])

    def is_held(self) -> bool:
        holder = self._holder
        return holder is not None and holder[0] == threading.get_ident()

    def give_back(self) -> None:
        with self._lock:
            holder = self._holder
            if holder is None or holder[0] != threading.get_ident():
                return
            self._holder = None
        self._places.give_back(holder[1])


_permit = _Permit()


def compute(function: Callable[..., T], *arguments: Any) -> T:
    """What a function gives, run in this thread with the permit."""
    _permit.take()
    try:
        return function(*arguments)
    finally:
        _permit.give_back()


def compute_aside(function: Callable[..., T], *arguments: Any) -> T:
    """The same for a job."""
    _thread.aside = True
    try:
        return compute(function, *arguments)
    finally:
        _thread.aside = False


def pause() -> None:
    """A place where a job lets others compute, and waits for the permit where it has lost it."""
    if _thread.aside and not _thread.writes and not _permit.is_held():
        _permit.take()


@contextmanager
def waiting() -> Iterator[None]:
    """The block waits for somebody else (a server, a process, a place) and computes nothing: others may meanwhile."""
    if not _permit.is_held():
        yield
        pause()
        return
    _permit.give_back()
    try:
        yield
    finally:
        _permit.take()


@contextmanager
def without() -> Iterator[None]:
    """The block needs no permit: only one at a time does it, and others wait for it."""
    _permit.give_back()
    _thread.writes = True
    try:
        yield
    finally:
        _thread.writes = False
    pause()
