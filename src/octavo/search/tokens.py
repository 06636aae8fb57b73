"""Words as they are looked up: folded, identifiers also by their parts, CJK as pairs of characters.

The same functions make the index and the query, so both engines see nothing but these words.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from typing import Any

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_CJK}]+|[^\W{_CJK}]+(?:[.'’][^\W{_CJK}]+)*")
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\dA-Za-z_]+")
_IS_CJK = re.compile(rf"[{_CJK}]")
_MAX_WORD = 64


@lru_cache(maxsize=50_000)
def _stem(word: str) -> str:
    return str(_stemmer().stemWord(word))


@cache
def _stemmer() -> Any:
    # Loaded with the first word: its package loads every language it knows.
    import snowballstemmer

    return snowballstemmer.stemmer("english")


def fold(text: str) -> str:
    """Lower case without the accents of Latin, Greek and Cyrillic letters."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", re.sub("[\u0300-\u036f]", "", plain)).lower().replace("ß", "ss")


def stem(word: str) -> str:
    return _stem(word) if word.isascii() and word.isalpha() else word


def words(text: str) -> list[str]:
    """The words of a text in order; behind a composed word its parts, for CJK every pair of neighbours."""
    found: list[str] = []
    for match in _TOKEN.finditer(text):
        token = match[0]
        if _IS_CJK.match(token):
            found += [token[i : i + 2] for i in range(len(token) - 1)] if len(token) > 1 else [token]
            continue
        whole = re.sub(r"[.'’]", "", fold(token))[:_MAX_WORD]
        found.append(whole)
        parts = [fold(part) for part in _PARTS.findall(token)]
        if len(parts) > 1:
            found += [part[:_MAX_WORD] for part in parts if part != whole]
    return found


def spans(text: str) -> list[tuple[int, int, set[str]]]:
    """Where each token stands, and the words it counts as."""
    return [(m.start(), m.end(), set(words(m[0]))) for m in _TOKEN.finditer(text)]


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
