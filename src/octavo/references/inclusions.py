"""What one page includes, so that a short page of many inclusions is not an endless one."""

from __future__ import annotations

MAX_INCLUDED = 4_000_000
"""Bytes of Markdown that the reusable contents included by one page may have together."""
_LEAST = 8_000
"""What an inclusion counts at least: short ones cost something too."""


class Inclusions:
    """Those of one page."""

    def __init__(self) -> None:
        self._left = MAX_INCLUDED

    def admit(self, size: int) -> bool:
        """Whether a reusable content of so many bytes is still to be included."""
        self._left -= max(size, _LEAST)
        return self._left >= 0
