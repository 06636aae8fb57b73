"""Branches whose pages are edited live: the branches of change requests, and main in spaces with live editing."""

from __future__ import annotations

from msgspec import Struct

from octavo.content.changes.saving import require_editable, require_live
from octavo.content.changes.store import ChangeRow, get_change, lock_change
from octavo.content.revisions import states
from octavo.content.revisions.restrictions import require_editable_page, seen_by
from octavo.content.revisions.states import State, main_state
from octavo.errors import NotFound
from octavo.kit.db.database import Transaction
from octavo.organization.access.authorization import space_access
from octavo.organization.access.roles import Can

from .authorization import LiveAccess


class LiveBranch(Struct, frozen=True):
    """Branch with its current state. ``change``: its change request; None for main."""

    state: State
    change: ChangeRow | None = None

    @property
    def id(self) -> str:
        return self.state.layers[0].branch_id

    @property
    def space_id(self) -> str:
        return self.state.space_id

    @property
    def revision(self) -> str:
        return self.state.revision_id

    @property
    def is_closed(self) -> bool:
        """Return whether the branch belongs to a change request that is merged or archived."""
        return self.change is not None and self.change.status in ("merged", "archived")


def _of_change(change: ChangeRow) -> LiveBranch:
    return LiveBranch(change.state, change)


def find_branch(tx: Transaction, space_id: str, change_id: str | None) -> LiveBranch:
    """Return the branch of a change request, or main. Raises NotFound if it doesn't exist."""
    if change_id is None:
        return LiveBranch(main_state(tx, space_id))
    return _of_change(get_change(tx, change_id))


def lock_branch(tx: Transaction, space_id: str, change_id: str | None) -> LiveBranch:
    """Lock the branch of a change request, or main, until the transaction ends, and return it. Raises
    NotFound if it doesn't exist."""
    if change_id is None:
        states.lock_branch(tx, main_state(tx, space_id).layers[0].branch_id)
        return LiveBranch(main_state(tx, space_id))
    return _of_change(lock_change(tx, change_id))


def get_branch(tx: Transaction, branch_id: str) -> LiveBranch:
    """Return a branch by ID. Raises NotFound if it doesn't exist."""
    row = tx.one(
        """SELECT b.space_id, c.id FROM branches b LEFT JOIN change_requests c ON c.branch_id = b.id
           WHERE b.id = :id""",
        id=branch_id,
    )
    if row is None:
        raise NotFound("This space or change request no longer exists.")
    return find_branch(tx, *row)


def require_writable(tx: Transaction, access: LiveAccess, branch: LiveBranch, page_id: str) -> None:
    """Check again that the caller can edit a page of a branch. Raises Conflict, Forbidden, or NotFound if that is no
    longer the case."""
    space = space_access(tx, access.actor, Can.EDIT, access.space_id)
    if branch.change is None:
        require_live(space)
    else:
        require_editable(branch.change)
    state = seen_by(tx, space, branch.state)
    if page_id in state.hidden:
        raise NotFound(f"There is no page with the ID {page_id!r} in this version of the space.")
    require_editable_page(state, page_id, None)
