"""Search: an index that every revision of main keeps true, and what is asked of it."""

from . import tables as tables
from .querying import PageHit, Part, SectionHit, search_pages, suggest, with_snippets

__all__ = [
    "PageHit", "Part", "SectionHit", "search_pages", "suggest", "tables", "with_snippets",
]  # fmt: skip
