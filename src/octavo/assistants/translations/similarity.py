"""Similarity of text segments, and signatures for finding similar segments with an index.

Each segment has a few MinHash values, which are called its signs. Each sign represents the segment's first word
according to one of several orderings of all words. The proportion of signs that two segments share approximates the
proportion of words that they share. This module does no I/O."""

from __future__ import annotations

import re
import zlib
from difflib import SequenceMatcher

from .segments import abbreviate_tags

SIGNS = 6
_WORD = re.compile(r"\w+")


def _words(text: str) -> list[str]:
    return _WORD.findall(abbreviate_tags(text).lower())


def signs(text: str) -> list[int]:
    """Return the signs of a segment; an empty list if it has no words."""
    words = set(_words(text))
    if not words:
        return []
    return [
        number << 32 | min(zlib.crc32(f"{number}{word}".encode("utf-8", "surrogatepass")) for word in words)
        for number in range(SIGNS)
    ]


def similarity(text: str, other: str) -> float:
    """Return the similarity of two segments: 1 if they have the same words in the same order, and 0 if they have no
    words in common.

    >>> similarity("Export a page", "Export <1>a page</1> now")
    0.86
    """
    return round(SequenceMatcher(None, _words(text), _words(other), autojunk=False).ratio(), 2)
