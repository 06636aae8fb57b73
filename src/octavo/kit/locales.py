"""Our texts in several languages: catalogs, the catalog language that a language tag means, and the format of
dates."""

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
"""Codes of languages that catalogs know by another code."""


def read_catalog(labels: type[T], package: str, name: str) -> dict[str, T]:
    """Read the texts of every language from a TOML file beside a package. The defaults of ``labels``, a
    struct of texts, are the English ones. Raises ValueError for a language that lacks one."""
    made: Any = labels
    names = {field.name for field in msgspec.structs.fields(made)}
    found = {DEFAULT: labels()}
    for language, words in tomllib.loads((files(package) / name).read_text()).items():
        if words.keys() != names:
            raise ValueError(f"{name}: {language}: missing or unknown texts: {words.keys() ^ names}")
        found[language] = labels(**words)
    return found


def find_locale(language: str | None, known: Container[str]) -> str | None:
    """Return the catalog language that a tag (``pt-br``) means, or None."""
    code = (language or "").lower().replace("_", "-").partition("-")[0]
    code = _SAME.get(code, code)
    return code if code in known else None


def date_words(day: date, locale: str) -> str:
    """Return a day as people of that language write it: ``22 November 2026``."""
    from babel.dates import format_date

    # English days as most of the world writes them.
    return format_date(day, "long", locale="en_GB" if locale == DEFAULT else locale)
