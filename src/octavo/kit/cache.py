"""Caches of one process: by bytes for what never changes, by the database's generation for what does."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from .db import Database

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

    def get(self, key: Hashable) -> T | None:
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
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

    Never ask inside a write transaction: what it sees may yet be rolled back.
    """

    def __init__(self, database: Database, entries: int = 10_000) -> None:
        self._database = database
        self._entries = entries
        self._lock = threading.Lock()
        self._generation: int | None = None
        self._values: OrderedDict[Hashable, T] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The kept value, or that of ``make()``, which reads the database; None is a value too."""
        generation = self._database.generation()
        if generation is None:
            return make()
        with self._lock:
            if self._generation is None or generation > self._generation:
                self._values.clear()
                self._generation = generation
            if generation == self._generation and key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        value = make()
        with self._lock:
            # Older than the cache: an open read with an earlier snapshot, whose values are its own.
            if generation == self._generation:
                self._values[key] = value
                if len(self._values) > self._entries:
                    self._values.popitem(last=False)
        return value
