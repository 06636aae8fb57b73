"""Authorization to edit pages live and receive their changes."""

from __future__ import annotations

from octavo.content.changes.authorization import enter_change
from octavo.content.changes.store import Author, get_change
from octavo.content.revisions.page_versions import get_page
from octavo.content.revisions.restrictions import main_seen_by, require_editable_page, seen_by
from octavo.content.revisions.states import State
from octavo.errors import NotFound
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor, Call, enters
from octavo.organization.access.authorization import InSpace, enter_space, space_access
from octavo.organization.access.roles import Can

from .store import PageKey, find_live


class LiveAccess(InSpace, frozen=True):
    """Caller who edits pages in a change request or in main. ``change_id``: the ID of the change request;
    None for main."""

    change_id: str | None = None

    @property
    def author(self) -> Author:
        return Author(self.space.user_id, self.space.agent)


@enters(LiveAccess, "spaceId")
def enter_live_main(call: Call, needs: Can, space_id: str) -> LiveAccess:
    return LiveAccess(enter_space(call, needs, space_id))


@enters(LiveAccess, "spaceId", "changeRequestId")
def enter_live_change(call: Call, needs: Can, space_id: str, change_request_id: str) -> LiveAccess:
    change = enter_change(call, needs, space_id, change_request_id)
    return LiveAccess(change.space, change.change_id)


def followed_page(tx: Transaction, actor: Actor, name: str) -> PageKey:
    """Return the key of the page with the name ``{changeRequestId}/{pageId}``, or ``{spaceId}/{pageId}`` for a page in
    main. Raises NotFound or Forbidden if the actor can't edit the page."""
    id, _, page_id = name.partition("/")
    try:
        change = get_change(tx, id)
    except NotFound:
        state = main_seen_by(tx, space_access(tx, actor, Can.EDIT, id))
    else:
        state = seen_by(tx, space_access(tx, actor, Can.EDIT, change.space_id), change.state)
    require_live_page(tx, state, page_id)
    require_editable_page(state, page_id, None)
    return PageKey(state.layers[0].branch_id, page_id)


def require_live_page(tx: Transaction, state: State, page_id: str) -> None:
    """Raise NotFound unless the reader of a state can see this page in the state, or the page was deleted after it was
    edited live there."""
    key = PageKey(state.layers[0].branch_id, page_id)
    if page_id in state.hidden or find_live(tx, key) is None:
        get_page(tx, state, page_id)
