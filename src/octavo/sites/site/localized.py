"""Localized text on a site: the types, and the text for a reader."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta, UnsetType

from octavo.core.languages import LANGUAGES
from octavo.kit.texts import NOT_BLANK

LocalizedText = dict[str, Annotated[str, Meta(max_length=128, pattern=NOT_BLANK)]]
LocalizedLabel = dict[str, Annotated[str, Meta(max_length=64, pattern=NOT_BLANK)]]
LocalizedDescription = dict[str, Annotated[str, Meta(max_length=256, pattern=NOT_BLANK)]]


def require_languages(**texts: Mapping[str, str] | UnsetType | None) -> None:
    """Raise ValueError, naming the field, if there is a translation into a language that sites don't support."""
    for field, given in texts.items():
        for language in given if isinstance(given, Mapping) else ():
            if language not in LANGUAGES:
                raise ValueError(
                    f"{field}: {language[:50]!r} isn't a supported language. Use one of {', '.join(LANGUAGES)}."
                )


def text_in(language: str | None, texts: Mapping[str, str] | UnsetType) -> str | None:
    """Return the text in a language (``pt-BR`` falls back to ``pt``); None if there is none."""
    if not isinstance(texts, Mapping) or not language:
        return None
    by_tag = {tag.lower().replace("_", "-"): text for tag, text in texts.items()}
    tag = language.lower().replace("_", "-")
    return by_tag.get(tag) or by_tag.get(tag.partition("-")[0])
