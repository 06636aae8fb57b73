"""People's viewed marks in change requests. A mark is valid until the marked content changes again."""

from __future__ import annotations

from octavo.content.revisions.restrictions import seen_by
from octavo.content.revisions.states import Layer, list_last_changes, revision_state
from octavo.errors import BadRequest, NotFound
from octavo.kit.clock import now
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Slice, slice_items

from .authorization import ChangeAccess
from .store import ChangeRow, SeenRow, list_seen

VARIABLES = "variables"
"""ID for all variables, which are reviewed together."""
TAGS = "tags"
"""ID for all tags of the space, which are reviewed together."""


def list_marks(
    tx: Transaction, access: ChangeAccess, change: ChangeRow, limit: int, page: str | None
) -> Slice[SeenRow]:
    """List the caller's valid marks, ordered by the ID of the marked page or item."""
    changed = _changed(tx, access, change)
    good = [
        row
        for row in list_seen(tx, change.id, access.user_id)
        if row.object_id in changed and changed[row.object_id] <= row.sequence
    ]
    return slice_items(good, limit, page, lambda row: row.object_id)


def make_mark(
    tx: Transaction, access: ChangeAccess, change: ChangeRow, object_id: str, revision_id: str
) -> SeenRow:
    """Mark a page or item as viewed by the caller in a revision of the change request. Raises NotFound if the change
    request doesn't change the page or item, and BadRequest if the revision is invalid."""
    if object_id not in _changed(tx, access, change):
        raise NotFound(f"This change request doesn't change anything with the ID {object_id!r}.")
    try:
        seen = revision_state(tx, change.space_id, revision_id).layers[0]
    except NotFound:
        raise NotFound(f"revision: there is no revision with the ID {revision_id!r} in this space") from None
    if seen.branch_id != change.branch_id:
        raise BadRequest("revision: must be a revision of this change request")
    return SeenRow(change.id, access.user_id, object_id, seen.sequence, now())


def _changed(tx: Transaction, access: ChangeAccess, change: ChangeRow) -> dict[str, int]:
    """Return the pages and items that a change request changes and that the caller can see, by ID. The value is the
    sequence of the branch at the last change to the page or item."""
    found = list_last_changes(tx, Layer(change.branch_id, change.sequence))
    hidden = seen_by(tx, access.space, change.state).hidden
    changed = {id: sequence for id, (_, sequence) in found.items() if id not in hidden}
    for name, target in ((VARIABLES, "variable"), (TAGS, "source")):
        if together := [sequence for kind, sequence in found.values() if kind == target]:
            changed[name] = max(together)
    return changed
