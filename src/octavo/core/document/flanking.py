"""Rules for where emphasis can open and close, including in scripts without spaces between words.

CommonMark doesn't let a mark open or close between punctuation and a letter. In Chinese, Japanese, and Korean text,
which has no spaces after punctuation, this would leave ``**重点。**后面`` unformatted. These are the amended rules of
the CJK-friendly CommonMark specification, which several implementations share: next to a CJK character, punctuation
is ignored, so marks work as they do between letters. Text without CJK characters isn't affected."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal

from markdown_it.common.utils import isPunctChar, isWhiteSpace
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Scanned
from markdown_it.token import Token

_HANGUL_JAMO = ((0x1160, 0x11FF), (0xD7B0, 0xD7FF))
"""Hangul letters whose width is neutral in Unicode."""
_IDEOGRAPHIC_PLANES = (0x20000, 0x3FFFF)
"""Code points in planes whose characters are all wide by definition, including unassigned code points."""
_SYMBOLS = ((0x231A, 0x2B55), (0x1F000, 0x1FAFF))
"""Ranges of symbols that are wide because they are drawn as emoji; all other wide symbols are CJK."""
_TRIGRAMS = ((0x2630, 0x2637), (0x268A, 0x268F))
_SQUARED = (0x1F200, 0x1F2FF)
_SQUARED_EMOJI = frozenset("🈁🈚🈯🈲🈳🈴🈵🈶🈸🈹🈺🉐🉑")
_WIDE_FORM_QUOTES = frozenset("‘’“”")


@lru_cache(maxsize=4096)
def is_cjk(char: str) -> bool:
    """Return whether a character has the width of an ideograph (wide, full, or half) and isn't an emoji, or
    whether it is Hangul."""
    code = ord(char)
    if code < 0x1100:
        return False
    if any(first <= code <= last for first, last in (*_HANGUL_JAMO, _IDEOGRAPHIC_PLANES)):
        return True
    width = unicodedata.east_asian_width(char)
    return width in "FH" or (width == "W" and not _is_emoji(char, code))


_HANGUL = ((0x1100, 0x11FF), (0x3130, 0x318F), (0xA960, 0xA97F), (0xAC00, 0xD7FF), (0xFFA0, 0xFFDC))


def is_unspaced(char: str) -> bool:
    """Return whether a character's script has no spaces between words (CJK except Hangul), so that a line
    break between two such characters isn't a space."""
    return bool(char) and is_cjk(char) and not any(first <= ord(char) <= last for first, last in _HANGUL)


def _is_emoji(char: str, code: int) -> bool:
    """Return whether a wide character is displayed as an emoji by default."""
    if not unicodedata.category(char).startswith("S") or any(a <= code <= b for a, b in _TRIGRAMS):
        return False
    if _SQUARED[0] <= code <= _SQUARED[1]:
        return char in _SQUARED_EMOJI
    return any(first <= code <= last for first, last in _SYMBOLS)


def _is_form_selector(char: str) -> bool:
    """Return whether a character is a variation selector that selects a non-emoji form of the previous character."""
    return "\ufe00" <= char <= "\ufe0e"


_NOTHING: Any = MappingProxyType({})


def without_dicts(token: Token) -> Token:
    """Share one empty dict among tokens, because separate dicts would make up a third of each token's size. Rules that
    need a dict assign a new one."""
    token.attrs = token.meta = _NOTHING
    return token


class Flanking(StateInline):
    """State of the inline parser with the amended rule for runs of delimiters."""

    def push(self, ttype: str, tag: str, nesting: Literal[-1, 0, 1]) -> Token:
        return without_dicts(super().push(ttype, tag, nesting))

    def pushPending(self) -> Token:
        return without_dicts(super().pushPending())

    def scanDelims(self, start: int, canSplitWord: bool) -> Scanned:
        src, end, marker = self.src, start + 1, self.src[start]
        while end < self.posMax and src[end] == marker:
            end += 1
        last = src[start - 1] if start else " "
        following = src[end] if end < self.posMax else " "
        before = last
        if _is_form_selector(last) and start > 1 and unicodedata.category(src[start - 2]) != "Zs":
            before = src[start - 2]
        space_before, space_after = isWhiteSpace(ord(before)), isWhiteSpace(ord(following))
        if space_before or space_after:
            return Scanned(not space_after, not space_before, end - start)
        sign_before, sign_after = isPunctChar(before), isPunctChar(following)
        if not canSplitWord:
            return Scanned(sign_before, sign_after, end - start)
        free = sign_before == sign_after or is_cjk(following) or _is_cjk_before(before, last)
        return Scanned(sign_before or free, sign_after or free, end - start)


def _is_cjk_before(before: str, last: str) -> bool:
    if is_cjk(before) or "\U000e0100" <= last <= "\U000e01ef":
        return True
    return last == "\ufe01" and before in _WIDE_FORM_QUOTES
