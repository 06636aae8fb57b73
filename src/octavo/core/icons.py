"""Icons by the names that content uses. The names and icons come from the Font Awesome Free package (icons under CC BY
4.0)."""

from __future__ import annotations

import re
from functools import cache, lru_cache

import fontawesome_free_pack
from fontawesome_free_pack import get_icon
from markupsafe import Markup

_NAME = re.compile(r"[a-z0-9-]{1,64}")
_STYLES = ("solid", "regular", "brands")
# Names of the paid set and of older versions, mapped to the closest free icon.
_NEAREST = {
    "arrow-right-long-to-line": "arrow-right-to-bracket",
    "book-open-cover": "book-open",
    "books": "book",
    "box-open-full": "box-open",
    "bullseye-arrow": "bullseye",
    "chart-mixed": "chart-column",
    "circles-overlap": "circle-half-stroke",
    "cog": "gear",
    "cogs": "gears",
    "display-code": "laptop-code",
    "file-magnifying-glass": "file-lines",
    "globe-pointer": "earth-europe",
    "grid-2": "table-cells-large",
    "grid": "table-cells",
    "hand-wave": "hand",
    "home": "house",
    "info": "circle-info",
    "list-timeline": "list-ul",
    "message-question": "circle-question",
    "messages": "comments",
    "message-bot": "robot",
    "objects-column": "table-columns",
    "rocket-launch": "rocket",
    "search": "magnifying-glass",
    "shield-check": "shield-halved",
    "sparkle": "star",
    "sparkles": "wand-magic-sparkles",
    "square-terminal": "terminal",
    "stars": "star",
    "user-group-crown": "user-group",
    "webhook": "plug",
    "window": "window-maximize",
}


@lru_cache(maxsize=1024)
def icon(name: str) -> Markup | None:
    """Return the icon as an inline SVG in the text's color and size; None if the name is unknown.

    >>> icon("no-such-icon") is None
    True
    """
    name = name.strip().lower().removeprefix("fa-")
    style, _, rest = name.partition("/")
    styles: tuple[str, ...] = _STYLES
    if rest and style in _STYLES:
        styles, name = (style,), rest
    if not _NAME.fullmatch(name):
        return None
    for wanted in (name, _NEAREST.get(name), name.removeprefix("gitbook-")):
        found = _find(wanted, styles) if wanted else None
        if found is not None:
            return found
    nearest = _nearest(name)
    return _find(nearest, _STYLES) if nearest is not None else None


def is_free(name: str) -> bool:
    """Return whether the named icon itself is available, rather than only a similar icon."""
    name = name.strip().lower().removeprefix("fa-")
    style, _, rest = name.partition("/")
    styles: tuple[str, ...] = (style,) if rest and style in _STYLES else _STYLES
    name = rest if rest and style in _STYLES else name
    return _NAME.fullmatch(name) is not None and _find(name.removeprefix("gitbook-"), styles) is not None


def _find(name: str, styles: tuple[str, ...]) -> Markup | None:
    for family in styles:
        found = get_icon(f"{family}/{name}")
        if found is not None:
            return Markup(found.svg)  # noqa: S704 - from the package, not from content
    return None


def free_names() -> list[str]:
    """Return the names of all available icons except brand logos, with single words first."""
    return [name for name, _ in _free()]


@cache
def _free() -> tuple[tuple[str, frozenset[str]], ...]:
    """Return the names of the free icons, each with the words in it. One-word names come first."""
    names = {
        constant.removeprefix("SOLID_").lower().replace("_", "-")
        for constant in dir(fontawesome_free_pack)
        if constant.startswith("SOLID_")
    }
    return tuple((name, _words(name)) for name in sorted(names, key=lambda name: (name.count("-"), name)))


def _words(name: str) -> frozenset[str]:
    return frozenset(word.rstrip("s") for word in name.split("-") if len(word) > 1)


def _nearest(name: str) -> str | None:
    """Return the free icon whose name has the most words in common with this name, with the first word weighted
    highest."""
    wanted = _words(name)
    first = name.partition("-")[0].rstrip("s")
    best, most = None, 0.4
    for free, words in _free():
        common = wanted & words
        if not common:
            continue
        likeness = len(common) / len(wanted | words) + (0.5 if first in common else 0)
        if likeness > most:
            best, most = free, likeness
    return best
