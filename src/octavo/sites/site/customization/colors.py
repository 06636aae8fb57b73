"""A site's colors, computed from the selected colors."""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct

from octavo.core.color import Theme, theme

from .model import Styling, ThemedColor

_Color = tuple[str, str]


def site_theme(styling: Styling) -> Theme:
    tint = styling.tint
    return _colors(
        _pair(styling.primary_color),
        _pair(tint.color) if isinstance(tint, Struct) else None,
        (
            _pair(styling.info_color),
            _pair(styling.success_color),
            _pair(styling.warning_color),
            _pair(styling.danger_color),
        ),
        styling.background == "match",
    )


def _pair(color: ThemedColor) -> _Color:
    return (color.light, color.dark)


@lru_cache(maxsize=256)
def _colors(primary: _Color, tint: _Color | None, semantic: tuple[_Color, ...], match: bool) -> Theme:
    names = ("info", "success", "warning", "danger")
    return theme(primary, tint=tint, semantic=dict(zip(names, semantic, strict=True)), match=match)
