"""The words of a print that nobody wrote, in the language of its space."""

from __future__ import annotations

from functools import cache

from ..kit.locales import DEFAULT, find_locale, read_catalog
from .order import PrintWords


@cache
def _catalogue() -> dict[str, PrintWords]:
    return read_catalog(PrintWords, "octavo.printing", "words.toml")


def words_of(language: str | None) -> tuple[str, PrintWords]:
    """The words of the language nearest to this one, and which that is."""
    locale = find_locale(language, _catalogue()) or DEFAULT
    return locale, _catalogue()[locale]
