"""Authorization to view a change request in a space."""

from __future__ import annotations

from octavo.content.revisions.authorization import ReadState, WrittenState
from octavo.content.revisions.restrictions import seen_by
from octavo.core.app_urls import change_view
from octavo.errors import NotFound
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Call, enters
from octavo.organization.access.authorization import (
    InSpace,
    SpaceAccess,
    Visiting,
    enter_space,
    space_access,
    visit_space,
)
from octavo.organization.access.roles import Can

from .pending import can_save_for_read, has_pending, try_to_save_pending
from .store import Author, ChangeRow, find_change, get_change


class ChangeAccess(InSpace, frozen=True):
    """Access to a change request: the change request, the caller, and the caller's permissions in the space."""

    change_id: str

    @property
    def author(self) -> Author:
        return Author(self.space.user_id, self.space.agent)


class WrittenChange(ChangeAccess, frozen=True):
    """Change request whose latest revision includes all text typed so far."""


class VisitedChange(Visiting, frozen=True):
    """Visitor who views a change request through a preview."""

    change_id: str


def _enter(call: Call, needs: Can, space_id: str, id_or_number: str) -> tuple[SpaceAccess, ChangeRow]:
    space = enter_space(call, needs, space_id)
    with call.db.read() as tx:
        return space, _get(tx, space, id_or_number)


def _get(tx: Transaction, space: SpaceAccess, id_or_number: str) -> ChangeRow:
    change = find_change(tx, space.space_id, id_or_number)
    if change is None:
        raise _missing(id_or_number)
    return change


def _missing(id_or_number: str) -> NotFound:
    return NotFound(f"There is no change request with the ID or number {id_or_number!r} in this space.")


@enters(ChangeAccess, "spaceId", "changeRequestId")
def enter_change(call: Call, needs: Can, space_id: str, change_request_id: str) -> ChangeAccess:
    """Authorize the caller for a change request, given its ID or its number in the space."""
    space, change = _enter(call, needs, space_id, change_request_id)
    return ChangeAccess(space, change.id)


def _save(call: Call, change: ChangeRow) -> None:
    """Save the unsaved text of a change request, so that the call can read it. If the text can't be saved right now, a
    response header indicates that the content is from an earlier state. Raises WritesFirst if the read must start again
    after the text has been saved."""
    if not _has_pending(call, change):
        return
    if not call.has_written and can_save_for_read(call.context, change):
        call.write_first(lambda: try_to_save_pending(call.context, change.id))
        if not _has_pending(call, change):
            return
    call.response_headers["octavo-unsaved"] = "true"


def _has_pending(call: Call, change: ChangeRow) -> bool:
    with call.db.read() as tx:
        return has_pending(tx, change.branch_id)


@enters(WrittenChange, "spaceId", "changeRequestId")
def enter_written_change(call: Call, needs: Can, space_id: str, change_request_id: str) -> WrittenChange:
    """Authorize the caller for a change request, and save its unsaved text."""
    space, change = _enter(call, needs, space_id, change_request_id)
    _save(call, change)
    return WrittenChange(space, change.id)


@enters(VisitedChange, "spaceId", "changeRequestId", visitors=True)
def visit_change(call: Call, needs: Can, space_id: str, change_request_id: str) -> VisitedChange:
    visitor = visit_space(call, needs, space_id).visitor
    with call.db.read() as tx:
        change = find_change(tx, space_id, change_request_id)
    if change is None or visitor.drafted is None or visitor.drafted.change_id != change.id:
        raise _missing(change_request_id)
    return VisitedChange(visitor, change.id)


def change_access(tx: Transaction, space: SpaceAccess, change_request_id: str) -> ChangeAccess:
    """Return the caller's access to a change request of an accessible space. Raises NotFound if the change request
    doesn't exist."""
    return ChangeAccess(space, _get(tx, space, change_request_id).id)


def recheck_permission(tx: Transaction, access: ChangeAccess | SpaceAccess, needs: Can) -> None:
    """Check the caller's permission again in a write transaction, because a retry can start seconds after the request
    was authorized. Raises NotFound or Forbidden if the permission has been removed."""
    space_access(tx, access.actor, needs, access.space_id)


@enters(ReadState, "spaceId", "changeRequestId")
def enter_change_state(call: Call, needs: Can, space_id: str, change_request_id: str) -> ReadState:
    """Authorize reading the saved content of a change request."""
    space, change = _enter(call, needs, space_id, change_request_id)
    with call.db.read() as tx:
        return ReadState(space, seen_by(tx, space, change.state), change_view(change.number), _label(change))


@enters(WrittenState, "spaceId", "changeRequestId")
def enter_written_state(call: Call, needs: Can, space_id: str, change_request_id: str) -> WrittenState:
    """Authorize reading the current content of a change request, and save its unsaved text."""
    space, change = _enter(call, needs, space_id, change_request_id)
    _save(call, change)
    with call.db.read() as tx:
        change = get_change(tx, change.id)
        return WrittenState(
            space, seen_by(tx, space, change.state), change_view(change.number), _label(change)
        )


def _label(change: ChangeRow) -> str:
    return f"Change request {change.number}: {change.subject}".removesuffix(": ")
