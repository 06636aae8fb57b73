"""The languages of the reader's interface: its words, from one catalogue, and which way lines run."""

from __future__ import annotations

from functools import cache
from typing import Literal

from ..kit import locales
from .views import Labels

_RIGHT_TO_LEFT = frozenset({"ar", "dv", "fa", "he", "ku", "ps", "sd", "ug", "ur", "yi"})


@cache
def catalogue() -> dict[str, Labels]:
    """The words of every language there is. Raises ValueError for a language that lacks one."""
    return locales.read_catalog(Labels, __package__, "locales.toml")


def find_locale(language: str | None) -> str | None:
    """The language of the catalogue that a tag (``pt-br``) means, or None."""
    return locales.find_locale(language, catalogue())


def direction(language: str) -> Literal["ltr", "rtl"]:
    return "rtl" if language.lower().partition("-")[0] in _RIGHT_TO_LEFT else "ltr"
