"""Search: an index that every revision of main keeps true, and what is asked of it."""

from . import tables as tables
from .querying import MAX_SEARCH, PageHit, Part, Results, SectionHit, search_pages, suggest, with_snippets
from .store import Found

__all__ = [
    "MAX_SEARCH", "Found", "PageHit", "Part", "Results", "SectionHit", "search_pages", "suggest", "tables",
    "with_snippets",
]  # fmt: skip
