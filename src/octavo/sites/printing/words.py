"""Labels in a PDF, in the language of its space."""

from __future__ import annotations

from functools import cache

from octavo.kit.locales import DEFAULT, find_locale, read_catalog

from .order import PrintWords


@cache
def _read_catalog() -> dict[str, PrintWords]:
    return read_catalog(PrintWords, "octavo.sites.printing", "words.toml")


def find_words(language: str | None) -> tuple[str, PrintWords]:
    """Return the labels in the closest available language, and that language."""
    locale = find_locale(language, _read_catalog()) or DEFAULT
    return locale, _read_catalog()[locale]
