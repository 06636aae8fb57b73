"""Caches of one process with a shared memory limit. Values in caches for immutable data are valid indefinitely; all
other values are valid only until the database's next generation. Values that haven't been read recently are
dropped."""

from __future__ import annotations

import ctypes
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, NamedTuple, TypeVar
from weakref import WeakSet

from .database import Database, Transaction

T = TypeVar("T")

_ROOM = 32
"""Divisor of the memory limit. When the limit is reached, this part of the memory is freed at once, so that the next
values fit without freeing memory again."""

_UNREAD_SECONDS = 60.0
"""Number of seconds after which an unread value is dropped."""
_TRIMMED = 4 << 20
"""Number of bytes to drop before free memory is returned to the system. Returning memory takes a few milliseconds."""
_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
"""Function of glibc that returns free memory to the system. Other systems return memory automatically."""


class Share:
    """Weight of a cache relative to other caches when memory is scarce. A share is thread-safe, except that some hits
    may not be counted."""

    __slots__ = ("hits", "misses", "name", "weight")

    def __init__(self, name: str, weight: int) -> None:
        self.name = name
        self.weight = weight
        self.hits = self.misses = 0


_shares: dict[str, Share] = {}
"""Shares declared by ``share``, by name."""


def share(name: str, weight: int) -> Share:
    """Declare the share of a cache, for all applications in the process. Raises ValueError if the name is already
    in use."""
    if name in _shares:
        raise ValueError(f"two caches have the name {name}")
    return _shares.setdefault(name, Share(name, weight))


class Use(NamedTuple):
    """Memory used by all caches with the same name, and their hits and misses since the process started."""

    bytes: int
    entries: int
    hits: int
    misses: int


class Memory:
    """Total memory that caches can use, in bytes.

    Each cache can use any free memory. If none is free, the cache that exceeds its share the most drops its oldest
    values. ``entry``: the number of bytes that each value takes up in addition to its own size, for its key and
    cache entry.
    """

    def __init__(self, limit: int, entry: int = 0) -> None:
        self.limit = limit
        self.entry = entry
        self._caches: WeakSet[ByteCache[object]] = WeakSet()
        self._lock = threading.Lock()
        self._taken = 0
        self._untrimmed = 0

    @property
    def largest(self) -> int:
        """Return the maximum size of one value in bytes. With a larger value, too little memory would be left for
        other values."""
        return self.limit // 2

    def join(self, cache: ByteCache[object]) -> None:
        with self._lock:
            self._caches.add(cache)

    def take(self, more: int) -> None:
        """Record that a cache uses ``more`` additional bytes (negative if it uses fewer), and drop old values if the
        limit is exceeded. Call this without holding the cache's lock."""
        with self._lock:
            self._taken += more
            if self._taken <= self.limit:
                return
            caches = list(self._caches)
            # The sizes are added up again, because a cache that was discarded with its application did not subtract
            # its bytes.
            sizes = {cache: cache.size for cache in caches}
            self._taken = sum(sizes.values())
            excess = self._taken - self.limit
        if excess <= 0:
            return
        excess += self.limit // _ROOM
        while excess > 0 and sizes:
            greediest = max(sizes, key=lambda cache: sizes[cache] / cache.share.weight)
            freed = greediest.drop_oldest()
            if not freed:
                del sizes[greediest]
                continue
            sizes[greediest] -= freed
            excess -= freed

    def drop_unread(self) -> None:
        """Drop the values that haven't been read for a minute, and return memory to the system. This is called
        periodically."""
        until = time.monotonic() - _UNREAD_SECONDS
        with self._lock:
            caches = list(self._caches)
        for cache in caches:
            while freed := cache.drop_oldest(until):
                self._untrimmed += freed
        if self._untrimmed >= _TRIMMED and _trim is not None:
            self._untrimmed = 0
            _trim(0)

    def use(self) -> dict[str, Use]:
        """Return the memory usage by share name."""
        with self._lock:
            caches = list(self._caches)
        found = {}
        for name, declared in sorted(_shares.items()):
            own = [cache for cache in caches if cache.share is declared]
            size, entries = sum(cache.size for cache in own), sum(map(len, own))
            found[name] = Use(size, entries, declared.hits, declared.misses)
        return found


MEMORY = Memory(384 * 1024 * 1024, entry=400)
"""Memory of this process; ``Memory.limit`` is a setting."""


