"""Language names for models, and a check of a segment's language based on its letters and its most common words."""

from __future__ import annotations

import re
from collections import Counter

from octavo.core.languages import find_language
from octavo.core.sentences import fold

LANGUAGES = {
    "en": "English",
    "fr": "French",
    "de": "German",
    "es": "Spanish",
    "it": "Italian",
    "pt": "Portuguese",
    "pt-br": "Brazilian Portuguese",
    "ru": "Russian",
    "ja": "Japanese",
    "zh": "Chinese",
    "zh-tw": "Traditional Chinese",
    "yue": "Cantonese",
    "ko": "Korean",
    "ar": "Arabic",
    "hi": "Hindi",
    "nl": "Dutch",
    "pl": "Polish",
    "tr": "Turkish",
    "sv": "Swedish",
    "no": "Norwegian",
    "da": "Danish",
    "fi": "Finnish",
    "el": "Greek",
    "cs": "Czech",
    "hu": "Hungarian",
    "ro": "Romanian",
    "th": "Thai",
    "vi": "Vietnamese",
    "id": "Indonesian",
    "ms": "Malay",
    "he": "Hebrew",
    "uk": "Ukrainian",
    "sk": "Slovak",
    "bg": "Bulgarian",
    "hr": "Croatian",
    "lt": "Lithuanian",
    "lv": "Latvian",
    "et": "Estonian",
    "sl": "Slovenian",
}

_HAN, _CYRILLIC = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff", "\u0400-\u04ff"
_LETTERS = {
    "ja": f"\u3040-\u30ff{_HAN}",
    "zh": _HAN,
    "zh-tw": _HAN,
    "yue": _HAN,
    "ko": "\uac00-\ud7af\u1100-\u11ff",
    "ar": "\u0600-\u06ff",
    "hi": "\u0900-\u097f",
    "ru": _CYRILLIC,
    "uk": _CYRILLIC,
    "bg": _CYRILLIC,
    "el": "\u0370-\u03ff\u1f00-\u1fff",
    "he": "\u0590-\u05ff",
    "th": "\u0e00-\u0e7f",
}
"""Regular expressions for the characters of languages with non-Latin scripts, by language."""
_LATIN = "A-Za-z\u00aa-\u024f\u1e00-\u1eff"
_ANY_LETTER = re.compile(r"[^\W\d_]")
_SHARE = 0.25
"""Minimum fraction of a segment's letters that must belong to the script of its language. The fraction is low
because product names are often in another script."""
_FEW = 12
"""Number of letters up to which text isn't checked, because a short heading may be a name."""

_WORDS = {
    language: frozenset(words.split())
    for language, words in {
        "en": "the of and is to with for this that are you your can from it which when if be will not",
        "de": "der die das und ist zu mit fur dies sie ihr kann von es wenn nicht ein eine den dem werden auf wird",
        "fr": "le la les des et est avec pour ce cette vous votre peut du une un qui dans sur si pas il elle sont",
        "es": "el la los las y es con para este esta usted su puede del una un que en si no por se son lo",
        "it": "il lo gli e con per questo questa puo del della una un che nel di se non sono si da le",
        "pt": "o os as e com para este esta voce seu pode do da uma um que no na se nao sao por em",
        "nl": "de het en is met voor deze dit u je uw kan van een die in als niet zijn op wordt om",
        "sv": "och ar med for detta den det du din kan fran en ett som i om inte pa att av till",
        "da": "og er med for dette den det du din kan fra en et som i hvis ikke pa at af til",
        "no": "og er med for dette den det du din kan fra en et som i hvis ikke pa a av til",
        "pl": "i jest z dla to ten ta mozesz od jeden ktory w jesli nie na do sie sa po",
    }.items()
}
"""Most common words in some languages, case-folded and without accents."""
_WORD = re.compile(r"[^\W\d_]+")


def seems_other(text: str, language: str) -> bool:
    """Return whether a segment is clearly in another language. Return False for short and ambiguous text."""
    letters = _ANY_LETTER.findall(text)
    if len(letters) <= _FEW:
        return False
    own = re.compile(f"[{_LETTERS.get(language, _LATIN)}]")
    if sum(own.match(letter) is not None for letter in letters) < _SHARE * len(letters):
        return True
    base = language.partition("-")[0]
    if base not in _WORDS:
        return find_language(text) in _WORDS
    words = Counter(fold(word) for word in _WORD.findall(text))
    matches = {name: sum(words[word] for word in common) for name, common in _WORDS.items()}
    best = max(matches.values())
    return best >= 3 and best >= 0.2 * words.total() and best > 2 * matches[base]
