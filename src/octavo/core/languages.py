"""Which language a text is in, where that is sure enough to act on."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

_LETTER = re.compile(r"[^\W\d_]")
_FEWEST = 30
"""Letters without which a text says nothing: names of products and commands are in no language."""
_SURE = 0.97
_MOST = 2000
"""Characters that are looked at."""
_RENAMED = {"iw": "he", "in": "id", "ji": "yi"}
"""Codes of before 1989, which the detector still gives."""
_ALIKE = (
    {"no", "da", "sv"}, {"hr", "sr", "bs", "sl"}, {"cs", "sk"}, {"id", "ms", "jv", "su"}, {"pt", "gl", "es", "ca"},
    {"ru", "uk", "bg", "be", "mk", "sr"}, {"zh", "yue", "ja"}, {"nl", "af"}, {"it", "co", "la"},
)  # fmt: skip
"""Languages that short texts do not tell apart."""


@cache
def _detector() -> Any:
    # Loaded by the first text that is asked about.
    from gcld3 import NNetLanguageIdentifier

    return NNetLanguageIdentifier(min_num_bytes=0, max_num_bytes=4 * _MOST)


def find_language(text: str) -> str | None:
    """The code of the language (``de``, ``zh``) that a text is surely in, else None.

    >>> find_language("Das Zahnrad wird von Hand im Uhrzeigersinn gedreht.")
    'de'
    >>> find_language("make serve")
    """
    text = " ".join(text[:_MOST].encode("utf-8", "replace").decode().replace("\0", " ").split())
    if len(_LETTER.findall(text)) < _FEWEST:
        return None
    found = _detector().FindLanguage(text)
    is_sure = found.is_reliable and found.probability >= _SURE
    # A code may name the letters too, like hi-Latn, which is mostly a text of many names.
    return _RENAMED.get(found.language, found.language) if is_sure and "-" not in found.language else None


def differ(one: str, other: str) -> bool:
    """Whether two texts are surely in languages that nobody takes for each other."""
    first, second = find_language(one), find_language(other)
    if first is None or second is None or first == second:
        return False
    return not any(first in group and second in group for group in _ALIKE)
