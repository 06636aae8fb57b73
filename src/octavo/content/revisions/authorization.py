"""Authorization to read a state of a space's content: main, a revision, or a change request."""

from __future__ import annotations

from octavo.errors import NotFound
from octavo.kit.clock import HOUR, now
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Call, Visitor, enters
from octavo.organization.access.authorization import (
    InSpace,
    VisitedSpace,
    enter_space,
    visit_space,
)
from octavo.organization.access.roles import Can

from .restrictions import published, seen_by, shown_state
from .states import State, main_state, revision_state

OLD_REVISIONS = HOUR
"""Time in milliseconds for which site visitors can still read a revision after a newer revision replaces it."""


class ReadState(InSpace, frozen=True):
    """State that the caller can read, and the caller's access to its space.

    ``view``: the path of the state in the app, relative to the space. ``label``: the name of the state, empty
    for main.
    """

    state: State
    view: str = ""
    label: str = ""


class WrittenState(ReadState, frozen=True):
    """State that includes all text typed so far, and the caller's access to its space."""


class VisitedState(VisitedSpace, frozen=True):
    """State that a site shows to a visitor, and that visitor."""

    state: State


@enters(ReadState, "spaceId")
@enters(WrittenState, "spaceId")
def enter_main(call: Call, needs: Can, space_id: str) -> WrittenState:
    space = enter_space(call, needs, space_id)
    with call.db.read() as tx:
        return WrittenState(space, seen_by(tx, space, main_state(tx, space_id)))


@enters(VisitedState, "spaceId", visitors=True)
def visit_main(call: Call, needs: Can, space_id: str) -> VisitedState:
    visitor = visit_space(call, needs, space_id).visitor
    with call.db.read() as tx:
        return VisitedState(visitor, space_id, shown_state(tx, visitor.drafted, space_id))


@enters(ReadState, "spaceId", "revisionId")
@enters(WrittenState, "spaceId", "revisionId")
def enter_revision(call: Call, needs: Can, space_id: str, revision_id: str) -> WrittenState:
    space = enter_space(call, needs, space_id)
    with call.db.read() as tx:
        return WrittenState(space, seen_by(tx, space, revision_state(tx, space_id, revision_id)))


@enters(VisitedState, "spaceId", "revisionId", visitors=True)
def visit_revision(call: Call, needs: Can, space_id: str, revision_id: str) -> VisitedState:
    visitor = visit_space(call, needs, space_id).visitor
    with call.db.read() as tx:
        state = published(tx, revision_state(tx, space_id, revision_id))
        _require_shown(tx, state, visitor)
        return VisitedState(visitor, space_id, state)


def _require_shown(tx: Transaction, state: State, visitor: Visitor) -> None:
    """Raise NotFound unless the state is visible to the visitor.

    Visitors can read the head of main, or of the change request in their preview. For a while, they can also read the
    previous head, so that a client can finish reading pages one by one.
    """
    branch, sequence = state.layers[0].branch_id, state.layers[0].sequence
    main = shown_state(tx, visitor.drafted, state.space_id).layers[0]
    if branch == main.branch_id and sequence == main.sequence:
        return
    replaced = tx.value(
        "SELECT created_at FROM revisions WHERE branch_id = :branch AND sequence > :this ORDER BY sequence LIMIT 1",
        branch=branch,
        this=sequence,
    )
    if branch != main.branch_id or replaced is None or replaced < now() - OLD_REVISIONS:
        raise NotFound(f"There is no revision with the ID {state.revision_id!r} in this space.")
