"""The proof that somebody may read a state of a space's content: main, a revision, or a change request."""

from __future__ import annotations

from msgspec import Struct

from ..access import Can, SpaceAccess, enter_space
from ..kit.operation import Call, enters
from .store import State, main_state, revision_state


class ReadState(Struct, frozen=True):
    """The caller before a state that they may read.

    ``view``: where the application shows it, below the space. ``label``: what it is called, "" for main.
    """

    space: SpaceAccess
    state: State
    view: str = ""
    label: str = ""

    @property
    def organization_id(self) -> str:
        return self.space.organization_id


@enters(ReadState, "spaceId")
def enter_main(call: Call, needs: Can, space_id: str) -> ReadState:
    space = enter_space(call, needs, space_id)
    with call.db.read() as tx:
        return ReadState(space, main_state(tx, space_id))


@enters(ReadState, "spaceId", "revisionId")
def enter_revision(call: Call, needs: Can, space_id: str, revision_id: str) -> ReadState:
    space = enter_space(call, needs, space_id)
    with call.db.read() as tx:
        return ReadState(space, revision_state(tx, space_id, revision_id))
