"""Languages of the reader's interface: labels from one catalog, and writing directions."""

from __future__ import annotations

from functools import cache
from typing import Literal

from octavo.kit import locales

from .views import FrameLabels

_RIGHT_TO_LEFT = frozenset({"ar", "dv", "fa", "he", "ku", "ps", "sd", "ug", "ur", "yi"})


@cache
def read_catalog() -> dict[str, FrameLabels]:
    """Return the labels of every language. Raises ValueError if a label is missing in a language."""
    return locales.read_catalog(FrameLabels, __package__, "locales.toml")


def find_locale(language: str | None) -> str | None:
    """Return the catalog language for a language tag such as ``pt-br``, or None if there is no catalog for
    it."""
    return locales.find_locale(language, read_catalog())


def direction(language: str) -> Literal["ltr", "rtl"]:
    return "rtl" if language.lower().partition("-")[0] in _RIGHT_TO_LEFT else "ltr"
