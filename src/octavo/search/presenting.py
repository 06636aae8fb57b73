"""What a search found, as it is answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from ..content import expand, find_page, list_ancestors, main_state
from ..kit.db import Transaction
from ..kit.operation import Call
from ..kit.pagination import Listing, PageQuery, decode_token, present_slice, slice_rows
from ..spaces import get_titles
from .querying import PageHit, search_pages, with_snippets
from .wire import Ancestor, SearchPage, SearchQuery, SearchSection, SearchSpace, SearchUrls

T = TypeVar("T")


def present_page(call: Call, tx: Transaction, hit: PageHit) -> SearchPage | None:
    state = main_state(tx, hit.space_id)
    page = find_page(tx, state, hit.page_id)
    if page is not None:
        ancestors = list_ancestors(tx, state, page)
    else:
        # A computed page is there for those who may see what it is made of.
        expansion = expand(tx, state, call.actor)
        page = expansion.find(hit.page_id)
        if page is None:
            return None
        ancestors = expansion.list_ancestors(tx, state, page)
    path = "/".join(p.slug for p in [*ancestors, page])
    url = f"{call.settings.url}/s/{hit.space_id}/{path}"
    return SearchPage(
        id=page.id,
        title=page.title,
        path=path,
        urls=SearchUrls(url),
        sections=[
            SearchSection(
                id=section.anchor or "",
                title=section.heading,
                path=f"{path}#{section.anchor}" if section.anchor else path,
                body="".join(part.text for part in section.snippet),
                urls=SearchUrls(f"{url}#{section.anchor}" if section.anchor else url),
            )
            for section in hit.sections
        ],
        ancestors=[Ancestor(p.title) for p in ancestors],
    )


def page_of(items: Sequence[T], query: PageQuery) -> tuple[Sequence[tuple[int, T]], int]:
    """Results are ranked anew for each call: their page token is how many were shown."""
    after = decode_token(query.page, int)
    start = after[0] if after and after[0] >= 0 else 0
    return list(enumerate(items, 1))[start : start + query.limit + 1], len(items)


def search_spaces(
    tx: Transaction, call: Call, space_ids: Sequence[str], query: SearchQuery
) -> Listing[SearchSpace]:
    """Those of these spaces that have pages that match, best first, each with its pages."""
    grouped: dict[str, list[PageHit]] = {}
    for hit in search_pages(tx, list(space_ids), query.query):
        grouped.setdefault(hit.space_id, []).append(hit)
    rows, count = page_of(list(grouped.items()), query)
    titles = get_titles(tx, [space_id for _, (space_id, _) in rows])
    shown = [
        (
            n,
            SearchSpace(
                id=space_id,
                title=titles[space_id].title,
                pages=[
                    page
                    for hit in with_snippets(tx, hits)
                    if (page := present_page(call, tx, hit)) is not None
                ],
            ),
        )
        for n, (space_id, hits) in rows
    ]
    found = slice_rows(shown, query.limit, count, lambda item: (item[0],))
    return present_slice(found, lambda item: item[1])
