"""Serialize parameter values according to RFC 6570, using OpenAPI's terms. This module does no I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple
from urllib.parse import quote

from .description import Data, text_of


class Style(NamedTuple):
    """Serialization style. ``style``: the name of the style; empty if the value is sent unchanged. ``is_joined``:
    whether the location can contain lists and objects, in which case each part is encoded separately before separators
    are inserted."""

    style: str
    explode: bool
    place: str | None
    is_joined: bool

    @property
    def is_encoded(self) -> bool:
        """Return whether the result is already encoded, because a path contains separators that must stay
        unencoded."""
        return self.place == "path" and (self.is_joined or self.style in ("label", "matrix"))


def style_of(parameter: Data, *, is_joined: bool) -> Style:
    place = text_of(parameter.get("in"))
    style = text_of(parameter.get("style")) or ("form" if place in ("query", "cookie") else "simple")
    explode = parameter.get("explode", style in ("form", "deepObject")) is True
    # The media type determines the serialization.
    return Style("" if "content" in parameter else style, explode, place, is_joined)


def serialize(
    how: Style, name: str, value: object, text: Callable[[object], str]
) -> Iterable[tuple[str, str]]:
    """Yield a value as pairs of name and text. ``text``: a function that serializes the parts of a value."""
    if not isinstance(value, (list, dict)) and how.style not in ("label", "matrix"):
        return [(name, quote(text(value), safe="") if how.is_encoded else text(value))]
    if not how.style:
        return [(name, text(value))]
    texts = [text(each) for each in (value if isinstance(value, list) else [value])]
    pairs = [(key, text(each)) for key, each in value.items()] if isinstance(value, dict) else None
    if how.place == "path":
        return [(name, _in_path(how, name, texts, pairs))]
    if pairs is not None:
        if how.style == "deepObject":
            return [(f"{name}[{key}]", said) for key, said in pairs]
        if how.explode and how.place == "query":
            return pairs
        return [(name, ",".join(f"{key}={said}" if how.explode else f"{key},{said}" for key, said in pairs))]
    if how.explode and (how.place == "query" or how.style == "deepObject"):
        return [(name, said) for said in texts]
    return [(name, {"spaceDelimited": " ", "pipeDelimited": "|"}.get(how.style, ",").join(texts))]


def _in_path(how: Style, name: str, texts: list[str], pairs: list[tuple[str, str]] | None) -> str:
    def encoded(said: str) -> str:
        return quote(said, safe="") if how.is_encoded else said

    if pairs is not None:
        equal = "=" if how.explode else ","
        parts = [f"{encoded(key)}{equal}{encoded(said)}" for key, said in pairs]
    else:
        parts = [encoded(said) for said in texts]
    if how.style == "label":
        return "." + ("." if how.explode else ",").join(parts)
    if how.style == "matrix":
        if not how.explode:
            return f";{name}={','.join(parts)}"
        return "".join(f";{part}" if pairs is not None else f";{name}={part}" for part in parts)
    return ",".join(parts)
