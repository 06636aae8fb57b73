"""What an import found wrong and went on without."""

from __future__ import annotations

from msgspec import Struct


class Problem(Struct, frozen=True):
    """``path`` is a file of the source, ``line`` counts from 1 (0: the file as a whole), ``code`` is stable."""

    path: str
    line: int
    code: str
    message: str
