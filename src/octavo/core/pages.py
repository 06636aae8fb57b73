"""Define a page and its position in the tree: rank order, slugs, paths, and moves."""

from __future__ import annotations

import re
import unicodedata
from typing import Annotated, Any

from .page_fields import Field, PageFields, PageKind, fields_of


class Page(PageFields, frozen=True, omit_defaults=True, kw_only=True):
    """Page in its stored form in a revision. ``body``: the hash of the whole Markdown source, including front matter
    and title. The other fields come from that source, from the navigation, and from edits. Times are in milliseconds
    since 1970."""

    id: str
    parent: str | None = None
    rank: str = ""
    title: Annotated[str, Field(label="title", kinds=("document", "group", "link"), edited=True)] = ""
    slug: Annotated[str, Field(label="path", kinds=("document", "group"), edited=True)] = ""
    kind: Annotated[PageKind, Field(label="type", wire="type")] = "document"
    link_title: Annotated[str | None, Field(label="titleInLinks")] = None
    target: Annotated[dict[str, Any] | None, Field(label="target")] = None
    computed: Annotated[dict[str, Any] | None, Field(label="source")] = None
    body: Annotated[str | None, Field(label="text", wire="document")] = None
    file_path: Annotated[str | None, Field(label="file")] = None
    created_at: int = 0
    updated_at: int = 0


PAGE_FIELDS = fields_of(Page)
"""All fields whose changes are visible to people, including position and text."""


_WORDS = re.compile(r"[^\w]+")
SLUG_MAX = 100


def slugify(title: str) -> str:
    """Return a URL path segment for a title, in lowercase and with words joined by hyphens. Letters of all scripts are
    kept.

    >>> slugify("Où est-ce? 22 Racing Series")
    'ou-est-ce-22-racing-series'
    """
    folded = unicodedata.normalize("NFKD", title)
    # Latin accents only: combining marks of other scripts are letters.
    folded = unicodedata.normalize("NFC", re.sub("[\u0300-\u036f]", "", folded))
    slug = _WORDS.sub("-", folded.lower().replace("_", "-")).strip("-")[:SLUG_MAX].rstrip("-")
    return slug or "page"


# Ranks are strings of these digits read as fractions in base 62; there is always room between two of them.
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def rank_between(low: str | None, high: str | None) -> str:
    """Return a rank that sorts (bytewise) after ``low`` and before ``high``; ``None`` represents the start
    or the end.

    Ranks never end in the lowest digit, so that a shorter rank can always be inserted before another.
    """
    low, high = low or "", high or ""
    if high and low >= high:
        raise ValueError(f"no rank between {low!r} and {high!r}")
    out: list[str] = []
    i = 0
    while True:
        a = _DIGITS.index(low[i]) if i < len(low) else 0
        b = _DIGITS.index(high[i]) if high and i < len(high) else len(_DIGITS)
        if a == b:
            out.append(_DIGITS[a])
        elif b - a > 1:
            # At the open end, step by one: lists mostly grow there, and short steps keep ranks short.
            out.append(_DIGITS[a + 1] if not high and i < len(low) else _DIGITS[(a + b) // 2])
            return "".join(out)
        else:
            out.append(_DIGITS[a])
            high = ""
        i += 1


def ranks_between(low: str | None, high: str | None, count: int) -> list[str]:
    """Return ``count`` ranks in order between two ranks. Their length grows with the logarithm of
    ``count``; repeated ``rank_between`` calls would result in longer ranks."""
    found = [""] * count
    runs = [(0, count, low, high)]
    while runs:
        start, end, above, below = runs.pop()
        if start < end:
            middle = (start + end) // 2
            found[middle] = rank = rank_between(above, below)
            runs += [(start, middle, above, rank), (middle + 1, end, rank, below)]
    return found


def ranks(count: int) -> list[str]:
    """Return ``count`` ranks in order, evenly spaced and of equal length."""
    width = 2
    while len(_DIGITS) ** width < count * 4:
        width += 1
    step = len(_DIGITS) ** width // (count + 1)
    found = []
    for n in range(1, count + 1):
        value, digits = n * step, []
        for _ in range(width):
            value, digit = divmod(value, len(_DIGITS))
            digits.append(_DIGITS[digit])
        rank = "".join(reversed(digits))
        found.append(rank[:-1] + "1" if rank.endswith("0") else rank)
    return found
