"""Dated entries of a page (the block ``updates``), which a feed is made of."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from msgspec import Struct

FEED = "rss.xml"
"""The last part of a feed's path, below its page's."""
MAX_ENTRIES = 100


class DatedEntry(Struct, frozen=True):
    """One dated entry. ``anchor`` is its place in the page, ``body`` its HTML with addresses as pages have them."""

    anchor: str
    title: str
    body: str
    day: date | None
    tags: tuple[str, ...]


def newest(entries: Sequence[DatedEntry]) -> list[DatedEntry]:
    """The entries that a feed has: the newest first, those without a day at the end in the order of the page."""
    dated = sorted((entry for entry in entries if entry.day), key=lambda entry: entry.day or date.min)
    return [*reversed(dated), *(entry for entry in entries if not entry.day)][:MAX_ENTRIES]
