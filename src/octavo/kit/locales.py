"""Interface text in several languages: catalogs, the catalog language for a language tag, and date formats."""

from __future__ import annotations

import tomllib
from collections.abc import Container
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

DEFAULT = "en"
_SAME = {"nb": "no", "nn": "no", "iw": "he"}
"""Codes of languages for which catalogs use a different code."""


def read_catalog(labels: type[T], package: str, name: str) -> dict[str, T]:
    """Read the labels of every language from a TOML file in a package's folder. The defaults of ``labels``, a
    struct of strings, are the English labels. Raises ValueError if a label is missing in a language."""
    made: Any = labels
    names = {field.name for field in msgspec.structs.fields(made)}
    found = {DEFAULT: labels()}
    for language, words in tomllib.loads((files(package) / name).read_text()).items():
        if words.keys() != names:
            raise ValueError(f"{name}: {language}: missing or unknown entries: {words.keys() ^ names}")
        found[language] = labels(**words)
    return found


def find_locale(language: str | None, known: Container[str]) -> str | None:
    """Return the catalog language for a language tag such as ``pt-br``; None if there is none."""
    code = (language or "").lower().replace("_", "-").partition("-")[0]
    code = _SAME.get(code, code)
    return code if code in known else None


def date_words(day: date, locale: str) -> str:
    """Return a date in the format of a language that has a catalog, such as ``22 November 2026``."""
    form = _day_forms()[locale]
    month = form.months.split()[day.month - 1] if form.months else str(day.month)
    return form.order.format(day=day.day, month=month, year=day.year)


class _DayForm(msgspec.Struct):
    """Date format of a language. ``months``: the names of the months; empty if the language uses numbers."""

    order: str
    months: str = ""


@cache
def _day_forms() -> dict[str, _DayForm]:
    return msgspec.toml.decode((files(__package__) / "dates.toml").read_text(), type=dict[str, _DayForm])
