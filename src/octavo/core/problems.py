"""Problems that an import reports without stopping."""

from __future__ import annotations

from msgspec import Struct


class Problem(Struct, frozen=True):
    """Problem in a source. ``path``: the path of a file in the source. ``line``: the line, from 1; 0 for
    the whole file. ``code``: a stable identifier."""

    path: str
    line: int
    code: str
    message: str
