"""Redirects as files of many tools have them, before they are resolved on a site."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Format = Literal["csv", "netlify", "toml", "json", "yaml", "javascript", "htaccess"]


class GivenRedirect(Struct, frozen=True, kw_only=True):
    """Redirect in a file. ``row``: its line, or its number where a file has no lines. ``problem``: why it can't
    be used. ``permanent`` None: the file doesn't say."""

    row: int
    source: str
    destination: str
    intent: str = ""
    capture: bool = False
    permanent: bool | None = None
    problem: str = ""
