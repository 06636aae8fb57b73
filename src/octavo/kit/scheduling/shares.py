"""Places that many want and few can have at a time, shared fairly: threads, processes, questions to a model, streams,
connections of a database, the turn to write.

One rule for all of them, ``owners.Places``. An owner holds no more than a share: half of all places for an organization
and half of that for each one in it, unless a pool says otherwise, and at least one. The last quarter is for
organizations that hold none, so that a few greedy ones leave room for others. Who waits takes turns: a place goes to the
organization with the fewest, in it to the one with the fewest, and among equals to whoever had none for the longest.
Refused is who has taken much already: when more of an owner wait than may, only that owner hears so.
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
"""How many of one organization may wait for a place, and of one in it."""
_RETRY = "5"

everywhere: WeakSet[Shares] = WeakSet()
"""All that there are in this process."""


_inside: ContextVar[tuple[Shares, ...]] = ContextVar("octavo_shares", default=())
"""Where what runs just now has a place."""


class Busy(Unavailable):
    """The owner's other requests hold all its places, and the queue is full."""

    reason = "busy"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"Too many {name} just now. Try again in a moment.",
            **{"retry-after": _RETRY},
        )


class Shares(Places):
    """So many places of a kind. ``name``: what there is too much of, in messages. ``each``: how many of them an
    organization may hold, and one in it; ``waiting``: how many of them may wait; ``reserved``: how many of the last
    places are for organizations that hold none."""

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

    # --- taking a place -------------------------------------------------------------------------------

    def wait(self, owner: Owner, seconds: float) -> Callable[[], None]:
        """A place, for which this thread waits so long: what gives it back. Raises Busy."""
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
        """The same for a block."""
        give_back = self.wait(owner, seconds)
        try:
            yield
        finally:
            give_back()

    async def wait_for(self, owner: Owner, seconds: float) -> Callable[[], None]:
        """A place, without a thread that waits: what gives it back. Raises Busy."""
        loop = asyncio.get_running_loop()
        free: asyncio.Future[None] = loop.create_future()

        def granted() -> None:
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(lambda: None if free.done() else free.set_result(None))

        ticket = self.ask(owner, granted)
        if ticket.holds:
            return self._once(owner)
        try:
            await asyncio.wait_for(free, seconds)
        except BaseException as error:
            if self.withdraw(ticket):
                self.give_back(owner)
            if isinstance(error, TimeoutError):
                raise Busy(self.name) from None
            raise
        return self._once(owner)

    def hold(self, owner: Owner) -> Callable[[], None]:
        """A place that was found free by ``may_take``: what gives it back."""
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
                self.give_back(held.pop())

        return give_back


class SharedThreads(Shares):
    """Threads of their own for what may take long, with a place for each."""

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
        self, owner: Owner, seconds: float, function: Callable[..., T], *arguments: Any
    ) -> tuple[T, Callable[[], None]]:
        """What a function gives in one of the threads, once there is a place, for which it waits so long; and what
        gives the place back. Where it fails, or nobody waits for it any more, the place is given back when it is done.
        Raises Busy."""
        give_back = await self.wait_for(owner, seconds)
        work = PendingCall(self._run_inside, function, *arguments)
        try:
            self.threads.submit(work.run_apart)
            return await work, give_back
        except BaseException:
            if work.is_over or work.give_up():
                give_back()
            else:
                work.dropped = give_back
            raise

    async def run(self, owner: Owner, seconds: float, function: Callable[..., T], *arguments: Any) -> T:
        """The same for what needs the place no longer afterwards."""
        found, give_back = await self.begin(owner, seconds, function, *arguments)
        give_back()
        return found

    def submit(self, owner: Owner, function: Callable[..., T], *arguments: Any) -> PendingCall[T]:
        """What a function gives in one of the threads, once there is a place: none is held before, and by nobody who
        gives up. Raises Busy."""
        return _Placed(self, owner, function, *arguments)

    def _run_inside(self, function: Callable[..., T], *arguments: Any) -> T:
        token = _inside.set((*_inside.get(), self))
        try:
            return function(*arguments)
        finally:
            _inside.reset(token)

    def is_mine(self) -> bool:
        """Whether this runs in one of the threads, which therefore needs no other place."""
        return self in _inside.get()

    def close(self) -> None:
        self.threads.shutdown(wait=True)


