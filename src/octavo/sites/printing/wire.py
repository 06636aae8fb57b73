"""Wire format of PDFs."""

from __future__ import annotations

from msgspec import Struct


class PrintQuery(Struct, rename="camel"):
    """Query parameters of a PDF. ``page``: the ID of the page to print, with its subpages. ``only``:
    whether to print only that page."""

    only: bool = False
    page: str | None = None


class PrintLink(Struct):
    url: str
