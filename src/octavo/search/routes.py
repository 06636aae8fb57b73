"""Search of one space, and of all spaces of an organization that the caller sees."""

from __future__ import annotations

from ..access import Can, OrgAccess, SpaceAccess
from ..kit.operation import Area, Call
from ..kit.pagination import Listing, present_slice, slice_rows
from ..spaces import list_visible_space_ids
from .presenting import page_of, present_page, search_spaces
from .querying import search_pages, with_snippets
from .wire import SearchPage, SearchQuery, SearchSpace

operation = Area("search").operation


@operation(
    "searchSpaceContent", "GET", "/spaces/{spaceId}/search", needs=Can.VIEW, returns=Listing[SearchPage]
)
def search_space(call: Call, space: SpaceAccess, query: SearchQuery) -> Listing[SearchPage]:
    """Pages of a space that match, best first, each with its best sections."""
    with call.db.read() as tx:
        hits = search_pages(tx, [space.space_id], query.query)
        rows, count = page_of(hits, query)
        quoted = with_snippets(tx, [hit for _, hit in rows])
        shown = [
            (n, page)
            for (n, _), hit in zip(rows, quoted, strict=True)
            if (page := present_page(call, tx, hit)) is not None
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
        return search_spaces(tx, call, list_visible_space_ids(tx, org), query)
