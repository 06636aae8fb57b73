"""The languages of the reader's interface: its words, from one catalogue, how dates read, which way lines run."""

from __future__ import annotations

import tomllib
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec
from babel.dates import format_date

from .views import Labels

DEFAULT = "en"
_RIGHT_TO_LEFT = frozenset({"ar", "dv", "fa", "he", "ku", "ps", "sd", "ug", "ur", "yi"})
_SAME = {"nb": "no", "nn": "no", "iw": "he"}
"""Languages by other codes than those of the catalogue."""


@cache
def catalogue() -> dict[str, Labels]:
    """The words of every language there is. Raises ValueError for a language that lacks one."""
    text = (files(__package__) / "locales.toml").read_text()
    names = {field.name for field in msgspec.structs.fields(Labels)}
    found = {DEFAULT: Labels()}
    for language, words in tomllib.loads(text).items():
        if words.keys() != names:
            raise ValueError(f"locales.toml: {language}: not the words asked for: {words.keys() ^ names}")
        found[language] = Labels(**words)
    return found


def find_locale(language: str | None) -> str | None:
    """The language of the catalogue that a tag (``pt-br``) means, or None."""
    code = (language or "").lower().replace("_", "-").partition("-")[0]
    code = _SAME.get(code, code)
    return code if code in catalogue() else None


def direction(language: str) -> Literal["ltr", "rtl"]:
    return "rtl" if language.lower().partition("-")[0] in _RIGHT_TO_LEFT else "ltr"


def date_words(day: date, locale: str) -> str:
    """A day as people of that language write it: ``22 November 2026``."""
    # English days as most of the world writes them.
    return format_date(day, "long", locale="en_GB" if locale == "en" else locale)
