"""Authorization to receive the events of a space or of one of its change requests."""

from __future__ import annotations

from octavo.content.changes.authorization import enter_change
from octavo.content.changes.store import get_change
from octavo.content.revisions.restrictions import main_seen_by, seen_by
from octavo.content.revisions.states import State
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Call, enters
from octavo.organization.access.authorization import InSpace, enter_space
from octavo.organization.access.roles import Can


class FollowedPlace(InSpace, frozen=True):
    """Space or change request, and the caller who receives its events. ``change_id``: the ID of the change request;
    None for the space itself."""

    change_id: str | None = None

    def state(self, tx: Transaction) -> State:
        """Return the content state that the space or change request shows."""
        if self.change_id is None:
            return main_seen_by(tx, self.space)
        return seen_by(tx, self.space, get_change(tx, self.change_id).state)


@enters(FollowedPlace, "spaceId")
def enter_followed_space(call: Call, needs: Can, space_id: str) -> FollowedPlace:
    return FollowedPlace(enter_space(call, needs, space_id))


@enters(FollowedPlace, "spaceId", "changeRequestId")
def enter_followed_change(call: Call, needs: Can, space_id: str, change_request_id: str) -> FollowedPlace:
    change = enter_change(call, needs, space_id, change_request_id)
    return FollowedPlace(change.space, change.change_id)
