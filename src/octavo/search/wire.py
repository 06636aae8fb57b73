"""Search results on the wire."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from ..kit.pagination import PageQuery
from .querying import MAX_SEARCH


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


class SearchPage(Struct):
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
