"""What one page includes, so that a short page of many inclusions is not an endless one."""

from __future__ import annotations

from collections.abc import Callable

from ..core.document import Block, Document, Leaf, Text

MAX_INCLUDED = 4_000_000
"""Bytes of Markdown that the reusable contents included by one page may have together."""
_LEAST = 8_000
"""What an inclusion counts at least: short ones cost something too."""
_LEFT_OUT = "Not shown: this page includes more text than a page can have."


class Inclusions:
    """Those of one page that is drawn."""

    def __init__(self) -> None:
        self._left = MAX_INCLUDED

    def admit(self, size: int, document: Callable[[], Document]) -> Document:
        """The document of a reusable content with so many bytes; past the limit one that says so."""
        self._left -= max(size, _LEAST)
        if self._left < 0:
            return Document([Block("paragraph", {}, [Text([Leaf(_LEFT_OUT)])])])
        return document()
