"""Problems that an import reports without stopping."""

from __future__ import annotations

from msgspec import Struct


class Problem(Struct, frozen=True):
    """A problem in a source. ``path`` is a file of the source, ``line`` counts from 1 (0: the whole file),
    ``code`` is stable."""

    path: str
    line: int
    code: str
    message: str
