"""Redirects in file formats that many tools use, before they are resolved on a site."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal
from urllib.parse import unquote

from msgspec import Struct

SEGMENT = r"(?:[A-Za-z0-9._~+-]|%[0-9A-Fa-f]{2})+"
MAX_SOURCE = 512
"""Maximum number of characters in a source path."""
MAX_PATHS = 100
"""Maximum number of paths that a page redirects from."""
PATH = rf"/{SEGMENT}(?:/{SEGMENT})*"
_PATH = re.compile(rf"{PATH}\Z")


def read_paths(value: Iterable[object]) -> tuple[tuple[str, ...], bool]:
    """Return the paths under a space that a page redirects from, each with a leading slash and without
    duplicates, and whether the whole value could be read."""
    found: dict[str, None] = {}
    complete = True
    for one in value:
        path = "/" + one.strip().strip("/") if isinstance(one, str) else ""
        if len(path) <= MAX_SOURCE and _PATH.match(path) and len(found) < MAX_PATHS:
            found.setdefault(path)
        else:
            complete = False
    return tuple(found), complete


def compare_key(path: str) -> str:
    """Return a redirect path in the form used for comparisons: decoded, without outer slashes, and in lowercase."""
    return unquote(path).strip("/").lower()


Format = Literal["csv", "netlify", "toml", "json", "yaml", "javascript", "htaccess"]


class GivenRedirect(Struct, frozen=True, kw_only=True):
    """Redirect in a file. ``row``: its line, or its number if the file has no lines. ``problem``: the reason the
    redirect can't be used. ``permanent``: whether it is permanent; None if the file doesn't specify that."""

    row: int
    source: str
    destination: str
    intent: str = ""
    capture: bool = False
    permanent: bool | None = None
    problem: str = ""
