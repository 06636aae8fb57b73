"""Viewed marks of people in change requests; each is valid until the marked content changes again."""

from __future__ import annotations

from ..content import Layer, last_changed, revision_state
from ..errors import BadRequest, NotFound
from ..kit.clock import now
from ..kit.db import Transaction
from ..kit.pagination import Slice, slice_items
from .entering import ChangeAccess
from .store import ChangeRow, SeenRow, list_seen

VARIABLES = "variables"
"""All variables are reviewed together."""


def list_marks(
    tx: Transaction, change: ChangeRow, user_id: str, limit: int, page: str | None
) -> Slice[SeenRow]:
    """List the valid marks of a person, by object."""
    changed = _changed(tx, change)
    good = [
        row
        for row in list_seen(tx, change.id, user_id)
        if row.object_id in changed and changed[row.object_id] <= row.sequence
    ]
    return slice_items(good, limit, page, lambda row: row.object_id)


def make_mark(
    tx: Transaction, access: ChangeAccess, change: ChangeRow, object_id: str, revision_id: str
) -> SeenRow:
    """Create a mark that the caller viewed something in a revision of the change request. Raises NotFound,
    BadRequest."""
    if object_id not in _changed(tx, change):
        raise NotFound(f"This change request does not change {object_id!r}.")
    try:
        seen = revision_state(tx, change.space_id, revision_id).layers[0]
    except NotFound:
        raise NotFound(f"revision: there is no revision {revision_id!r} in this space.") from None
    if seen.branch_id != change.branch_id:
        raise BadRequest("revision: must be a revision of this change request.")
    return SeenRow(change.id, access.user_id, object_id, seen.sequence, now())


def _changed(tx: Transaction, change: ChangeRow) -> dict[str, int]:
    """Return the ids of everything that a change request changes, with the branch sequence of the last change."""
    found = last_changed(tx, Layer(change.branch_id, change.sequence))
    changed = {id: sequence for id, (_, sequence) in found.items()}
    variables = [sequence for kind, sequence in found.values() if kind == "variable"]
    return {**changed, VARIABLES: max(variables)} if variables else changed
