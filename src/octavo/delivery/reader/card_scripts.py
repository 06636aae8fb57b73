"""Fonts in which cards show titles whose writing systems no customization font covers.

The files in ``card_fonts/`` are unmodified files from the Fontsource packages of Noto Sans, with their licenses. Only
cards use them: browsers use system fonts, and fonts for Chinese, Japanese, and Korean are large. Each font has only one
weight. The files have the WOFF format, which is a third larger than WOFF2 but decompresses forty times as fast."""

from __future__ import annotations

from importlib.resources import files

from msgspec import Struct


class WritingSystem(Struct, frozen=True):
    """Writing system. ``ranges``: the characters that need it. ``first``: the languages in which its font takes
    precedence over other fonts."""

    files: tuple[str, ...]
    ranges: tuple[tuple[int, int], ...]
    first: tuple[str, ...] = ()


def _both_subsets(name: str) -> tuple[str, ...]:
    return (f"{name}-400-normal.woff2", f"{name}-700-normal.woff2")


_HAN = (
    (0x2E80, 0x2FDF),
    (0x3000, 0x303F),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0xFF00, 0xFFEF),
)
_KANA = (0x3040, 0x30FF)
SCRIPTS = {
    "arabic": WritingSystem(
        _both_subsets("noto-sans-arabic-arabic"), ((0x600, 0x6FF), (0x750, 0x77F), (0xFB50, 0xFEFC))
    ),
    "hebrew": WritingSystem(_both_subsets("noto-sans-hebrew-hebrew"), ((0x590, 0x5FF), (0xFB1D, 0xFB4F))),
    "thai": WritingSystem(_both_subsets("noto-sans-thai-thai"), ((0xE00, 0xE7F),)),
    "devanagari": WritingSystem(
        _both_subsets("noto-sans-devanagari-devanagari"), ((0x900, 0x97F), (0xA8E0, 0xA8FF))
    ),
    "korean": WritingSystem(
        ("noto-sans-kr-korean-700-normal.woff",),
        ((0x1100, 0x11FF), (0x3130, 0x318F), (0xAC00, 0xD7AF)),
        ("ko",),
    ),
    # Chinese characters that are missing from one of the two fonts are mostly in the other.
    "chinese": WritingSystem(("noto-sans-sc-chinese-simplified-700-normal.woff",), (*_HAN, _KANA), ("zh",)),
    "japanese": WritingSystem(("noto-sans-jp-japanese-700-normal.woff",), (*_HAN, _KANA), ("ja",)),
}


def find_scripts(text: str, language: str) -> tuple[str, ...]:
    """Return the names of the writing systems that a string requires fonts for, in lookup order."""
    points = {ord(character) for character in text}
    found = [
        name
        for name, script in SCRIPTS.items()
        if any(start <= point <= end for point in points for start, end in script.ranges)
    ]
    kana = any(_KANA[0] <= point <= _KANA[1] for point in points)
    written = language.lower().partition("-")[0]
    return tuple(
        sorted(
            found, key=lambda name: written not in SCRIPTS[name].first and not (kana and name == "japanese")
        )
    )


def read_script_font(name: str) -> bytes:
    return (files(__package__) / "card_fonts" / name).read_bytes()
