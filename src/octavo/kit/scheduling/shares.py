"""Fair sharing of limited resources: threads, processes, questions to a model, streams, database connections, and
turns to write.

All of them are shared according to the same rule, which ``owners.Places`` implements. An owner can't hold more than its
share, which is at least one slot. Unless a pool specifies otherwise, the share of an organization is half of all slots,
and the share of each person or object in it is half of that. The last quarter of the slots is reserved for
organizations that don't hold any slots, so that a few busy organizations leave room for the others. Requests take
turns: a slot goes to the organization with the fewest slots, and within it, to the owner with the fewest slots. Among
equals, it goes to the owner that has waited the longest since its last slot. Only owners with too many waiting requests
are rejected.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, TypeVar
from weakref import WeakSet

from octavo.errors import Unavailable

from .owners import Owner, Places, Ticket, done_for, levels
from .pending import PendingCall
from .permits import waiting

T = TypeVar("T")

WAITING = (32, 16)
"""Maximum number of waiting requests of one organization, and of one person or object in it."""
_RETRY = "5"

everywhere: WeakSet[Shares] = WeakSet()
"""All instances in this process."""


_inside: ContextVar[tuple[Shares, ...]] = ContextVar("octavo_shares", default=())
"""Pools in which the current code holds a slot."""


class Busy(Unavailable):
    """Raised if the owner's other requests hold all of its slots and the queue is full."""

    reason = "busy"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"Too many {name} right now. Try again in a moment.",
            **{"retry-after": _RETRY},
        )


