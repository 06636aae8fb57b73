"""Dated entries on a page (the ``updates`` block), from which feeds are generated."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from msgspec import Struct

FEED = "rss.xml"
"""Last path segment of a feed, under its page's path."""
MAX_ENTRIES = 100


class DatedEntry(Struct, frozen=True):
    """Dated entry. ``anchor``: its anchor on the page. ``body``: its HTML, with the same URLs as on the
    page."""

    anchor: str
    title: str
    body: str
    day: date | None
    tags: tuple[str, ...]


def newest(entries: Sequence[DatedEntry]) -> list[DatedEntry]:
    """Return the entries of a feed: entries with a date, newest first, followed by entries without a date in page
    order."""
    dated = sorted((entry for entry in entries if entry.day), key=lambda entry: entry.day or date.min)
    return [*reversed(dated), *(entry for entry in entries if not entry.day)][:MAX_ENTRIES]
