"""Rows that reads got from a database that is another process, kept until somebody commits."""

from __future__ import annotations

import re
from collections.abc import Hashable
from sys import getsizeof
from typing import Any, Final

from .cache import ByteCache
from .db import Row

CAPACITY = 16 * 1024 * 1024
"""Bytes of rows that a process keeps."""
_LARGEST = 128 * 1024
"""Bytes of one statement's rows; what is larger is asked for each time."""
_OF_AN_ENTRY = 400
"""Bytes that an entry takes beside its rows and parameters."""
_VALUES = frozenset((str, int, float, bytes, bool, type(None)))
"""Types that nobody can change a value of."""

_QUESTION = re.compile(r"\s*(SELECT|WITH)\b")
_DEPENDS_ON_MORE = re.compile(
    r"""\b(?:\w*now|\w*random\w*|\w*timestamp|timeofday|age|\w+val|pg_\w+|txid_\w+|current_setting|set_config
           |version|inet_\w+)\s*\(
        |\b(?:current|local)_?(?:date|time|timestamp)\b|\b(?:current|session)_(?:user|role|catalog|schema)\b""",
    re.I | re.X,
)


def may_be_kept(sql: str) -> bool:
    """Whether the rows of a statement depend on nothing but its parameters and the snapshot: on no clock, chance,
    sequence, session or state of the server."""
    return bool(_QUESTION.match(sql)) and not _DEPENDS_ON_MORE.search(sql)


class KeptRows:
    """What statements found in one snapshot, that of reads which began at one ``generation``. Safe between threads.

    ``snapshot``: as the engine writes it; where it is the same, the same transactions have committed.
    """

    def __init__(self, generation: int, snapshot: str) -> None:
        self.generation = generation
        self.snapshot = snapshot
        self._rows: ByteCache[tuple[Row, ...]] = ByteCache(CAPACITY)

    @property
    def size(self) -> int:
        return self._rows.size

    def find(self, key: Hashable) -> tuple[Row, ...] | None:
        return self._rows.get(key)

    def keep(self, key: tuple[Any, ...], rows: list[Row]) -> None:
        """``key``: the statement, then its parameters as pairs."""
        size = _OF_AN_ENTRY + sum(getsizeof(value) for _, value in key[1:])
        for row in rows:
            if not _VALUES.issuperset(map(type, row)):
                return
            size += getsizeof(row) + sum(map(getsizeof, row))
            if size > _LARGEST:
                return
        if size <= _LARGEST:
            self._rows.put(key, tuple(rows), size)


NOTHING: Final = KeptRows(-1, "")
"""Of no generation: never added to."""