class Shares(Places):
    """Slots for one kind of resource.

    ``name``: the name of the resource in messages. ``each``: the maximum number of slots for an organization, and
    for a person or object in it. ``waiting``: the maximum number of waiting requests for each of the two.
    ``reserved``: the number of slots that are reserved for organizations that don't hold any.
    """

    def __init__(
        self,
        name: str,
        size: int,
        each: tuple[int, int] | None = None,
        waiting: tuple[int, int] = WAITING,
        reserved: int | None = None,
    ) -> None:
        if reserved is None:
            reserved = size // 4 if size >= 4 else (1 if size > 1 else 0)
        super().__init__(size, each or (size // 2, size // 4), reserved)
        self.name = name
        self._waiting_most = waiting
        everywhere.add(self)

    # --- taking a slot --------------------------------------------------------------------------------

    def wait(self, owner: Owner, seconds: float) -> Callable[[], None]:
        """Wait for a slot in this thread for at most ``seconds``. Return the function that releases the slot. Raises
        Busy if no slot becomes free in time."""
        if self.try_take(owner):
            return self._once(owner)
        free = threading.Event()
        ticket = self.ask(owner, free.set)
        with waiting():
            granted = free.wait(seconds)
        if not granted and not self.withdraw(ticket):
            raise Busy(self.name)
        return self._once(owner)

    @contextmanager
    def place(self, owner: Owner, seconds: float) -> Iterator[None]:
        """Hold a slot during the ``with`` block. Raises Busy if no slot becomes free in time."""
        give_back = self.wait(owner, seconds)
        try:
            yield
        finally:
            give_back()

    async def wait_for(self, owner: Owner, seconds: float) -> Callable[[], None]:
        """Wait for a slot without blocking a thread, and return the function that releases the slot. Raises Busy if
        no slot becomes free in time."""
        loop = asyncio.get_running_loop()
        free: asyncio.Future[None] = loop.create_future()

        def granted() -> None:
            with suppress(RuntimeError):  # The loop is closed.
                loop.call_soon_threadsafe(lambda: None if free.done() else free.set_result(None))

        ticket = self.ask(owner, granted)
        if ticket.holds:
            return self._once(owner)
        try:
            await asyncio.wait_for(free, seconds)
        except BaseException as error:
            if self.withdraw(ticket):
                self.release(owner)
            if isinstance(error, TimeoutError):
                raise Busy(self.name) from None
            raise
        return self._once(owner)

    def hold(self, owner: Owner) -> Callable[[], None]:
        """Take a slot after ``may_take`` has returned True, and return the function that releases the slot."""
        self.take(owner)
        return self._once(owner)

    def ask(self, owner: Owner, granted: Callable[[], None]) -> Ticket:
        with self._lock:
            for level, most in zip(levels(owner), self._waiting_most, strict=False):
                if self._in_line[level] >= most:
                    raise Busy(self.name)
        return super().ask(owner, granted)

    def _once(self, owner: Owner) -> Callable[[], None]:
        held = [owner]

        def give_back() -> None:
            if held:
                self.release(held.pop())

        return give_back


class SharedThreads(Shares):
    """Separate threads for slow work, each with a slot."""

    def __init__(
        self,
        name: str,
        size: int,
        thread_name: str,
        each: tuple[int, int] | None = None,
        waiting: tuple[int, int] = WAITING,
        reserved: int | None = None,
    ) -> None:
        super().__init__(name, size, each, waiting, reserved)
        self.threads = ThreadPoolExecutor(size, thread_name_prefix=thread_name)

    async def begin(
        self, owner: Owner, seconds: float, function: Callable[..., T], *arguments: object
    ) -> tuple[T, Callable[[], None]]:
        """Run a function in one of the threads when a slot becomes free, with a time limit for the wait. Return its
        result, and the function that releases the slot.

        If the function fails, or if its result is no longer needed, the slot is released when the function ends. Raises
        Busy if no slot becomes free in time.
        """
        give_back = await self.wait_for(owner, seconds)
        work = PendingCall(self._run_inside, function, *arguments)
        try:
            self.threads.submit(work.run_apart)
            return await work, give_back
        except BaseException:
            if work.is_over or work.cancel():
                give_back()
            else:
                work.dropped = give_back
            raise

    async def run(self, owner: Owner, seconds: float, function: Callable[..., T], *arguments: object) -> T:
        """Run a function in a slot, and release the slot afterward. Raises Busy if no slot becomes free in time."""
        found, give_back = await self.begin(owner, seconds, function, *arguments)
        give_back()
        return found

    def submit(self, owner: Owner, function: Callable[..., T], *arguments: object) -> PendingCall[T]:
        """Run a function in one of the threads when a slot becomes free. The call holds a slot only from then on,
        and not at all if it is canceled. Raises Busy if too many calls are waiting."""
        return _Placed(self, owner, function, *arguments)

    def _run_inside(self, function: Callable[..., T], *arguments: object) -> T:
        token = _inside.set((*_inside.get(), self))
        try:
            return function(*arguments)
        finally:
            _inside.reset(token)

    def is_mine(self) -> bool:
        """Return whether the caller is running in one of these threads, and therefore doesn't need another slot."""
        return self in _inside.get()

    def close(self) -> None:
        self.threads.shutdown(wait=True)


def _for(owner: Owner, function: Callable[..., T], *arguments: object) -> T:
    with done_for(owner):
        return function(*arguments)


class _Placed(PendingCall[T]):
    """Call that waits for a free thread in a pool, and then runs in that thread."""

    __slots__ = ("_owner", "_pool", "_ticket")

    def __init__(
        self, pool: SharedThreads, owner: Owner, function: Callable[..., T], *arguments: object
    ) -> None:
        super().__init__(_for, owner, function, *arguments)
        self._pool, self._owner = pool, owner
        self._ticket: Ticket | None = None
        ticket = pool.ask(owner, self._begin)
        if not ticket.holds:
            self._ticket = ticket

    def _begin(self) -> None:
        self._ticket = None
        try:
            self._pool.threads.submit(self.run_apart)
        except RuntimeError:  # Closed in the meantime.
            with suppress(RuntimeError):  # The loop may be closed as well.
                self._loop.call_soon_threadsafe(self.cancel)

    def cancel(self) -> bool:
        is_mine = super().cancel()
        ticket, self._ticket = self._ticket, None
        if is_mine and ticket is not None:
            self._pool.withdraw(ticket)
        return is_mine

    def _leave(self) -> None:
        self._pool.release(self._owner)


def request_threads(name: str, threads: int, thread_name: str, connections: int) -> SharedThreads:
    """Return threads for requests. A single organization can use the configured number of threads, and there are a
    quarter more for other organizations. ``connections``: a process's number of connections. The waiting requests of
    one organization can use up to half of these connections."""
    more = max(1, threads // 4)
    most = max(1, connections // 2)
    return SharedThreads(
        name, threads + more, thread_name, each=(threads, threads), waiting=(most, most), reserved=more
    )


class LoopTurns:
    """Fair shares of the event loop for owners, for short tasks that run directly on the loop because starting a
    thread would take longer.

    The loop itself serves connections in the order in which data arrives. If one owner sends five hundred requests,
    the next owner would have to wait for all of them. Therefore, after ``TURN`` seconds of work, further work waits
    in queues, one for each owner. The queues are served in turn for ``TURN`` seconds at a time; in between, the
    loop does all other work. If at most ``FEW`` calls are waiting when the loop starts to serve the queues, new
    work runs immediately for the next ``REST`` × ``TURN`` seconds, once the queues are empty. Each instance belongs
    to one event loop. ``most``: the maximum number of waiting requests of an organization."""

    TURN = 0.001
    FEW, REST = 4, 10

    def __init__(self, name: str, most: int) -> None:
        self.name = name
        self._most = most
        self._lines: dict[str, dict[str, deque[PendingCall[Any]]]] = {}
        """Queues by organization, and by person or object in it. The most recently served queue comes last."""
        self._counts: dict[str, int] = {}
        self._until = 0.0
        """Time until which new work is done immediately if no calls are waiting."""
        self._scheduled: asyncio.AbstractEventLoop | None = None

    @property
    def waiting(self) -> int:
        return sum(self._counts.values())

    def is_free(self) -> bool:
        """Return whether new work can be done immediately, without ``run``, because no calls are waiting, and none
        will have to wait soon."""
        return not self._lines and time.monotonic() < self._until

    async def run(self, owner: Callable[[], Owner], function: Callable[..., T], *arguments: object) -> T:
        """Run a function on the event loop when its owner's turn comes, and return its result. If no other calls
        are waiting, run it immediately. Raises Busy if too many calls are waiting."""
        if self.is_free():
            return function(*arguments)
        loop = asyncio.get_running_loop()
        work = PendingCall(function, *arguments)
        organization, *inner = owner()
        count = self._counts.get(organization, 0)
        if count >= self._most:
            raise Busy(self.name)
        self._counts[organization] = count + 1
        self._lines.setdefault(organization, {}).setdefault(inner[0] if inner else "", deque()).append(work)
        self._schedule(loop)
        return await work

    def _schedule(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._scheduled is not loop:
            self._scheduled = loop
            # This runs after everything that the sockets have received until then. ``call_soon`` does that on the
            # serving loop, but not on the standard library's, which runs queued work when it begins.
            loop.call_later(0, self._serve, loop)

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        self._scheduled = None
        began, are_few = time.monotonic(), self.waiting <= self.FEW
        until = began + self.TURN
        # Waiting in the queue takes time, which should be rare if the queue is short.
        self._until = began + self.REST * self.TURN if are_few else until
        try:
            while self._lines:
                self._next().run()
                if time.monotonic() > until:
                    break
        finally:
            if self._lines:
                self._schedule(loop)

    def _next(self) -> PendingCall[object]:
        organization, inside = next(iter(self._lines.items()))
        who, line = next(iter(inside.items()))
        work = line.popleft()
        del inside[who], self._lines[organization]
        if line:
            inside[who] = line
        if inside:
            self._lines[organization] = inside
        left = self._counts.pop(organization) - 1
        if left:
            self._counts[organization] = left
        return work
