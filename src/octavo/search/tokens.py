"""Words as they are looked up: folded, identifiers also by their parts, CJK as pairs of characters.

The same functions make the index and the query, so both engines see nothing but these words.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from ..core.wording import stem

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_CJK}]+|[^\W{_CJK}]+(?:[.'’][^\W{_CJK}]+)*")
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_NAMES = re.compile(r"[._]+")
_APOSTROPHE = re.compile(r"['’](?:s$)?")
_IS_CJK = re.compile(rf"[{_CJK}]")
_MAX_WORD = 64


def fold(text: str) -> str:
    """Lower case without the accents of Latin, Greek and Cyrillic letters."""
    if text.isascii():
        return text.lower()
    return _without_accents(text).lower()


def _without_accents(text: str) -> str:
    if text.isascii():
        return text
    plain = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", re.sub("[\u0300-\u036f]", "", plain)).replace("ß", "ss")


_ENDINGS = ("s", "es", "d", "ed", "ing")


def without_ending(word: str) -> set[str]:
    """What an English word may be a form of: ``tries`` of ``tri`` and ``trie``, ``hoping`` of ``hop`` and ``hope``."""
    cut = {word.removesuffix(ending) for ending in _ENDINGS if word.endswith(ending)}
    return {form for base in cut for form in (base, base + "e") if len(form) > 2} - {word}


def words(text: str) -> list[str]:
    """The words of a text in order; behind a composed word its parts, for CJK every pair of neighbours."""
    found: list[str] = []
    for token in _TOKEN.findall(text):
        # Texts say few words often; what is longer than words are is no word that comes again.
        found += _known_words(token) if len(token) <= _MAX_WORD else _words_of(token)
    return found


def _words_of(token: str) -> list[str]:
    if _is_plain(token):
        return [token[:_MAX_WORD].lower()]
    if is_cjk(token):
        return [token[i : i + 2] for i in range(len(token) - 1)] if len(token) > 1 else [token]
    token = _without_accents(_APOSTROPHE.sub("", token))
    whole = fold(token).replace(".", "")[:_MAX_WORD]
    return [whole, *(part for part in _parts(token) if part != whole)]


_known_words = lru_cache(maxsize=20_000)(_words_of)


def _parts(token: str) -> list[str]:
    """What a composed word is made of: of ``user.getById`` each name whole, and each word of a name."""
    names = _NAMES.split(token)
    found: list[str] = []
    for name in names:
        inside = _PARTS.findall(name) if name.isascii() else []
        if len(names) > 1 or len(inside) < 2:
            found.append(fold(name)[:_MAX_WORD])
        if len(inside) > 1:
            found += [fold(part)[:_MAX_WORD] for part in inside]
    return [part for part in found if part]


class WantedWords(dict[str, frozenset[str]]):
    """By token, the words and stems it counts as; nothing where it can be none of those wanted."""

    def __init__(self, words_and_stems: frozenset[str]) -> None:
        super().__init__()
        self.all = words_and_stems
        self._first = {word[:1] for word in words_and_stems}

    def __missing__(self, token: str) -> frozenset[str]:
        # No stem changes the first letter: that spares most tokens from being stemmed.
        passed = _is_plain(token) and token[0].lower() not in self._first
        self[token] = said = frozenset() if passed else _said(token)
        return said


class Marked:
    """Finds the words and stems that are wanted in texts."""

    def __init__(self, wanted: WantedWords) -> None:
        self._wanted = wanted
        self._known: dict[str, bool] = {}

    def spans(self, text: str, start: int = 0, end: int = sys.maxsize) -> Iterator[tuple[int, int]]:
        """Where they are in this part of a text. Of a run of CJK only the characters that match."""
        for match in _TOKEN.finditer(text, start, end):
            token = match[0]
            marked = self._known.get(token)
            if marked is None:
                marked = self._known[token] = not self._wanted[token].isdisjoint(self._wanted.all)
            if marked and len(token) > 2 and is_cjk(token):
                yield from self._pairs(token, match.start())
            elif marked:
                yield match.span()

    def _pairs(self, run: str, at: int) -> Iterator[tuple[int, int]]:
        start = end = 0
        for n in range(len(run) - 1):
            if run[n : n + 2] not in self._wanted.all:
                continue
            if n > end:
                if end:
                    yield at + start, at + end
                start = n
            elif not end:
                start = n
            end = n + 2
        if end:
            yield at + start, at + end


def is_cjk(token: str) -> bool:
    """Whether a token is a run of Chinese, Japanese or Korean."""
    return _IS_CJK.match(token) is not None


def tokens(text: str) -> list[str]:
    return _TOKEN.findall(text)


def _is_plain(token: str) -> bool:
    """Whether it is one word as it stands, as nearly all are."""
    return token.isascii() and token.isalpha() and (token.islower() or token[1:].islower())


@lru_cache(maxsize=20_000)
def _said(token: str) -> frozenset[str]:
    said = words(token)
    return frozenset([*said, *map(stem, said)])


@lru_cache(maxsize=20_000)
def parts_of(token: str) -> tuple[frozenset[str], ...]:
    """What a composed word such as ``getById`` is made of, each part with its stem; nothing for other words."""
    if _is_plain(token) or is_cjk(token):
        return ()
    return tuple(frozenset((part, stem(part))) for part in words(token)[1:])


_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


def one_edit_away(word: str) -> set[str]:
    """Every word one typing error from this one: a letter more, less or other, or two exchanged."""
    letters = _LETTERS + "".join(c for c in set(word) if c not in _LETTERS)
    splits = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    return (
        {a + b[1:] for a, b in splits if b}
        | {a + b[1] + b[0] + b[2:] for a, b in splits if len(b) > 1}
        | {a + c + b[1:] for a, b in splits if b for c in letters}
        | {a + c + b for a, b in splits for c in letters}
    ) - {word}
