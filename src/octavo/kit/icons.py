"""Icons by the names that content uses: those of Font Awesome Free (icons CC BY 4.0, from their package)."""

from __future__ import annotations

import re
from functools import lru_cache

from fontawesome_free_pack import get_icon
from markupsafe import Markup

_NAME = re.compile(r"[a-z0-9-]{1,64}")
_STYLES = ("solid", "regular", "brands")
# Names of the paid set and of older versions, by what comes nearest in the free one.
_NEAREST = {
    "arrow-right-long-to-line": "arrow-right-to-bracket", "book-open-cover": "book-open", "books": "book",
    "box-open-full": "box-open", "bullseye-arrow": "bullseye", "chart-mixed": "chart-column",
    "circles-overlap": "circle-half-stroke", "cog": "gear", "cogs": "gears", "display-code": "laptop-code",
    "file-magnifying-glass": "file-lines", "globe-pointer": "earth-europe",
    "grid-2": "table-cells-large", "grid": "table-cells", "hand-wave": "hand", "home": "house",
    "info": "circle-info", "list-timeline": "list-ul", "message-question": "circle-question",
    "messages": "comments", "message-bot": "robot", "objects-column": "table-columns", "rocket-launch": "rocket",
    "search": "magnifying-glass", "shield-check": "shield-halved", "sparkle": "star",
    "sparkles": "wand-magic-sparkles", "square-terminal": "terminal", "stars": "star", "user-group-crown": "user-group",
    "webhook": "plug", "window": "window-maximize",
}  # fmt: skip


@lru_cache(maxsize=1024)
def icon(name: str) -> Markup | None:
    """The icon as an inline SVG of the text's colour and size, or None for a name nobody knows.

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
        for family in styles if wanted else ():
            found = get_icon(f"{family}/{wanted}")
            if found is not None:
                return Markup(found.svg)  # noqa: S704 - from the package, not from content
    return None