def _for(owner: Owner, function: Callable[..., T], *arguments: Any) -> T:
    with done_for(owner):
        return function(*arguments)


class _Placed(PendingCall[T]):
    """What waits for a place in threads, and runs there."""

    __slots__ = ("_owner", "_pool", "_ticket")

    def __init__(
        self, pool: SharedThreads, owner: Owner, function: Callable[..., T], *arguments: Any
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
        except RuntimeError:  # closed meanwhile
            with suppress(RuntimeError):  # as the loop may be
                self._loop.call_soon_threadsafe(self.give_up)

    def give_up(self) -> bool:
        is_mine = super().give_up()
        ticket, self._ticket = self._ticket, None
        if is_mine and ticket is not None:
            self._pool.withdraw(ticket)
        return is_mine

    def _leave(self) -> None:
        self._pool.give_back(self._owner)


def request_threads(name: str, threads: int, thread_name: str, connections: int) -> SharedThreads:
    """Threads for requests: as many as were asked for to an organization, so that a lone one has all that there were,
    and a quarter more to others. ``connections``: how many a process has, of which half may wait here for one
    organization."""
    more = max(1, threads // 4)
    most = max(1, connections // 2)
    return SharedThreads(
        name, threads + more, thread_name, each=(threads, threads), waiting=(most, most), reserved=more
    )


class LoopTurns:
    """Turns on the event loop, for what is done there at once because that is sooner than a thread.

    The loop itself takes connections in the order in which they have something to say: five hundred requests of one
    owner would be answered before the next one's. So what takes longer than ``TURN`` seconds in one go waits in lines,
    an owner each, that are served in turn, so long each time; between two times the loop does what else there is. Where
    at most ``FEW`` stand in line, what follows is done at once for ``REST`` times as long. Of one event loop; ``most``:
    how many of an organization may wait.
    """

    TURN = 0.001
    FEW, REST = 4, 10

    def __init__(self, name: str, most: int) -> None:
        self.name = name
        self._most = most
        self._lines: dict[str, dict[str, deque[PendingCall[Any]]]] = {}
        """By organization and who it is in it; whoever was served last at the end."""
        self._counts: dict[str, int] = {}
        self._until = 0.0
        """Until when what comes is done at once, as long as nobody waits."""
        self._scheduled: asyncio.AbstractEventLoop | None = None

    @property
    def waiting(self) -> int:
        """How many wait."""
        return sum(self._counts.values())

    def is_free(self) -> bool:
        """Whether what comes now is done at once, without ``run``: nobody waits, and nobody is to before long."""
        return not self._lines and time.monotonic() < self._until

    async def run(self, owner: Callable[[], Owner], function: Callable[..., T], *arguments: Any) -> T:
        """What a function gives, run on the event loop in its owner's turn; at once where nobody waits. Raises Busy."""
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
            # Behind what the sockets have had to say until then, as ``call_soon`` is on the loop that serves, but not on
            # that of the standard library: that is in line when it begins.
            loop.call_later(0, self._serve, loop)

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        self._scheduled = None
        began, are_few = time.monotonic(), self.waiting <= self.FEW
        until = began + self.TURN
        # Standing in line costs something, which nobody is to pay often where the line is short.
        self._until = began + self.REST * self.TURN if are_few else until
        try:
            while self._lines:
                self._next().run()
                if time.monotonic() > until:
                    break
        finally:
            if self._lines:
                self._schedule(loop)

    def _next(self) -> PendingCall[Any]:
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
