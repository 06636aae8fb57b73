"""Words of ours in several languages: catalogues of them, which language of one a tag means, and how dates read."""

from __future__ import annotations

import tomllib
from collections.abc import Container
from datetime import date
from importlib.resources import files
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

DEFAULT = "en"
_SAME = {"nb": "no", "nn": "no", "iw": "he"}
"""Languages by other codes than those of the catalogues."""


def read_catalogue(labels: type[T], package: str, name: str) -> dict[str, T]:
    """The words of every language of a TOML file beside a package; the defaults of ``labels``, a struct of texts, are
    the English ones. Raises ValueError for a language that lacks one."""
    made: Any = labels
    names = {field.name for field in msgspec.structs.fields(made)}
    found = {DEFAULT: labels()}
    for language, words in tomllib.loads((files(package) / name).read_text()).items():
        if words.keys() != names:
            raise ValueError(f"{name}: {language}: not the words asked for: {words.keys() ^ names}")
        found[language] = labels(**words)
    return found


def find_locale(language: str | None, known: Container[str]) -> str | None:
    """The language of a catalogue that a tag (``pt-br``) means, or None."""
    code = (language or "").lower().replace("_", "-").partition("-")[0]
    code = _SAME.get(code, code)
    return code if code in known else None


def date_words(day: date, locale: str) -> str:
    """A day as people of that language write it: ``22 November 2026``."""
    from babel.dates import format_date

    # English days as most of the world writes them.
    return format_date(day, "long", locale="en_GB" if locale == DEFAULT else locale)
