"""Search: an index that every revision of main keeps true, and what is asked of it."""

from ..content import follow_main
from ..spaces import follow_copies
from .indexing import apply, prepare
from .querying import PageHit, Part, SectionHit, search_pages, suggest, with_snippets
from .store import Found, copy_space

follow_main(prepare, apply)
follow_copies(copy_space)

__all__ = [
    "Found", "PageHit", "Part", "SectionHit", "apply", "copy_space", "prepare", "search_pages", "suggest",
    "with_snippets",
]  # fmt: skip
