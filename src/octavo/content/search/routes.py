"""Search of one space, and of all spaces of an organization that the caller sees."""

from __future__ import annotations

from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import OrgAccess, SpaceAccess
from octavo.organization.access.roles import Can

from . import presenting
from .wire import SearchListing, SearchPage, SearchQuery, SearchSpace

operation = Area("search").operation


@operation(
    "searchSpaceContent",
    "GET",
    "/spaces/{spaceId}/search",
    needs=Can.VIEW,
    returns=SearchListing[SearchPage],
    agents="docs:read",
    yields=("content:read",),
)
def search_space(call: Call, space: SpaceAccess, query: SearchQuery) -> SearchListing[SearchPage]:
    """All pages of a space that match, best first, one entry a page, each with its best sections.

    Up to 1,000 pages are counted exactly. Of more, of words that each are on more than 1,000 pages, and of pages that
    have only some of the words, `count` is a smaller number, and `countIsLowerBound` says so."""
    with call.db.read() as tx:
        return presenting.search_space(tx, call, space.space_id, query)


@operation(
    "searchOrganizationContent",
    "GET",
    "/orgs/{organizationId}/search",
    needs=Can.VIEW,
    returns=SearchListing[SearchSpace],
    agents="docs:read",
    yields=("content:read",),
)
def search_organization(call: Call, org: OrgAccess, query: SearchQuery) -> SearchListing[SearchSpace]:
    """All spaces with pages that match, best first, of those the caller can see, each with its ten best pages: a
    search of the space has all of them.

    Up to 1,000 spaces are counted exactly. Of more, of words that each are on more than 1,000 pages, and of pages that
    have only some of the words, `count` is a smaller number, and `countIsLowerBound` says so."""
    with call.db.read() as tx:
        return presenting.search_spaces(tx, call, presenting.visible_spaces(tx, org), query)
