"""Fair turns for the owners that use the same resource.

Every use of a resource has an owner with two levels: an organization, and a person or object that shares the
organization's capacity. ``Places`` decides who is next, without blocking threads: ``shares`` uses it for pools, and
``permits`` uses it for permission to compute.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice

Owner = tuple[str, ...]
"""Owner: the ID of an organization, and the ID of a person or object in it. If there is no organization, the first ID
is an empty string."""

NOBODY: Owner = ("", "")
"""The server itself, as the owner of work that isn't for anyone in particular."""

_COMPARED = 32
"""Number of waiting owners to compare before choosing one. Comparing all of them for each turn would take longer
than the turns themselves."""
_REMEMBERED = 10_000

_current: ContextVar[Owner] = ContextVar("octavo_owner", default=NOBODY)


def current_owner() -> Owner:
    """Return the owner for which the current code is running."""
    return _current.get()


@contextmanager
def done_for(owner: Owner) -> Iterator[None]:
    """Run the block on behalf of this owner."""
    token = _current.set(owner)
    try:
        yield
    finally:
        _current.reset(token)


def levels(owner: Owner) -> Iterator[Owner]:
    """Yield the organization, and then the person or object in it."""
    for depth in range(1, len(owner) + 1):
        yield owner[:depth]


class Ticket:
    """Waiting request for a slot. ``granted``: a function that is called once, when the request gets a slot. The thread
    that released the slot calls it, without holding the lock."""

    __slots__ = ("granted", "holds", "owner")

    def __init__(self, owner: Owner, granted: Callable[[], None]) -> None:
        self.owner = owner
        self.granted = granted
        self.holds = False


class Places:
    """Slots of a resource. ``each``: the maximum numbers of slots that an organization, and a person or object in it,
    can hold. ``reserved``: the number of slots that are reserved for organizations that don't hold any. This class is
    thread-safe."""

    def __init__(self, size: int, each: tuple[int, int], reserved: int) -> None:
        self.size = size
        self.reserved = reserved
        self._each = each
        self._lock = threading.Lock()
        self._held: Counter[Owner] = Counter()
        self._total = 0
        self._waiting: dict[Owner, deque[Ticket]] = {}
        self._lines: dict[Owner, dict[Owner, None]] = {}
        """Waiting owners by their outer owner, if any. The most recently served owner comes last."""
        self._in_line: Counter[Owner] = Counter()
        self._served: OrderedDict[Owner, int] = OrderedDict()
        self._turn = 0

    @property
    def held(self) -> int:
        """Return the number of slots that are taken."""
        return self._total

    @property
    def has_room(self) -> bool:
        return self._total < self.size

    @property
    def waiting(self) -> int:
        """Return the number of requests that are waiting for a slot."""
        return sum(map(len, self._waiting.values()))

    def share(self, depth: int) -> int:
        """Return the maximum number of slots that an owner can hold: an organization (1), or a person or
        object in it (2)."""
        return max(1, self._each[depth - 1])

    def may_take(self, owner: Owner) -> bool:
        """Return whether an owner can take a slot now. This is for callers that decide themselves which owner to
        serve next."""
        with self._lock:
            return self._may(owner)

    def try_take(self, owner: Owner) -> bool:
        """Take a slot if one is free and no other request is waiting."""
        with self._lock:
            if self._waiting or not self._may(owner):
                return False
            self._take(owner)
            return True

    def take(self, owner: Owner) -> None:
        """Take a slot after ``may_take`` has returned True."""
        with self._lock:
            self._take(owner)

    def ask(self, owner: Owner, granted: Callable[[], None]) -> Ticket:
        """Request a slot. ``granted`` may be called before this returns."""
        ticket = Ticket(owner, granted)
        with self._lock:
            self._join_line(ticket)
            found = self._choose()
        _grant(found)
        return ticket

    def withdraw(self, ticket: Ticket) -> bool:
        """Stop waiting, and return whether the request already has a slot."""
        with self._lock:
            if ticket.holds:
                return True
            self._waiting[ticket.owner].remove(ticket)
            self._leave_line(ticket.owner)
            return False

    def release(self, owner: Owner) -> None:
        with self._lock:
            self._total -= 1
            for level in levels(owner):
                self._held[level] -= 1
                if not self._held[level]:
                    del self._held[level]
            found = self._choose()
        _grant(found)

    # --- the rule -------------------------------------------------------------------------------------

    def _may(self, owner: Owner) -> bool:
        return self._total < self.size and all(map(self._has_room, levels(owner)))

    def _has_room(self, level: Owner) -> bool:
        held = self._held.get(level, 0)
        if len(level) == 1 and held and self._total >= self.size - self.reserved:
            return False
        return held < self.share(len(level))

    def _take(self, owner: Owner) -> None:
        self._total += 1
        self._turn += 1
        for level in levels(owner):
            self._held[level] += 1
            self._served[level] = self._turn
            self._served.move_to_end(level)
        while len(self._served) > _REMEMBERED:
            self._served.popitem(last=False)

    def _join_line(self, ticket: Ticket) -> None:
        owner = ticket.owner
        self._waiting.setdefault(owner, deque()).append(ticket)
        for level in levels(owner):
            self._in_line[level] += 1
            self._lines.setdefault(level[:-1], {}).setdefault(level)

    def _leave_line(self, owner: Owner) -> None:
        if not self._waiting[owner]:
            del self._waiting[owner]
        for level in levels(owner):
            self._in_line[level] -= 1
            if not self._in_line[level]:
                del self._in_line[level]
                line = self._lines[level[:-1]]
                del line[level]
                if not line:
                    del self._lines[level[:-1]]

    def _choose(self) -> list[Ticket]:
        """Return the requests that get a slot now."""
        found = []
        while self._waiting and self._total < self.size:
            owner = self._next(())
            if owner is None:
                break
            ticket = self._waiting[owner].popleft()
            self._leave_line(owner)
            self._take(owner)
            for level in levels(owner):
                line = self._lines.get(level[:-1], {})
                if level in line:
                    line[level] = line.pop(level)
            ticket.holds = True
            found.append(ticket)
        return found

    def _next(self, outer: Owner) -> Owner | None:
        """Return the next owner inside ``outer`` to serve; None if no owner can take a slot."""
        able = (level for level in self._lines[outer] if self._has_room(level))
        while some := list(islice(able, _COMPARED)):
            for level in sorted(some, key=self._rank):
                found = level if level in self._waiting else self._next(level)
                if found is not None:
                    return found
        return None

    def _rank(self, level: Owner) -> tuple[int, int]:
        return self._held.get(level, 0), self._served.get(level, 0)


def _grant(tickets: list[Ticket]) -> None:
    for ticket in tickets:
        ticket.granted()
