"""Cache of rows from a database that runs in another process. The rows are valid until the next commit."""

from __future__ import annotations

from collections.abc import Hashable
from sys import getsizeof
from typing import Any, Final

from .cache import ByteCache, share
from .database import Row

_ROWS = share("rows", 16)
_MAX_BYTES = 128 * 1024
"""Maximum size in bytes of one statement's rows. Larger results aren't cached."""
_BYTES_PER_ENTRY = 400
"""Size in bytes of an entry, in addition to its rows and parameters."""
_VALUES = frozenset((str, int, float, bytes, bool, type(None)))
"""Immutable types of column values."""


class CachedRows:
    """Results of statements in one snapshot, shared by the reads that started at one ``generation``. It is
    thread-safe.

    ``snapshot``: the snapshot in the engine's notation; two equal snapshots contain the same committed
    transactions.
    """

    def __init__(self, generation: int, snapshot: str) -> None:
        self.generation = generation
        self.snapshot = snapshot
        self._rows: ByteCache[tuple[Row, ...]] = ByteCache(_ROWS)

    @property
    def size(self) -> int:
        return self._rows.size

    def find(self, key: Hashable) -> tuple[Row, ...] | None:
        return self._rows.get(key)

    def store(self, key: tuple[Any, ...], rows: list[Row]) -> None:
        """Store rows. ``key``: the statement, followed by the names and values of its parameters as pairs."""
        size = _BYTES_PER_ENTRY + sum(getsizeof(value) for _, value in key[1:])
        for row in rows:
            if not _VALUES.issuperset(map(type, row)):
                return
            size += getsizeof(row) + sum(map(getsizeof, row))
            if size > _MAX_BYTES:
                return
        if size <= _MAX_BYTES:
            self._rows.put(key, tuple(rows), size)


NOTHING: Final = CachedRows(-1, "")
"""Cache that doesn't belong to a generation and always stays empty."""
