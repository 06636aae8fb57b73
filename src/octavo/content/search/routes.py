"""Search in one space, or in all spaces of an organization that the caller can see."""

from __future__ import annotations

import msgspec

from octavo.content.revisions.authorization import WrittenState
from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import OrgAccess, SpaceAccess, other_space_access
from octavo.organization.access.roles import Can

from . import presenting
from .wire import SearchListing, SearchPage, SearchQuery, SearchSpace, TaggedSearchQuery

operation = Area("search").operation


@operation(
    "searchSpaceContent",
    "GET",
    "/spaces/{spaceId}/search",
    needs=Can.VIEW,
    agents="docs:read",
    yields=("content:read",),
)
def search_space(call: Call, space: SpaceAccess, query: TaggedSearchQuery) -> SearchListing[SearchPage]:
    """Search the pages of a space. Returns one entry per page, best matches first, each with its best
    sections.

    Up to 1,000 pages are counted exactly. `count` is a lower bound, and `countIsLowerBound` is set, if there are more,
    if every word occurs on more than 1,000 pages, or if the pages contain only some of the words.
    """

    def search() -> SearchListing[SearchPage]:
        with call.db.read() as tx:
            return presenting.search_space(tx, call, space, query, query.tag)

    found: SearchListing[SearchPage] = call.context.answers.get(_key(call, space.space_id, query), search)
    return found


@operation(
    "searchSpaceAsUser",
    "GET",
    "/spaces/{spaceId}/permissions/users/{userId}/search",
    needs=Can.ADMIN,
    errors=(404,),
    yields=("content:read",),
)
def search_as_user(
    call: Call, space: SpaceAccess, user_id: str, query: SearchQuery
) -> SearchListing[SearchPage]:
    """Search the pages of a space that another person can see. The results and the count are the same as for that
    person."""
    with call.db.read() as tx:
        return presenting.search_space(tx, call, other_space_access(tx, space, user_id), query)


@operation(
    "searchOrganizationContent",
    "GET",
    "/orgs/{organizationId}/search",
    needs=Can.VIEW,
    agents="docs:read",
    yields=("content:read",),
)
def search_organization(call: Call, org: OrgAccess, query: TaggedSearchQuery) -> SearchListing[SearchSpace]:
    """Search the spaces of an organization that the caller can see. Returns spaces with matching pages, best first,
    each with its ten best pages; search a space to get all of its pages.

    Up to 1,000 spaces are counted exactly. `count` is a lower bound, and `countIsLowerBound` is set, if there are more,
    if every word occurs on more than 1,000 pages, or if the pages contain only some of the words.
    """

    def search() -> SearchListing[SearchSpace]:
        with call.db.read() as tx:
            spaces = presenting.visible_spaces(tx, org)
            sees = presenting.sees_as(tx, org, query.tag)
            return presenting.search_spaces(tx, call, spaces, query, sees)

    found: SearchListing[SearchSpace] = call.context.answers.get(
        _key(call, org.organization_id, query), search
    )
    return found


@operation(
    "searchChangeRequestContent",
    "GET",
    "/spaces/{spaceId}/change-requests/{changeRequestId}/search",
    needs=Can.VIEW,
    errors=(404,),
    agents="docs:read",
    yields=("content:read",),
)
def search_change(call: Call, draft: WrittenState, query: SearchQuery) -> SearchListing[SearchPage]:
    """Search the pages that a change request edits, with the text that they have in the change request.
    Returns one entry per page, best matches first, each with its best sections."""
    with call.db.read() as tx:
        return presenting.search_draft(tx, call, draft.state, query)


def _key(call: Call, place: str, query: TaggedSearchQuery) -> tuple[object, ...]:
    """Return a key for all inputs that search results depend on, except for the state of the database."""
    return call.operation.id, place, call.actor, *msgspec.structs.astuple(query)
