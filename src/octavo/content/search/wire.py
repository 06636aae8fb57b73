"""Wire types for search results."""

from __future__ import annotations

from typing import Annotated, Generic, Literal, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.core.tags import MAX_SLUG
from octavo.kit.db.pagination import Listing, PageQuery

from .querying import MAX_SEARCH

T = TypeVar("T")


class SearchQuery(PageQuery, kw_only=True):
    query: Annotated[str, Meta(max_length=MAX_SEARCH)]


class TaggedSearchQuery(SearchQuery, kw_only=True):
    """Query parameters for a search among pages. ``tag`` (an Octavo extension): the tag to filter by."""

    tag: Annotated[str, Meta(max_length=MAX_SLUG)] | None = None


class SearchUrls(Struct):
    app: str


class Ancestor(Struct):
    title: str


ResultType = Literal["page", "section"]


class SearchSection(Struct, rename="camel", kw_only=True):
    """Section in the search results. ``score``: the score, which is comparable within one response. ``resultType``: the
    type of match; `page` means that the query matched the title of the page."""

    id: str
    title: str
    path: str
    score: float
    result_type: ResultType
    body: str
    urls: SearchUrls


class SearchPage(Struct, rename="camel", kw_only=True):
    """Page in the search results. ``rank``: its position among all pages found, from 1. ``score`` and ``resultType``:
    the same as for its sections."""

    id: str
    title: str
    description: str
    path: str
    score: float
    rank: int
    result_type: ResultType
    urls: SearchUrls
    sections: list[SearchSection]
    ancestors: list[Ancestor]


class SearchSpace(Struct, tag_field="type", tag="space"):
    """Space in the search results. ``score``: the score of its best page."""

    id: str
    title: str
    score: float
    pages: list[SearchPage]


class SearchListing(Listing[T], Generic[T], rename="camel"):
    """Search results. ``count``: the exact total, or a lower bound if ``count_is_lower_bound`` is set."""

    count_is_lower_bound: bool | UnsetType = UNSET
