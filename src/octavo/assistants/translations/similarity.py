"""How near texts are to each other, and what finds the near ones by an index.

Each text has a few numbers, its signs: for each of some ways to put all words in an order, the first of its words in
that order. Two texts share about as many of their signs as of their words. Pure.
"""

from __future__ import annotations

import re
import zlib
from difflib import SequenceMatcher

from .segments import readable

SIGNS = 6
_WORD = re.compile(r"\w+")


def _words(text: str) -> list[str]:
    return _WORD.findall(readable(text).lower())


def signs(text: str) -> list[int]:
    """The signs of a text; none of one without a word."""
    words = set(_words(text))
    if not words:
        return []
    return [
        number << 32 | min(zlib.crc32(f"{number}{word}".encode("utf-8", "surrogatepass")) for word in words)
        for number in range(SIGNS)
    ]


def nearness(text: str, other: str) -> float:
    """1 for the same words in the same order, 0 for none in common.

    >>> nearness("Export a page", "Export <1>a page</1> now")
    0.86
    """
    return round(SequenceMatcher(None, _words(text), _words(other), autojunk=False).ratio(), 2)
