"""Wire types of search results."""

from __future__ import annotations

from typing import Annotated, Generic, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.kit.db.pagination import Listing, PageQuery

from .querying import MAX_SEARCH

T = TypeVar("T")


class SearchQuery(PageQuery, kw_only=True):
    query: Annotated[str, Meta(max_length=MAX_SEARCH)]


class SearchUrls(Struct):
    app: str


class Ancestor(Struct):
    title: str


class SearchSection(Struct):
    id: str
    title: str
    path: str
    body: str
    urls: SearchUrls


class SearchPage(Struct, kw_only=True):
    id: str
    title: str
    path: str
    urls: SearchUrls
    sections: list[SearchSection]
    ancestors: list[Ancestor]


class SearchSpace(Struct):
    id: str
    title: str
    pages: list[SearchPage]


class SearchListing(Listing[T], Generic[T], rename="camel"):
    """Search results. ``count``: exact total, or a lower bound if ``count_is_lower_bound`` is set."""

    count_is_lower_bound: bool | UnsetType = UNSET
