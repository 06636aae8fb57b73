"""Caches of one process: by bytes for what never changes, by the database's generation for what does."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar, cast

from .db import Database

T = TypeVar("T")
_ABSENT: Any = object()


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


class FreshCache(Generic[T]):
    """Values read from the database, each valid until anybody commits anything.

    ``cost`` says what a value takes of ``capacity``, or None for one that is not kept; without it, each takes one.
    Never ask inside a write transaction: what it sees may yet be rolled back.
    """

    def __init__(
        self, database: Database, capacity: int, cost: Callable[[T], int | None] = lambda value: 1
    ) -> None:
        self._database = database
        self._capacity = capacity
        self._cost = cost
        self._lock = threading.Lock()
        self._generation: int | None = None
        self._values: ByteCache[T] = ByteCache(capacity)

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The kept value, or that of ``make()``, which reads the database; None is a value too."""
        generation = self._database.generation()
        if generation is None:
            return make()
        values = self._at(generation)
        found = values.get(key, _ABSENT) if values is not None else _ABSENT
        if found is not _ABSENT:
            return cast(T, found)
        value = make()
        cost = self._cost(value)
        # Older than the cache: an open read with an earlier snapshot, whose values are its own.
        if cost is not None and (values := self._at(generation)) is not None:
            values.put(key, value, cost)
        return value

    def find(self, key: Hashable) -> T | None:
        """The kept value, or None."""
        generation = self._database.generation()
        values = self._at(generation) if generation is not None else None
        return values.get(key) if values is not None else None

    def _at(self, generation: int) -> ByteCache[T] | None:
        """The values of a generation; None for one that has passed."""
        with self._lock:
            if self._generation is None or generation > self._generation:
                self._values, self._generation = ByteCache(self._capacity), generation
            return self._values if generation == self._generation else None
