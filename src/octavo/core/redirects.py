"""Redirects in the form used in files of many tools, before they are resolved on a site."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Format = Literal["csv", "netlify", "toml", "json", "yaml", "javascript", "htaccess"]


class GivenRedirect(Struct, frozen=True, kw_only=True):
    """Redirect in a file. ``row``: its line, or its number if the file has no lines. ``problem``: the reason
    why it can't be used. ``permanent``: whether it is permanent; None if the file doesn't say."""

    row: int
    source: str
    destination: str
    intent: str = ""
    capture: bool = False
    permanent: bool | None = None
    problem: str = ""
