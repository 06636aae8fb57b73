"""Search: an index that every revision of main keeps true, and what is asked of it."""

from . import tables as tables
from .drafts import Draft, draft_of
from .presenting import search_spaces, visible_spaces
from .querying import MAX_SEARCH, PageHit, search_pages, suggest, with_snippets
from .store import Found, Organization
from .wire import SearchListing, SearchQuery, SearchSpace

__all__ = [
    "Draft", "Found", "MAX_SEARCH", "Organization", "PageHit", "SearchListing", "SearchQuery", "SearchSpace",
    "draft_of", "search_pages", "search_spaces", "suggest", "visible_spaces", "with_snippets",
]  # fmt: skip
