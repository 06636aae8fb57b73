"""Labels of a print, in the language of its space."""

from __future__ import annotations

from functools import cache

from ..kit.locales import DEFAULT, find_locale, read_catalogue
from .order import PrintWords


@cache
def _catalogue() -> dict[str, PrintWords]:
    return read_catalogue(PrintWords, "octavo.printing", "words.toml")


def words_of(language: str | None) -> tuple[str, PrintWords]:
    """Return the labels in the language closest to this one, and that language."""
    locale = find_locale(language, _catalogue()) or DEFAULT
    return locale, _catalogue()[locale]
