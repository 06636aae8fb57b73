"""The proof that somebody may take part in a discussion: of a space, or of one of its change requests."""

from __future__ import annotations

from msgspec import Struct

from octavo.content.changes.authorization import enter_change
from octavo.content.changes.store import ChangeRow
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor, Call, enters
from octavo.organization.access.authorization import SpaceAccess, enter_space, space_access
from octavo.organization.access.permitting import can_write
from octavo.organization.access.roles import SPACE, Can, at_least


class Discussion(Struct, frozen=True):
    """The caller at one of the two. ``change_id`` None: the space itself."""

    space: SpaceAccess
    change_id: str | None = None

    @property
    def id(self) -> str:
        return self.change_id or self.space.space_id

    @property
    def organization_id(self) -> str:
        return self.space.organization_id

    @property
    def space_id(self) -> str:
        return self.space.space_id

    @property
    def user_id(self) -> str:
        return self.space.user_id

    @property
    def agent(self) -> str | None:
        """The program by which the caller acts, where it is one."""
        return self.space.agent

    @property
    def path(self) -> str:
        """Of its comments in the API, below /v1."""
        change = f"/change-requests/{self.change_id}" if self.change_id else ""
        return f"/spaces/{self.space_id}{change}/comments"

    def may(self, ability: Can) -> bool:
        """Whether the role has the ability and the token may change comments."""
        return at_least(self.space.role, SPACE[ability]) and can_write(self.space.actor, "comments")

    def may_edit(self, author: str) -> bool:
        """Nobody else's words."""
        return author == self.user_id and self.may(Can.COMMENT)

    def may_delete(self, author: str) -> bool:
        """One's own, or anybody's for those who may edit the content."""
        return self.may_edit(author) or self.may(Can.EDIT)


@enters(Discussion, "spaceId")
def enter_space_discussion(call: Call, needs: Can, space_id: str) -> Discussion:
    return Discussion(enter_space(call, needs, space_id))


@enters(Discussion, "spaceId", "changeRequestId")
def enter_change_discussion(call: Call, needs: Can, space_id: str, change_request_id: str) -> Discussion:
    change = enter_change(call, needs, space_id, change_request_id)
    return Discussion(change.space, change.change_id)


def discussion_of(tx: Transaction, actor: Actor, change: ChangeRow) -> Discussion:
    """That of a change request. Raises NotFound for who does not see its space."""
    return Discussion(space_access(tx, actor, Can.VIEW, change.space_id), change.id)
