"""Search of one space, and of all spaces of an organization that the caller sees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from ..access import Can, OrgAccess, SpaceAccess
from ..content import expand, find_page, list_ancestors, main_state
from ..kit.db import Transaction
from ..kit.operation import Area, Call
from ..kit.pagination import Listing, decode_token, present_slice, slice_rows
from ..spaces import get_space, list_visible_space_ids
from .querying import PageHit, search_pages, with_snippets
from .wire import Ancestor, SearchPage, SearchQuery, SearchSection, SearchSpace, SearchUrls

operation = Area("search").operation

T = TypeVar("T")


def _present_page(call: Call, tx: Transaction, hit: PageHit) -> SearchPage | None:
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


def _page_of(items: Sequence[T], query: SearchQuery) -> tuple[Sequence[tuple[int, T]], int]:
    """Results are ranked anew for each call: their page token is how many were shown."""
    after = decode_token(query.page, int)
    start = after[0] if after and after[0] >= 0 else 0
    return list(enumerate(items, 1))[start : start + query.limit + 1], len(items)


@operation(
    "searchSpaceContent", "GET", "/spaces/{spaceId}/search", needs=Can.VIEW, returns=Listing[SearchPage]
)
def search_space(call: Call, space: SpaceAccess, query: SearchQuery) -> Listing[SearchPage]:
    """Pages of a space that match, best first, each with its best sections."""
    with call.db.read() as tx:
        hits = search_pages(tx, [space.space_id], query.query)
        rows, count = _page_of(hits, query)
        quoted = with_snippets(tx, [hit for _, hit in rows])
        shown = [
            (n, page)
            for (n, _), hit in zip(rows, quoted, strict=True)
            if (page := _present_page(call, tx, hit)) is not None
        ]
    found = slice_rows(shown, query.limit, count, lambda item: (item[0],))
    return present_slice(found, lambda item: item[1])


@operation(
    "searchOrganizationContent",
    "GET",
    "/orgs/{organizationId}/search",
    needs=Can.VIEW,
    returns=Listing[SearchSpace],
)
def search_organization(call: Call, org: OrgAccess, query: SearchQuery) -> Listing[SearchSpace]:
    """Spaces with pages that match, best first, of those the caller can see."""
    with call.db.read() as tx:
        grouped: dict[str, list[PageHit]] = {}
        for hit in search_pages(tx, list_visible_space_ids(tx, org), query.query):
            grouped.setdefault(hit.space_id, []).append(hit)
        rows, count = _page_of(list(grouped.items()), query)
        shown = [
            (
                n,
                SearchSpace(
                    id=space_id,
                    title=get_space(tx, space_id).title,
                    pages=[
                        page
                        for hit in with_snippets(tx, hits)
                        if (page := _present_page(call, tx, hit)) is not None
                    ],
                ),
            )
            for n, (space_id, hits) in rows
        ]
    found = slice_rows(shown, query.limit, count, lambda item: (item[0],))
    return present_slice(found, lambda item: item[1])
