"""What somebody has seen of a change request: each mark is good until the thing changes again."""

from __future__ import annotations

from octavo.content.revisions.store import Layer, list_last_changes, revision_state
from octavo.errors import BadRequest, NotFound
from octavo.kit.clock import now
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Slice, slice_items

from .authorization import ChangeAccess
from .store import ChangeRow, SeenRow, list_seen

VARIABLES = "variables"
"""All variables together are one thing to review."""


def list_marks(
    tx: Transaction, change: ChangeRow, user_id: str, limit: int, page: str | None
) -> Slice[SeenRow]:
    """The marks of somebody that still are good, by what they are at."""
    changed = _changed(tx, change)
    good = [
        row
        for row in list_seen(tx, change.id, user_id)
        if row.object_id in changed and changed[row.object_id] <= row.sequence
    ]
    return slice_items(good, limit, page, lambda row: row.object_id)


def mark_of(
    tx: Transaction, access: ChangeAccess, change: ChangeRow, object_id: str, revision_id: str
) -> SeenRow:
    """That the caller saw something as it was in a revision of the change request. Raises NotFound, BadRequest."""
    if object_id not in _changed(tx, change):
        raise NotFound(f"This change request changes nothing with the id {object_id!r}.")
    try:
        seen = revision_state(tx, change.space_id, revision_id).layers[0]
    except NotFound:
        raise NotFound(f"revision: there is no revision {revision_id!r} in this space.") from None
    if seen.branch_id != change.branch_id:
        raise BadRequest("revision: expected one of this change request.")
    return SeenRow(change.id, access.user_id, object_id, seen.sequence, now())


def _changed(tx: Transaction, change: ChangeRow) -> dict[str, int]:
    """What a change request changes, by id, with the sequence of its branch in which each was changed last."""
    found = list_last_changes(tx, Layer(change.branch_id, change.sequence))
    changed = {id: sequence for id, (_, sequence) in found.items()}
    variables = [sequence for kind, sequence in found.values() if kind == "variable"]
    return {**changed, VARIABLES: max(variables)} if variables else changed
