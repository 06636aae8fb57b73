"""Words in their indexed form: they are folded, identifiers are also split into parts, and text in scripts without
spaces becomes character pairs.

The same functions process pages and queries, so both database engines work only with these words.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from octavo.core.sentences import stem

_CJK = (
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f"
    "\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff\U00020000-\U0003ffff"
    # Thai, Lao, Myanmar, and Khmer have no spaces between words either.
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
)


def _marks() -> str:
    """Return the contents of a regular expression's character class: combining characters, and characters that only
    control line breaks."""
    found = [code for code in range(0x300, 0x10000) if unicodedata.category(chr(code))[0] == "M"]
    return "\u00ad\u200c\u200d\u2060\U000e0100-\U000e01ef" + "".join(map(chr, found))


_WORD = rf"(?:[^\W{_CJK}]++[{re.escape(_marks())}]*+)++"
_TOKEN = re.compile(rf"[{_CJK}]++|{_WORD}(?:[.'’]{_WORD})*+")
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_NAMES = re.compile(r"[._]+")
_APOSTROPHE = re.compile(r"['’](?:s$)?")
_IS_CJK = re.compile(rf"[{_CJK}]")
_MAX_WORD = 64


_IGNORED_SIGNS = re.compile(
    "[\u0300-\u036f"  # accents
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"  # Hebrew points
    "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed"  # Arabic vowels and hamza
    "\u00ad\u200c\u200d\u2060\ufeff\ufe00-\ufe0f\U000e0100-\U000e01ef]"  # shaping and line breaking
)
"""Characters removed before lookup."""
_LETTER_VARIANTS = {
    "ß": "ss",
    "ẞ": "SS",
    "đ": "d",
    "Đ": "D",
    "ð": "d",
    "Ð": "D",
    "ł": "l",
    "Ł": "L",
    "ø": "o",
    "Ø": "O",
    "œ": "oe",
    "Œ": "OE",
    "æ": "ae",
    "Æ": "AE",
    "þ": "th",
    "Þ": "Th",
    "ħ": "h",
    "Ħ": "H",
    "ŧ": "t",
    "Ŧ": "T",
    "ŋ": "n",
    "Ŋ": "N",
    "ı": "i",
    "ƒ": "f",
    "ɨ": "i",
    "ɐ": "a",
    "ɵ": "o",
    "ƀ": "b",
    "ǥ": "g",
    "ƶ": "z",
    "Ƶ": "Z",
    # Alef wasla, alef maksura, the Persian and Urdu forms of yeh, kaf, and heh, and teh marbuta.
    "ٱ": "ا",
    "ى": "ي",
    "ی": "ي",
    "ے": "ي",
    "ک": "ك",
    "ہ": "ه",
    "ھ": "ه",
    "ۀ": "ه",
    "ە": "ه",
    "ة": "ه",
}
"""Letters that people replace when typing but that Unicode doesn't decompose."""
_AS_TYPED = str.maketrans(_LETTER_VARIANTS)


def fold(text: str) -> str:
    """Return the text in lowercase, without accents, vowel points, and other signs that people omit when searching."""
    if text.isascii():
        return text.lower()
    return _as_typed(text).lower()


def _as_typed(text: str) -> str:
    """Return the folded text, but with its uppercase letters."""
    if text.isascii():
        return text
    plain = _IGNORED_SIGNS.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFC", plain.translate(_AS_TYPED))


_ENDINGS = ("s", "es", "d", "ed", "ing")


def without_ending(word: str) -> set[str]:
    """Return possible base forms of an English word: ``tri`` and ``trie`` for ``tries``, ``hop`` and
    ``hope`` for ``hoping``."""
    cut = {word.removesuffix(ending) for ending in _ENDINGS if word.endswith(ending)}
    return {form for base in cut for form in (base, base + "e") if len(form) > 2} - {word}


def words(text: str) -> list[str]:
    """Return the words of a passage in order; a compound word is followed by its parts, and CJK text becomes pairs of
    adjacent characters."""
    found: list[str] = []
    for token in _TOKEN.findall(text):
        # Most texts repeat few words; a token longer than any word will not occur again, so it is not cached.
        found += _known_words(token) if len(token) <= _MAX_WORD else _words_of(token)
    return found