class ByteCache(Generic[T]):
    """Cache of values with their sizes in bytes. It is thread-safe, and drops the least recently used values first.

    It is for immutable values (keyed by a content hash or a revision), so values are never invalidated.
    """

    def __init__(self, share: Share, memory: Memory = MEMORY) -> None:
        self.share = share
        self.size = 0
        self._memory = memory
        self._lock = threading.Lock()
        self._entries: OrderedDict[Hashable, tuple[T, int, float]] = OrderedDict()
        """Values with their sizes and the times at which they were last read, most recent last."""
        memory.join(self)  # type: ignore[arg-type]

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Hashable, default: T | None = None) -> T | None:
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                self.share.misses += 1
                return default
            self.share.hits += 1
            value, size, _ = entry
            self._entries[key] = (value, size, time.monotonic())
            self._entries.move_to_end(key)
            return value

    def put(self, key: Hashable, value: T, size: int) -> None:
        """Store a value. ``size``: the caller's estimate of the value's size in bytes. A value that would take up half
        of the memory limit isn't stored."""
        size += self._memory.entry
        with self._lock:
            _, old, _ = self._entries.pop(key, (None, 0, 0.0))
            kept = size <= self._memory.largest
            if kept:
                self._entries[key] = (value, size, time.monotonic())
            more = (size if kept else 0) - old
            self.size += more
        if more:
            self._memory.take(more)

    def drop_oldest(self, until: float = math.inf) -> int:
        """Drop the least recently used value and return its size in bytes, or 0 if all values have been
        read since ``until``. Only ``Memory`` may call this, because it counts the bytes."""
        with self._lock:
            key = next(iter(self._entries), None)
            if key is None or self._entries[key][2] > until:
                return 0
            _, freed, _ = self._entries.pop(key)
            self.size -= freed
        self._memory.take(-freed)
        return freed

    def clear(self) -> None:
        with self._lock:
            freed, self.size = self.size, 0
            self._entries.clear()
        self._memory.take(-freed)


class OwnCache(Generic[T]):
    """Separate ``ByteCache`` for each application in this process. A module declares the cache with its share of the
    memory, and each database has its own instance."""

    def __init__(self, name: str, weight: int) -> None:
        self._share = share(name, weight)

    def of(self, owner: Database | Transaction) -> ByteCache[T]:
        found: ByteCache[T] | None = owner.caches.get(self)
        return found if found is not None else owner.caches.setdefault(self, ByteCache(self._share))


class FreshCache(Generic[T]):
    """Cache of values read from the database. Each value is valid until the next commit by any process, and must be
    checked again after that.

    ``cost``: a function that returns the size of a value in bytes, or None for a value that isn't cached. Never use
    the cache inside a write transaction, because data that it reads may still be rolled back.
    """

    def __init__(
        self,
        database: Database,
        share: Share,
        cost: Callable[[T], int | None] = lambda value: 1024,
        memory: Memory = MEMORY,
    ) -> None:
        self._database = database
        self._cost = cost
        self._values: ByteCache[tuple[int, T]] = ByteCache(share, memory)
        """Values with the generation for which they are valid."""

    def get(self, key: Hashable, make: Callable[[], T], is_good: Callable[[T], bool] | None = None) -> T:
        """Return the cached value, or the result of ``make()``, which reads the database. The value can be None.

        ``is_good``: a function that returns whether ``make()`` would return the same value as before the last commit.
        """
        generation = self._database.generation()
        if generation is None:
            return make()
        kept = self._values.get(key)
        if kept is not None and kept[0] > generation:
            # An open read with an earlier snapshot, which needs its own values.
            return make()
        if kept is not None and (kept[0] == generation or (is_good is not None and is_good(kept[1]))):
            value = kept[1]
        else:
            value, kept = make(), None
        cost = self._cost(value)
        if cost is not None and (kept is None or kept[0] < generation):
            self._values.put(key, (generation, value), cost)
        return value

    def put(self, key: Hashable, generation: int | None, value: T) -> None:
        """Store a value that was read at this generation, unless a later value is stored."""
        cost, kept = self._cost(value), self._values.get(key)
        if generation is not None and cost is not None and (kept is None or kept[0] <= generation):
            self._values.put(key, (generation, value), cost)

    def renew(self, key: Hashable, is_good: Callable[[T], bool]) -> T | None:
        """Return the cached value if it is valid or if ``is_good`` accepts it, as ``get`` does. Return None if the
        value must be computed again."""
        generation, kept = self._database.generation(), self._values.get(key)
        if generation is None or kept is None or kept[0] > generation:
            return None
        if kept[0] < generation:
            cost = self._cost(kept[1])
            if cost is None or not is_good(kept[1]):
                return None
            self._values.put(key, (generation, kept[1]), cost)
        return kept[1]

    def find(self, key: Hashable, generation: int | None) -> T | None:
        """Return the cached value, or None. ``generation``: the database's current generation, so that a caller
        with several keys has to look up the generation only once."""
        kept = self._values.get(key)
        return kept[1] if kept is not None and kept[0] == generation else None
