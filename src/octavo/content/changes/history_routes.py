"""History of main: list revisions and their changes, revert a revision, and roll main back."""

from __future__ import annotations

from msgspec import UNSET

from octavo.content.revisions.history import (
    RevisionRow,
    get_revision,
    list_beginnings,
    list_revised_pages,
    list_revisions,
    list_revisions_of_page,
)
from octavo.content.revisions.restrictions import hidden_from, main_seen_by, seen_by
from octavo.content.revisions.states import revision_state
from octavo.errors import NotFound
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Listing, PageQuery, Slice, present_slice
from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import SpaceAccess
from octavo.organization.access.roles import Can

from . import reverting, store
from .differences import states_of_revision
from .differences_presenting import present_differences, present_page_changes
from .differences_wire import PageChangesQuery, SemanticChanges, TextChanges
from .history_wire import RevertQuery, RevisionChangesQuery, RevisionItem, RollbackAnswer, present_revisions
from .wire import ChangeRequest, present_change

operation = Area("changes").operation

_REVISION = "/spaces/{spaceId}/revisions/{revisionId}"


@operation("listRevisionsOfSpace", "GET", "/spaces/{spaceId}/revisions", needs=Can.VIEW)
def list_main_revisions(call: Call, space: SpaceAccess, query: PageQuery) -> Listing[RevisionItem]:
    """List the revisions of main, newest first. Consecutive saves by one person are combined into a single revision,
    with the number of saves in `saves`. Each save must be based on the previous save through `baseRevision`, and must
    follow it within five minutes."""
    with call.db.read() as tx:
        return _present(call, tx, space, list_revisions(tx, space.space_id, query.limit, query.page))


@operation(
    "listRevisionsOfPage",
    "GET",
    "/spaces/{spaceId}/content/page/{pageId}/revisions",
    needs=Can.VIEW,
    errors=(404,),
    agents="docs:read",
)
def list_page_revisions(
    call: Call, space: SpaceAccess, page_id: str, query: PageQuery
) -> Listing[RevisionItem]:
    """List the revisions of main that changed a page's text, fields, or position. This also works for deleted pages."""
    with call.db.read() as tx:
        if page_id in main_seen_by(tx, space).hidden:
            raise NotFound(f"There has never been a page with the ID {page_id!r} in this space.")
        found = list_revisions_of_page(tx, space.space_id, page_id, query.limit, query.page)
        if not found.count:
            raise NotFound(f"There has never been a page with the ID {page_id!r} in this space.")
        return _present(call, tx, space, found)


def _present(
    call: Call, tx: Transaction, space: SpaceAccess, found: Slice[RevisionRow]
) -> Listing[RevisionItem]:
    merged = {row.merged_from: store.get_change(tx, row.merged_from) for row in found.rows if row.merged_from}
    begun = list_beginnings(tx, found.rows)
    hidden = main_seen_by(tx, space).hidden
    if space.space_id in hidden_from(tx, space.organization).spaces:
        states = (revision_state(tx, space.space_id, row.id) for row in found.rows)
        hidden = hidden.union(*(seen_by(tx, space, state).hidden for state in states))
    revised = list_revised_pages(tx, found.rows, hidden)
    shown = present_revisions(call, tx, space.space_id, found.rows, merged, begun, revised)
    return present_slice(Slice(shown, found.count, found.next_token), lambda revision: revision)


@operation("getRevisionSemanticChanges", "GET", f"{_REVISION}/changes", needs=Can.VIEW)
def get_revision_changes(
    call: Call, space: SpaceAccess, revision_id: str, query: RevisionChangesQuery
) -> SemanticChanges:
    """Get the changes in a revision compared with the previous revision, or with the earlier revision
    `since`."""
    with call.db.read() as tx:
        states = states_of_revision(tx, space, revision_id, query.since)
        merged_from = get_revision(tx, revision_id).merged_from
        merged = present_change(call, tx, store.get_change(tx, merged_from)) if merged_from else UNSET
        return present_differences(call, tx, states, query.limit, query.page, query.only, merged)


@operation(
    "getPageChangesInRevision", "GET", f"{_REVISION}/changes/page/{{pageId}}", needs=Can.VIEW, errors=(404,)
)
def get_revision_page_changes(
    call: Call, space: SpaceAccess, revision_id: str, page_id: str, query: PageChangesQuery
) -> TextChanges:
    """Get the blocks of a page that a revision changed, with word-level differences. With
    `format=document`, the blocks are also returned as nodes with keys. Use `since` to compare with an
    earlier revision."""
    with call.db.read() as tx:
        states = states_of_revision(tx, space, revision_id, query.since)
        return present_page_changes(call, tx, states, page_id, query)


@operation(
    "revertRevision", "POST", f"{_REVISION}/revert", needs=Can.EDIT, status=201, errors=(400, 404, 409)
)
def revert_revision(call: Call, space: SpaceAccess, revision_id: str, query: RevertQuery) -> ChangeRequest:
    """Create a change request that reverts a revision of main, such as a merge. Content that was edited after that
    revision becomes a conflict in the change request. With `undo=later`, the change request reverts all changes after
    the revision, which restores the content that main had at that revision."""
    if query.undo == "later":
        change = reverting.restore(call.context, space, revision_id)
    else:
        change = reverting.revert(call.context, space, revision_id)
    with call.db.read() as tx:
        return present_change(call, tx, store.get_change(tx, change.id))


@operation("rollBackRevision", "POST", f"{_REVISION}/rollback", needs=Can.MERGE, errors=(400, 403, 404, 409))
def roll_back_revision(call: Call, space: SpaceAccess, revision_id: str) -> RollbackAnswer:
    """Roll back main to an earlier revision. This request creates a new revision with the content of the earlier
    revision, which undoes all later changes. This isn't possible in locked spaces. Returns 409 if main already has that
    content. To undo a single revision and keep later revisions, use `revertRevision`."""
    return RollbackAnswer(reverting.roll_back(call.context, space, revision_id))