def _words_of(token: str) -> list[str]:
    if _is_plain(token):
        return [token[:_MAX_WORD].lower()]
    if is_cjk(token):
        token = unicodedata.normalize("NFKC", token)
        return [token[i : i + 2] for i in range(len(token) - 1)] if len(token) > 1 else [token]
    token = _as_typed(_APOSTROPHE.sub("", token))
    whole = fold(token).replace(".", "")[:_MAX_WORD]
    return [whole, *(part for part in _parts(token) if part != whole)]


_known_words = lru_cache(maxsize=20_000)(_words_of)


def _parts(token: str) -> list[str]:
    """Return the parts of a compound word. For ``user.getById``: each whole name, and each word of a name."""
    names = _NAMES.split(token)
    found: list[str] = []
    for name in names:
        inside = _PARTS.findall(name) if name.isascii() else []
        if len(names) > 1 or len(inside) < 2:
            found.append(fold(name)[:_MAX_WORD])
        if len(inside) > 1:
            found += [fold(part)[:_MAX_WORD] for part in inside]
    return [part for part in found if part]


_Y_AND_I = str.maketrans("yi", "iy")


class WantedWords(dict[str, frozenset[str]]):
    """Map from each token to the wanted words and stems that it matches; the set is empty if there are none."""

    def __init__(self, words_and_stems: frozenset[str]) -> None:
        super().__init__()
        self.all = words_and_stems
        self._first = {word[:1] for word in words_and_stems}
        begun = {word[:2] for word in words_and_stems}
        # Stemming changes no other letter of these words: "dying" becomes "die".
        self._begun = begun | {two.translate(_Y_AND_I) for two in begun}

    def __missing__(self, token: str) -> frozenset[str]:
        # Stemming never changes the first letter, so most tokens need not be stemmed.
        passed = _is_plain(token) and token[0].lower() not in self._first
        self[token] = forms = frozenset() if passed else _words_and_stems(token)
        return forms

    def may_be_in(self, text: str) -> bool:
        """Return whether a passage can contain any of the words. The text isn't split; if the answer is hard to
        determine, it is True."""
        if not text.isascii() or "." in text or "'" in text:
            return True
        lower = text.lower()
        return any(begun in lower for begun in self._begun)


class WordMarker:
    """Matcher for wanted words and stems in text."""

    def __init__(self, wanted: WantedWords) -> None:
        self._wanted = wanted
        self._known: dict[str, bool] = {}

    def spans(self, text: str, start: int = 0, end: int = sys.maxsize) -> Iterator[tuple[int, int]]:
        """Yield the spans of matches in this part of a passage. In a run of CJK text, they cover only the matching
        characters."""
        for match in _TOKEN.finditer(text, start, end):
            token = match[0]
            marked = self._known.get(token)
            if marked is None:
                marked = self._known[token] = not self._wanted[token].isdisjoint(self._wanted.all)
            if marked and len(token) > 2 and is_cjk(token) and unicodedata.is_normalized("NFKC", token):
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
    """Return whether a token is in a script that is split into character pairs, such as Chinese, Japanese, Korean, or
    Thai."""
    return _IS_CJK.match(token) is not None


def tokens(text: str) -> list[str]:
    return _TOKEN.findall(text)


def _is_plain(token: str) -> bool:
    """Return whether a token is a single plain word, as are nearly all tokens."""
    return token.isascii() and token.isalpha() and (token.islower() or token[1:].islower())


@lru_cache(maxsize=20_000)
def _words_and_stems(token: str) -> frozenset[str]:
    found = words(token)
    return frozenset([*found, *map(stem, found)])


@lru_cache(maxsize=20_000)
def parts_of(token: str) -> tuple[frozenset[str], ...]:
    """Return the parts of a compound word such as ``getById``, each with its stem; empty for other words."""
    if _is_plain(token) or is_cjk(token):
        return ()
    return tuple(frozenset((part, stem(part))) for part in words(token)[1:])


_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


def one_edit_away(word: str) -> set[str]:
    """Return every word that is one typing error away: with a letter added, missing, or replaced, or two
    letters swapped."""
    letters = _LETTERS + "".join(c for c in set(word) if c not in _LETTERS)
    splits = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    return (
        {a + b[1:] for a, b in splits if b}
        | {a + b[1] + b[0] + b[2:] for a, b in splits if len(b) > 1}
        | {a + c + b[1:] for a, b in splits if b for c in letters}
        | {a + c + b for a, b in splits for c in letters}
    ) - {word}
