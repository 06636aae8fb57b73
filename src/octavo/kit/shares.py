"""Places that many want and few can have at a time, shared fairly: threads, processes, questions to a model, streams.

One rule for all of them. Whoever takes a place has an owner, written from the outside in: an organization, and in it
whoever or whatever is to leave room for the rest of it. An owner holds no more than a share: half of all places for an
organization and half of that for each one in it, unless a pool says otherwise, and at least one. The last quarter is for organizations that hold none,
so that a few greedy ones leave room for others. Who waits takes turns: a place goes to the organization with the
fewest, in it to the one with the fewest, and among equals to whoever had none for the longest. Refused is who has taken
much already: when more of an owner wait than may, only that owner hears so.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, TypeVar
from weakref import WeakSet

from ..errors import Unavailable
from .permits import waiting

T = TypeVar("T")
Owner = tuple[str, ...]
"""An organization, and whoever or whatever it is in it. What belongs to none has an empty text in its place."""

WAITING = 32
"""How many of one organization may wait for a place; half of them for one in it."""
_RETRY = "5"

everywhere: WeakSet[Shares] = WeakSet()
"""All that there are in this process."""


_inside: ContextVar[tuple[Shares, ...]] = ContextVar("octavo_shares", default=())
"""Where what runs just now has a place."""


class Busy(Unavailable):
    """Others of the same owner have all the places that it may have, and as many wait as may."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"Too many {name} just now. Try again in a moment.",
            **{"retry-after": _RETRY},
        )


class _Ticket:
    """Somebody who waits. ``granted`` is called once, without the lock, by whoever gives a place back."""

    __slots__ = ("granted", "holds", "owner")

    def __init__(self, owner: Owner, granted: Callable[[], None]) -> None:
        self.owner = owner
        self.granted = granted
        self.holds = False


def _levels(owner: Owner) -> Iterator[Owner]:
    for depth in range(1, len(owner) + 1):
        yield owner[:depth]


