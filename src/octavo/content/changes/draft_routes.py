"""Find change requests to continue, suggest reviewers, and discard empty drafts."""

from __future__ import annotations

from octavo.content.revisions.page_versions import find_page
from octavo.content.revisions.restrictions import main_seen_by, seen_by
from octavo.errors import NotFound
from octavo.kit.db.pagination import Listing, PageQuery, Slice, present_slice
from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import SpaceAccess
from octavo.organization.access.roles import Can

from . import discarding, store, suggesting_reviewers
from .authorization import ChangeAccess, WrittenChange
from .review_wire import SuggestedReviewer, present_suggestions
from .wire import PageChangeRequest, present_page_changes

operation = Area("changes").operation

_CHANGE = "/spaces/{spaceId}/change-requests/{changeRequestId}"


@operation(
    "listChangeRequestsOfPage",
    "GET",
    "/spaces/{spaceId}/content/page/{pageId}/change-requests",
    needs=Can.VIEW,
    errors=(404,),
    agents="docs:read",
)
def list_changes_of_page(
    call: Call, space: SpaceAccess, page_id: str, query: PageQuery
) -> Listing[PageChangeRequest]:
    """List the drafts and open change requests that edit a page of main, newest first."""
    with call.db.read() as tx:
        if find_page(tx, main_seen_by(tx, space), page_id) is None:
            raise NotFound(f"There is no page with the ID {page_id!r} in this space.")
        found = store.list_changes_of_page(tx, space.space_id, page_id, query.limit, query.page)
        pages = store.count_pages(
            tx, {change.branch_id: seen_by(tx, space, change.state).hidden for change in found.rows}
        )
        shown = present_page_changes(call, tx, list(found.rows), pages)
    return present_slice(Slice(shown, found.count, found.next_token), lambda change: change)


@operation(
    "discardChangeRequest", "POST", f"{_CHANGE}/discard", needs=Can.EDIT, status=204, errors=(404, 409)
)
def discard_change(call: Call, change: ChangeAccess) -> None:
    """Delete a draft that no one has edited, commented on, or described. Returns 409 for any other change request."""
    discarding.discard(call.context, change.change_id)


@operation(
    "suggestReviewersForChangeRequest",
    "GET",
    f"{_CHANGE}/suggested-reviewers",
    needs=Can.EDIT,
    errors=(404,),
)
def suggest_reviewers(call: Call, change: WrittenChange) -> Listing[SuggestedReviewer]:
    """List people who can review a change request, best suggestion first: required reviewers, authors of the edited
    pages, and reviewers of recent changes to the space. Returns at most 8 people."""
    with call.db.read() as tx:
        row = store.get_change(tx, change.change_id)
        shown = present_suggestions(call, tx, suggesting_reviewers.suggest(tx, change, row))
    return Listing(shown, len(shown))
