"""Search: an index that every revision of main keeps up to date, and queries on it."""

from . import tables as tables
from .drafts import SearchedDraft, draft_of
from .presenting import search_spaces, visible_spaces
from .querying import MAX_SEARCH, PageHit, search_pages, suggest, with_snippets
from .store import FoundSection, OrganizationScope
from .wire import SearchListing, SearchQuery, SearchSpace

__all__ = [
    "FoundSection", "MAX_SEARCH", "OrganizationScope", "PageHit", "SearchListing", "SearchQuery", "SearchSpace",
    "SearchedDraft", "draft_of", "search_pages", "search_spaces", "suggest", "visible_spaces", "with_snippets",
]  # fmt: skip
