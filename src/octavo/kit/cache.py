"""Caches of one process: by bytes for what never changes, by the database's generation for what does."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from .db import Database, Transaction

T = TypeVar("T")


class ByteCache(Generic[T]):
    """Least recently used values go first once their sizes pass ``capacity`` bytes. Safe between threads.

    For values of immutable things (a content hash, a revision): nothing is ever invalidated.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.size = 0
        self._lock = threading.Lock()
        self._entries: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Hashable, default: T | None = None) -> T | None:
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return default
            self._entries.move_to_end(key)
            return entry[0]

    def put(self, key: Hashable, value: T, size: int) -> None:
        """``size`` is the caller's estimate; a value larger than the whole cache is not kept."""
        with self._lock:
            _, old = self._entries.pop(key, (None, 0))
            self.size -= old
            if size > self.capacity:
                return
            self._entries[key] = (value, size)
            self.size += size
            while self.size > self.capacity:
                _, (_, freed) = self._entries.popitem(last=False)
                self.size -= freed


class OwnCache(Generic[T]):
    """A ``ByteCache`` that each application of this process has for itself: a module declares it, the database keeps
    it."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity

    def of(self, owner: Database | Transaction) -> ByteCache[T]:
        found: ByteCache[T] | None = owner.caches.get(self)
        return found if found is not None else owner.caches.setdefault(self, ByteCache(self._capacity))


class FreshCache(Generic[T]):
    """Values read from the database, each good until anybody commits anything; then it is looked at again.

    ``cost`` says what a value takes of ``capacity``, or None for one that is not kept; without it, each takes one.
    Never ask inside a write transaction: what it sees may yet be rolled back.
    """

    def __init__(
        self, database: Database, capacity: int, cost: Callable[[T], int | None] = lambda value: 1
    ) -> None:
        self._database = database
        self._cost = cost
        self._values: ByteCache[tuple[int, T]] = ByteCache(capacity)
        """Each with the generation that it is good for."""

    def get(self, key: Hashable, make: Callable[[], T], is_good: Callable[[T], bool] | None = None) -> T:
        """The kept value, or that of ``make()``, which reads the database; None is a value too. ``is_good`` says of a
        value that was kept before somebody committed whether ``make()`` would give the same."""
        generation = self._database.generation()
        if generation is None:
            return make()
        kept = self._values.get(key)
        if kept is not None and kept[0] > generation:
            # An open read with an earlier snapshot, whose values are its own.
            return make()
        if kept is not None and (kept[0] == generation or (is_good is not None and is_good(kept[1]))):
            value = kept[1]
        else:
            value, kept = make(), None
        cost = self._cost(value)
        if cost is not None and (kept is None or kept[0] < generation):
            self._values.put(key, (generation, value), cost)
        return value

    def find(self, key: Hashable, generation: int | None) -> T | None:
        """The kept value, or None. ``generation``: what the database says now; who looks for several asks it once."""
        kept = self._values.get(key)
        return kept[1] if kept is not None and kept[0] == generation else None
