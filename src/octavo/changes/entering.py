"""The proof that somebody stands before a change request of a space they may enter."""

from __future__ import annotations

from msgspec import Struct

from ..access import Actor, Can, SpaceAccess, enter_space
from ..errors import NotFound
from ..kit.db import Transaction
from ..kit.operation import Call, enters
from .store import find_change


class ChangeAccess(Struct, frozen=True):
    """The caller at a change request. What they may do is what they may do in its space."""

    space: SpaceAccess
    change_id: str

    @property
    def organization_id(self) -> str:
        return self.space.organization_id

    @property
    def space_id(self) -> str:
        return self.space.space_id

    @property
    def actor(self) -> Actor:
        return self.space.actor

    @property
    def user_id(self) -> str:
        return self.space.user_id

    @property
    def role(self) -> str:
        return self.space.role


@enters(ChangeAccess, "spaceId", "changeRequestId")
def enter_change(call: Call, needs: Can, space_id: str, change_request_id: str) -> ChangeAccess:
    """By the id of the change request or by its number in the space."""
    space = enter_space(call, needs, space_id)
    with call.db.read() as tx:
        return change_access(tx, space, change_request_id)


def change_access(tx: Transaction, space: SpaceAccess, change_request_id: str) -> ChangeAccess:
    change = find_change(tx, space.space_id, change_request_id)
    if change is None:
        raise NotFound(f"There is no change request {change_request_id!r} in this space.")
    return ChangeAccess(space, change.id)
