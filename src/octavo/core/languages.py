"""Languages of spaces, and detection of the language of text. Detection returns a language only if the result is
certain enough."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Literal, get_args

Language = Literal[
    "en",
    "fr",
    "de",
    "es",
    "it",
    "pt",
    "pt-br",
    "ru",
    "ja",
    "zh",
    "zh-tw",
    "yue",
    "ko",
    "ar",
    "hi",
    "nl",
    "pl",
    "tr",
    "sv",
    "no",
    "da",
    "fi",
    "el",
    "cs",
    "hu",
    "ro",
    "th",
    "vi",
    "id",
    "ms",
    "he",
    "uk",
    "sk",
    "bg",
    "hr",
    "lt",
    "lv",
    "et",
    "sl",
]
LANGUAGES: tuple[str, ...] = get_args(Language)
"""Languages that a space can have."""
_OTHER_NAMES = {"nb": "no", "nn": "no", "iw": "he", "in": "id", "zh-hant": "zh-tw"}
_LETTER = re.compile(r"[^\W\d_]")
_FEWEST = 30
"""Minimum number of letters to detect a language. Shorter text is often the name of a product or a command, which
doesn't belong to any language."""
_SURE = 0.97
_MOST = 2000
"""Maximum number of characters to examine."""
_RENAMED = {"iw": "he", "in": "id", "ji": "yi"}
"""Language codes from before 1989 that the detector still returns."""
_ALIKE = (
    {"no", "da", "sv"},
    {"hr", "sr", "bs", "sl"},
    {"cs", "sk"},
    {"id", "ms", "jv", "su"},
    {"pt", "gl", "es", "ca"},
    {"ru", "uk", "bg", "be", "mk", "sr"},
    {"zh", "yue", "ja"},
    {"nl", "af"},
    {"it", "co", "la"},
)
"""Groups of languages that can't be distinguished in short text."""


def space_language(name: str | None) -> str | None:
    """Return the space language for a tag such as ``pt_BR`` or ``ar-SA``, if spaces support it.

    >>> space_language("pt_BR"), space_language("zh-Hant-TW"), space_language("xx")
    ('pt-br', 'zh-tw', None)
    """
    parts = (name or "").strip().lower().replace("_", "-").split("-")
    tags = ["-".join(parts[:length]) for length in range(len(parts), 0, -1)]
    known = (language for tag in tags for language in (tag, _OTHER_NAMES.get(tag)))
    return next((language for language in known if language in LANGUAGES), None)


@cache
def _detector() -> Any:
    # Loaded for the first text.
    from gcld3 import NNetLanguageIdentifier

    return NNetLanguageIdentifier(min_num_bytes=0, max_num_bytes=4 * _MOST)


def find_language(text: str) -> str | None:
    """Return the code of a text's language, such as ``de`` or ``zh``, if the language is certain; otherwise, None.

    >>> find_language("Das Zahnrad wird von Hand im Uhrzeigersinn gedreht.")
    'de'
    >>> find_language("make serve")
    """
    text = " ".join(text[:_MOST].encode("utf-8", "replace").decode().replace("\0", " ").split())
    if len(_LETTER.findall(text)) < _FEWEST:
        return None
    found = _detector().FindLanguage(text)
    is_sure = found.is_reliable and found.probability >= _SURE
    # A code may include the script, such as hi-Latn, which is usually a text with many names.
    return _RENAMED.get(found.language, found.language) if is_sure and "-" not in found.language else None


def differ(one: str, other: str) -> bool:
    """Return whether two strings are certainly in different languages that aren't easily confused."""
    first, second = find_language(one), find_language(other)
    if first is None or second is None or first == second:
        return False
    return not any(first in group and second in group for group in _ALIKE)
