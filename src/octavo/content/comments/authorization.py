"""Authorization to participate in the discussion of a space or of a change request."""

from __future__ import annotations

from octavo.content.changes.authorization import enter_change
from octavo.content.changes.store import ChangeRow, get_change
from octavo.content.revisions.restrictions import main_seen_by, seen_by
from octavo.content.revisions.states import ReaderLimits
from octavo.errors import Forbidden
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor, Call, enters
from octavo.organization.access.authorization import InSpace, enter_space, space_access
from octavo.organization.access.permitting import can_write
from octavo.organization.access.roles import SPACE, Can, at_least


class Discussion(InSpace, frozen=True):
    """Discussion and the caller who participates in it. ``change_id``: the ID of the change request; None for the
    discussion of the space itself. ``limits``: the caller's limits on restricted pages, if any."""

    change_id: str | None = None
    limits: ReaderLimits | None = None

    @property
    def hidden(self) -> frozenset[str]:
        """Return the pages that the caller can't see. Their comments are hidden, too."""
        return self.limits.hidden if self.limits is not None else frozenset()

    def require_may_comment(self, page_id: str | None) -> None:
        """Raise Forbidden if a restriction doesn't allow the caller to comment on a page."""
        if self.limits is not None and page_id in self.limits.silent:
            raise Forbidden(
                "You can't comment on this page. Ask a space administrator for permission to comment."
            )

    @property
    def id(self) -> str:
        return self.change_id or self.space.space_id

    @property
    def path(self) -> str:
        """Return the API path of the discussion's comments, relative to ``/v1``."""
        change = f"/change-requests/{self.change_id}" if self.change_id else ""
        return f"/spaces/{self.space_id}{change}/comments"

    def allows(self, ability: Can) -> bool:
        """Return whether the caller's role includes the ability and the caller's token can write comments."""
        return at_least(self.space.role, SPACE[ability]) and can_write(self.space.actor, "comments")

    def may_edit(self, author: str) -> bool:
        """Return whether the caller can edit a comment. Only its author can edit it."""
        return author == self.user_id and self.allows(Can.COMMENT)

    def may_delete(self, author: str) -> bool:
        """Return whether the caller can delete a comment. Its author and everyone who can edit the content
        can delete it."""
        return self.may_edit(author) or self.allows(Can.EDIT)


@enters(Discussion, "spaceId")
def enter_space_discussion(call: Call, needs: Can, space_id: str) -> Discussion:
    space = enter_space(call, needs, space_id)
    with call.db.read() as tx:
        return Discussion(space, None, main_seen_by(tx, space).limits)


@enters(Discussion, "spaceId", "changeRequestId")
def enter_change_discussion(call: Call, needs: Can, space_id: str, change_request_id: str) -> Discussion:
    change = enter_change(call, needs, space_id, change_request_id)
    with call.db.read() as tx:
        state = seen_by(tx, change.space, get_change(tx, change.change_id).state)
    return Discussion(change.space, change.change_id, state.limits)


def discussion_of(tx: Transaction, actor: Actor, change: ChangeRow) -> Discussion:
    """Return the discussion of a change request. Raises NotFound if the actor can't see its space."""
    space = space_access(tx, actor, Can.VIEW, change.space_id)
    return Discussion(space, change.id, seen_by(tx, space, change.state).limits)
