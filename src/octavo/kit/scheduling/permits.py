"""Compute permit, held by one thread at a time.

Threads that compute compete for the interpreter with each other and with the event loop, which serves most readers
itself. The event loop releases the interpreter for every query and for every chunk that it sends, and then has to
wait for all of these threads. Therefore, code that computes for a request takes the single permit of its process,
and returns the permit while it waits. A thread that computes for a long time loses the permit to the next thread in
line. It continues to compute, but another thread can then compute at the same time. Owners take turns (``owners``),
so that the requests of an organization that uses a lot of computing time wait only for each other.

Jobs use the same permit with low priority. They lose it after a moment, because no client is waiting for them. They
then wait for it again at the next point at which they don't hold resources that others need (``pause``). There are
many of these points in their loops. Otherwise, jobs that compute for seconds would compete with all other work.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from .owners import Owner, Places, current_owner

T = TypeVar("T")

PATIENCE = 0.1
"""Number of seconds for which a thread can keep the permit while another thread is waiting for it."""
ASIDE_PATIENCE = 0.005
"""Number of seconds for which a job can keep the permit while another thread is waiting for it."""


class _Thread(threading.local):
    aside = False
    """Whether the thread computes for a job."""
    writes = False
    """Whether the thread holds a resource that other threads wait for. If so, it must not wait for the permit."""


_thread = _Thread()


class _Permit:
    """Compute permit. Each process has only one. Waiting owners get it in the order that
    ``owners.Places`` determines."""

    def __init__(self) -> None:
        self._places = Places(1, (1, 1), 0)
        self._lock = threading.Lock()
        self._holder: tuple[int, Owner] | None = None
        self._until = 0.0
        """Time until which the holder keeps the permit even if another thread wants it."""

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
        """Pass the permit on if its holder has kept it for too long."""
        with self._lock:
            holder = self._holder
            if holder is None or time.monotonic() < self._until:
                return
            self._holder = None
        self._places.release(holder[1])

    def is_held(self) -> bool:
        holder = self._holder
        return holder is not None and holder[0] == threading.get_ident()

    def release(self) -> None:
        with self._lock:
            holder = self._holder
            if holder is None or holder[0] != threading.get_ident():
                return
            self._holder = None
        self._places.release(holder[1])


_permit = _Permit()


def compute(function: Callable[..., T], *arguments: object) -> T:
    """Run a function in this thread while holding the permit."""
    _permit.take()
    try:
        return function(*arguments)
    finally:
        _permit.release()


def compute_aside(function: Callable[..., T], *arguments: object) -> T:
    """Run a job's function in this thread while holding the permit."""
    _thread.aside = True
    try:
        return compute(function, *arguments)
    finally:
        _thread.aside = False


def pause() -> None:
    """Let other threads compute, and wait for the permit if this thread has lost it. Loops in jobs call this."""
    if _thread.aside and not _thread.writes and not _permit.is_held():
        _permit.take()


@contextmanager
def waiting() -> Iterator[None]:
    """Run a block that waits (for a server, a process, or a slot) and doesn't compute anything. Other threads can
    compute in the meantime."""
    if not _permit.is_held():
        yield
        pause()
        return
    _permit.release()
    try:
        yield
    finally:
        _permit.take()


@contextmanager
def without() -> Iterator[None]:
    """Run a block without the permit. This is for blocks that only one thread can run at a time, because other
    threads wait for that thread."""
    _permit.release()
    _thread.writes = True
    try:
        yield
    finally:
        _thread.writes = False
    pause()
