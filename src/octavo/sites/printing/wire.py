"""Wire format of prints."""

from __future__ import annotations

from msgspec import Struct


class PrintQuery(Struct, rename="camel"):
    """Query of a print. ``page``: the id of the page to print with its subpages. ``only``: whether to print
    that page alone."""

    only: bool = False
    page: str | None = None


class PrintLink(Struct):
    url: str
