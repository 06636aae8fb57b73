"""Search: an index that every revision of main keeps true, and what is asked of it."""

from ..content import follow_main
from .indexing import apply, prepare
from .querying import PageHit, Part, SectionHit, search_pages, suggest

follow_main(prepare, apply)

__all__ = ["PageHit", "Part", "SectionHit", "search_pages", "suggest"]