class Shares:
    """So many places of a kind. ``name``: what there is too much of, in messages. ``each``: how many of them an
    organization may hold, and one in it."""

    def __init__(
        self, name: str, size: int, each: tuple[int, int] | None = None, waiting: int = WAITING
    ) -> None:
        self.name = name
        self.size = size
        self._each = each or (size // 2, size // 4)
        self.reserved = size // 4 if size >= 4 else (1 if size > 1 else 0)
        self._waiting_most = waiting
        self._lock = threading.Lock()
        self._held: Counter[Owner] = Counter()
        self._total = 0
        self._waiting: dict[Owner, deque[_Ticket]] = {}
        self._in_line: Counter[Owner] = Counter()
        self._served: OrderedDict[Owner, int] = OrderedDict()
        self._turn = 0
        everywhere.add(self)

    @property
    def held(self) -> int:
        """Places that are taken."""
        return self._total

    @property
    def waiting(self) -> int:
        """How many wait for one."""
        return sum(map(len, self._waiting.values()))

    def share(self, depth: int) -> int:
        """Places that an owner may hold: an organization (1), or one in it (2)."""
        return max(1, self._each[depth - 1])

    # --- taking a place -------------------------------------------------------------------------------

    def wait(self, owner: Owner, seconds: float) -> Callable[[], None]:
        """A place, for which this thread waits so long: what gives it back. Raises Busy."""
        free = threading.Event()
        ticket = self._ask(owner, free.set)
        with waiting():
            granted = free.wait(seconds)
        if not granted and not self._withdraw(ticket):
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

        ticket = self._ask(owner, granted)
        if ticket.holds:
            return self._once(owner)
        try:
            await asyncio.wait_for(free, seconds)
        except BaseException as error:
            if self._withdraw(ticket):
                self._give_back(owner)
            if isinstance(error, TimeoutError):
                raise Busy(self.name) from None
            raise
        return self._once(owner)

    def may_take(self, owner: Owner) -> bool:
        """Whether there is a place for an owner just now, for who chooses by themselves whom to serve."""
        with self._lock:
            return self._may(owner)

    def take(self, owner: Owner) -> Callable[[], None]:
        """A place that was found free by ``may_take``: what gives it back."""
        with self._lock:
            self._take(owner)
        return self._once(owner)

    def _once(self, owner: Owner) -> Callable[[], None]:
        held = [owner]

        def give_back() -> None:
            if held:
                self._give_back(held.pop())

        return give_back

    # --- the rule -------------------------------------------------------------------------------------

    def _may(self, owner: Owner) -> bool:
        if self._total >= self.size:
            return False
        if self._held[owner[:1]] and self._total >= self.size - self.reserved:
            return False
        return all(self._held[level] < self.share(len(level)) for level in _levels(owner))

    def _take(self, owner: Owner) -> None:
        self._total += 1
        self._turn += 1
        for level in _levels(owner):
            self._held[level] += 1
            self._served[level] = self._turn
            self._served.move_to_end(level)
        while len(self._served) > 10_000:
            self._served.popitem(last=False)

    def _ask(self, owner: Owner, granted: Callable[[], None]) -> _Ticket:
        ticket = _Ticket(owner, granted)
        with self._lock:
            for level in _levels(owner):
                if self._in_line[level] >= max(1, self._waiting_most >> (len(level) - 1)):
                    raise Busy(self.name)
            self._waiting.setdefault(owner, deque()).append(ticket)
            for level in _levels(owner):
                self._in_line[level] += 1
            found = self._choose()
        self._grant(found)
        return ticket

    def _withdraw(self, ticket: _Ticket) -> bool:
        """Waits no longer; whether it had a place by then."""
        with self._lock:
            if ticket.holds:
                return True
            self._waiting[ticket.owner].remove(ticket)
            self._leave_line(ticket.owner)
            return False

    def _leave_line(self, owner: Owner) -> None:
        if not self._waiting[owner]:
            del self._waiting[owner]
        for level in _levels(owner):
            self._in_line[level] -= 1
            if not self._in_line[level]:
                del self._in_line[level]

    def _choose(self) -> list[_Ticket]:
        """Those who have a place from now on."""
        found = []
        while self._total < self.size:
            able = [owner for owner in self._waiting if self._may(owner)]
            if not able:
                break
            owner = min(able, key=self._rank)
            ticket = self._waiting[owner].popleft()
            self._leave_line(owner)
            self._take(owner)
            ticket.holds = True
            found.append(ticket)
        return found

    def _rank(self, owner: Owner) -> tuple[tuple[int, int], ...]:
        return tuple((self._held[level], self._served.get(level, 0)) for level in _levels(owner))

    def _give_back(self, owner: Owner) -> None:
        with self._lock:
            self._total -= 1
            for level in _levels(owner):
                self._held[level] -= 1
                if not self._held[level]:
                    del self._held[level]
            found = self._choose()
        self._grant(found)

    @staticmethod
    def _grant(tickets: list[_Ticket]) -> None:
        for ticket in tickets:
            ticket.granted()


class SharedThreads(Shares):
    """Threads of their own for what may take long, with a place for each."""

    def __init__(
        self,
        name: str,
        size: int,
        thread_name: str,
        each: tuple[int, int] | None = None,
        waiting: int = WAITING,
    ) -> None:
        super().__init__(name, size, each, waiting)
        self.threads = ThreadPoolExecutor(size, thread_name_prefix=thread_name)

    async def begin(
        self, owner: Owner, seconds: float, function: Callable[..., T], *arguments: Any
    ) -> tuple[T, Callable[[], None]]:
        """What a function gives in one of the threads, once there is a place, for which it waits so long; and what
        gives the place back. Where it fails, or nobody waits for it any more, the place is given back when it is done.
        Raises Busy."""
        give_back = await self.wait_for(owner, seconds)
        future = self.threads.submit(self._run_inside, function, *arguments)
        try:
            return await asyncio.wrap_future(future), give_back
        except BaseException:
            future.add_done_callback(lambda done: give_back())
            raise

    async def run(self, owner: Owner, seconds: float, function: Callable[..., T], *arguments: Any) -> T:
        """The same for what needs the place no longer afterwards."""
        found, give_back = await self.begin(owner, seconds, function, *arguments)
        give_back()
        return found

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
