"""The trash: deleted spaces can be restored for seven days, then a job purges them.

A deleted collection takes what is in it along. It is kept, unseen, as long as one of its spaces may come back:
their rights hang on it, and a restored space brings it back with it.
"""

from __future__ import annotations

from ..access import RESTORE_DAYS
from ..errors import Conflict
from ..kit import jobs
from ..kit.clock import now
from ..kit.context import Context
from ..kit.db import Transaction
from ..kit.outbox import emit
from . import store
from .placing import list_inside, lock_order

DAY = 24 * 3_600_000


def delete_space(tx: Transaction, space_id: str) -> bool:
    """Puts a space in the trash; False when it lay there."""
    changed = tx.run(
        "UPDATE spaces SET deleted_at = :at, updated_at = :at WHERE id = :id AND deleted_at IS NULL",
        at=now(),
        id=space_id,
    )
    if changed:
        _tell(tx, "space_deleted", space_id)
    return changed > 0


def restore_space(tx: Transaction, space_id: str) -> None:
    """Takes a space out of the trash, with the collections it lay in. Raises Conflict when it is not there."""
    space = store.get_space(tx, space_id)
    lock_order(tx, space.organization_id)
    if not tx.run(
        "UPDATE spaces SET deleted_at = NULL, updated_at = :at WHERE id = :id AND deleted_at IS NOT NULL",
        at=now(),
        id=space_id,
    ):
        raise Conflict("This space is not in the trash.")
    above = space.collection_id
    while above is not None:
        tx.run("UPDATE collections SET deleted_at = NULL WHERE id = :id", id=above)
        above = tx.value("SELECT parent_id FROM collections WHERE id = :id", id=above)
    _tell(tx, "space_restored", space_id)


def delete_collection(tx: Transaction, organization_id: str, collection_id: str) -> list[str]:
    """Deletes a collection and those in it, and puts their spaces in the trash; the ids of these spaces."""
    lock_order(tx, organization_id)
    ids = [id for level in list_inside(tx, collection_id) for id in level]
    rows = tx.all(
        "SELECT id FROM spaces WHERE collection_id IN :ids AND deleted_at IS NULL ORDER BY id", ids=ids
    )
    spaces = [row[0] for row in rows]
    for space_id in spaces:
        delete_space(tx, space_id)
    tx.run("UPDATE collections SET deleted_at = :at WHERE id IN :ids", at=now(), ids=ids)
    return spaces


def _tell(tx: Transaction, event: str, space_id: str) -> None:
    organization_id = tx.value("SELECT organization_id FROM spaces WHERE id = :id", id=space_id)
    emit(tx, event, organization_id=organization_id, space_id=space_id)


# --- purging ------------------------------------------------------------------------------------------


def list_purgeable(tx: Transaction, before: int, limit: int = 100) -> list[str]:
    """Spaces that were deleted before a moment (milliseconds), the longest gone first."""
    rows = tx.all(
        "SELECT id FROM spaces WHERE deleted_at < :before ORDER BY deleted_at, id LIMIT :limit",
        before=before,
        limit=limit,
    )
    return [row[0] for row in rows]


def purge_space(tx: Transaction, space_id: str, before: int) -> bool:
    """Removes a space that was deleted before a moment, and all that belongs to it alone."""
    row = tx.one(
        f"SELECT organization_id FROM spaces WHERE id = :id AND deleted_at < :before{tx.for_update}",
        id=space_id,
        before=before,
    )
    if row is None:
        return False
    _forget_rights(tx, "space", [space_id])
    tx.run("DELETE FROM spaces WHERE id = :id", id=space_id)
    emit(tx, "space_purged", organization_id=row[0], space_id=space_id)
    return True


def purge_collections(tx: Transaction, before: int) -> int:
    """Removes collections that were deleted before a moment and hold nothing any more; how many."""
    count = 0
    while True:
        rows = tx.all(
            """SELECT c.id FROM collections c WHERE c.deleted_at < :before
                 AND NOT EXISTS (SELECT 1 FROM spaces s WHERE s.collection_id = c.id)
                 AND NOT EXISTS (SELECT 1 FROM collections d WHERE d.parent_id = c.id)""",
            before=before,
        )
        if not rows:
            return count
        ids = [row[0] for row in rows]
        _forget_rights(tx, "collection", ids)
        count += tx.run("DELETE FROM collections WHERE id IN :ids", ids=ids)


def _forget_rights(tx: Transaction, kind: str, ids: list[str]) -> None:
    tx.run("DELETE FROM grants WHERE object_type = :kind AND object_id IN :ids", kind=kind, ids=ids)
    tx.run("DELETE FROM invite_links WHERE target_type = :kind AND target_id IN :ids", kind=kind, ids=ids)


@jobs.job("purgeSpaces")
def purge_spaces(context: Context) -> None:
    """Removes what has been in the trash for longer than it can be restored, each space in its own transaction."""
    before = now() - RESTORE_DAYS * DAY
    while True:
        with context.db.read() as tx:
            found = list_purgeable(tx, before)
        for space_id in found:
            with context.db.write() as tx:
                purge_space(tx, space_id, before)
        if not found:
            break
    with context.db.write() as tx:
        purge_collections(tx, before)


jobs.schedule("purgeSpaces", 3600, "purgeSpaces")
