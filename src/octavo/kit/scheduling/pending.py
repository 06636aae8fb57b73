"""Calls that are made later, on the event loop or in a thread, and awaited.

The standard library's functions (``run_in_executor``, ``wrap_future``) leave behind two futures that refer to each
other, and keep the whole response in memory until circular garbage is collected. A busy server would keep thousands
of responses that have already been sent in memory. In addition, the traceback of an error in a future refers to the
code that awaited the future, and that code refers back to the error. This module avoids both.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Executor
from contextlib import suppress
from contextvars import copy_context
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class PendingCall(Generic[T]):
    """Call that is created on an event loop and awaited once on that loop. ``dropped``: a function that is called
    on the loop if the call ends without having been awaited. ``run`` and ``run_apart`` are thread-safe."""

    __slots__ = ("_arguments", "_claim", "_context", "_done", "_function", "_loop", "dropped", "is_over")

    def __init__(self, function: Callable[..., T], *arguments: object) -> None:
        self._loop = asyncio.get_running_loop()
        self._done: asyncio.Future[T] | None = self._loop.create_future()
        self._function = function
        self._arguments = arguments
        self._context = copy_context()
        self._claim = threading.Lock()
        """Claim that is taken once, either by the thread that makes the call or by code that cancels the call
        beforehand."""
        self.is_over = False
        self.dropped: Callable[[], None] | None = None

    def __await__(self) -> Generator[object, None, T]:
        assert self._done is not None
        try:
            return (yield from self._done.__await__())
        finally:
            self._done = None
            self.cancel()

    def cancel(self) -> bool:
        """Cancel the call and the code that awaits it, unless the call has started. Return whether the call was
        canceled. Call this on the event loop."""
        if not self._claim.acquire(blocking=False):
            return False
        if self._done is not None:
            self._done.cancel()
        return True

    def run(self) -> None:
        """Make the call on the loop, unless it was canceled."""
        if self._claim.acquire(blocking=False):
            self._end(*self._made())

    def run_apart(self) -> None:
        """Make the call in a thread, unless it was canceled."""
        outcome = [self._made() if self._claim.acquire(blocking=False) else (None, None)]
        self._leave()
        with suppress(RuntimeError):  # The loop is closed.
            # An error refers to the frames it passed, and this frame must not refer to the error.
            self._loop.call_soon_threadsafe(self._end, *outcome.pop())

    def _made(self) -> tuple[object, BaseException | None]:
        try:
            return self._context.run(self._function, *self._arguments), None
        except BaseException as error:
            return None, error

    def _leave(self) -> None:
        """Clean up in the thread before any waiting code is notified."""

    def _end(self, found: Any, error: BaseException | None) -> None:
        self.is_over = True
        done = self._done
        if done is None or done.done():
            if self.dropped is not None:
                self.dropped()
        elif error is None:
            done.set_result(found)
        else:
            done.set_exception(error)


async def run_in(threads: Executor, function: Callable[..., T], *arguments: object) -> T:
    """Run a function in one of the threads, and return its result."""
    work = PendingCall(function, *arguments)
    threads.submit(work.run_apart)
    return await work
