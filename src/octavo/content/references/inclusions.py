"""Budget for included content, so that a short page can't become huge by including too much."""

from __future__ import annotations

MAX_INCLUDED = 4_000_000
"""Maximum total size in bytes of the reusable content (as Markdown) that one page includes."""
_LEAST = 8_000
"""Minimum number of bytes counted per inclusion, so that short inclusions also count."""


class Inclusions:
    """Budget for the content that one page includes."""

    def __init__(self) -> None:
        self._left = MAX_INCLUDED

    def admit(self, size: int) -> bool:
        """Charge the size of reusable content (in bytes) to the budget. Returns whether the content can still be
        included."""
        self._left -= max(size, _LEAST)
        return self._left >= 0
