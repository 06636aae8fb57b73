"""Search of one space, and of all spaces of an organization that the caller sees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from msgspec import UNSET

from ..access import Can, OrgAccess, SpaceAccess
from ..content import main_state, trace_pages
from ..core.pages import Page
from ..kit.db import Transaction
from ..kit.operation import Area, Call
from ..kit.pagination import decode_token, present_slice, slice_rows
from ..spaces import get_space, list_visible_space_ids
from .querying import PageHit, Results, search_pages, with_snippets
from .wire import Ancestor, AppUrls, SearchListing, SearchPage, SearchQuery, SearchSection, SearchSpace

operation = Area("search").operation

T = TypeVar("T")


_PAGES_OF_SPACE = 10
"""Pages shown of each space that an organization's search finds."""


def _present_pages(call: Call, tx: Transaction, hits: Sequence[PageHit]) -> dict[PageHit, SearchPage]:
    """The hits that are to be shown, with their snippets; their pages are read at once."""
    by_space: dict[str, list[str]] = {}
    for hit in hits:
        by_space.setdefault(hit.space_id, []).append(hit.page_id)
    traced = {
        (space_id, page_id): chain
        for space_id, page_ids in by_space.items()
        for page_id, chain in trace_pages(tx, main_state(tx, space_id), page_ids).items()
    }
    return {
        hit: _present_page(call, quoted, traced[hit.space_id, hit.page_id])
        for hit, quoted in zip(hits, with_snippets(tx, hits), strict=True)
        if (hit.space_id, hit.page_id) in traced
    }


def _present_page(call: Call, hit: PageHit, chain: Sequence[Page]) -> SearchPage:
    *ancestors, page = chain
    path = "/".join(p.slug for p in chain)
    url = f"{call.settings.url}/s/{hit.space_id}/{path}"
    return SearchPage(
        id=page.id,
        title=page.title,
        path=path,
        urls=AppUrls(url),
        sections=[
            SearchSection(
                id=section.anchor or "",
                title=section.heading,
                path=f"{path}#{section.anchor}" if section.anchor else path,
                body="".join(part.text for part in section.snippet),
                urls=AppUrls(f"{url}#{section.anchor}" if section.anchor else url),
            )
            for section in hit.sections
        ],
        ancestors=[Ancestor(p.title) for p in ancestors],
    )


def _start(query: SearchQuery) -> int:
    """Results are ranked anew for each call: their page token is how many were shown."""
    after = decode_token(query.page, int)
    return after[0] if after and after[0] >= 0 else 0


def _present_slice(items: Sequence[T], start: int, query: SearchQuery, found: Results) -> SearchListing[T]:
    """``items``: those behind ``start``, one more than asked for where there are more."""
    rows = slice_rows(list(enumerate(items, start + 1)), query.limit, found.count, lambda row: (row[0],))
    listing = present_slice(rows, lambda row: row[1])
    return SearchListing(
        items=listing.items,
        count=listing.count,
        next=listing.next,
        count_is_lower_bound=UNSET if found.is_exact else True,
    )


@operation(
    "searchSpaceContent", "GET", "/spaces/{spaceId}/search", needs=Can.VIEW, returns=SearchListing[SearchPage]
)
def search_space(call: Call, space: SpaceAccess, query: SearchQuery) -> SearchListing[SearchPage]:
    """All pages of a space that match, best first, one entry a page, each with its best sections.

    Up to 1,000 pages are counted exactly; of more, `count` is at least that, and `countIsLowerBound` says so."""
    start = _start(query)
    end = start + query.limit + 1
    with call.db.read() as tx:
        found = search_pages(tx, [space.space_id], query.query, end)
        items = list(_present_pages(call, tx, found.hits[start:end]).values())
    return _present_slice(items, start, query, found)


@operation(
    "searchOrganizationContent",
    "GET",
    "/orgs/{organizationId}/search",
    needs=Can.VIEW,
    returns=SearchListing[SearchSpace],
)
def search_organization(call: Call, org: OrgAccess, query: SearchQuery) -> SearchListing[SearchSpace]:
    """All spaces with pages that match, best first, of those the caller can see, each with its ten best pages: a
    search of the space has all of them.

    Up to 1,000 spaces are counted exactly; of more, `count` is at least that, and `countIsLowerBound` says so."""
    start = _start(query)
    end = start + query.limit + 1
    with call.db.read() as tx:
        found = search_pages(tx, list_visible_space_ids(tx, org), query.query, end, by_space=True)
        grouped: dict[str, list[PageHit]] = {}
        for hit in found.hits:
            grouped.setdefault(hit.space_id, []).append(hit)
        spaces = list(grouped.items())[start:end]
        pages = _present_pages(call, tx, [hit for _, hits in spaces for hit in hits[:_PAGES_OF_SPACE]])
        items = [
            SearchSpace(
                id=space_id,
                title=get_space(tx, space_id).title,
                pages=[pages[hit] for hit in hits if hit in pages],
            )
            for space_id, hits in spaces
        ]
    return _present_slice(items, start, query, found)
