"""A budget for what one page includes, so that a short page cannot grow without end by including much."""

from __future__ import annotations

MAX_INCLUDED = 4_000_000
"""Bytes of Markdown that the reusable contents included by one page may have together."""
_LEAST = 8_000
"""Bytes that an inclusion counts as at least: short ones cost something, too."""


class Inclusions:
    """The budget of one page."""

    def __init__(self) -> None:
        self._left = MAX_INCLUDED

    def admit(self, size: int) -> bool:
        """Takes the size of a reusable content, in bytes, from the budget; whether it may still be included."""
        self._left -= max(size, _LEAST)
        return self._left >= 0
