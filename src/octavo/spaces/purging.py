"""What has been in the trash for longer than it can be restored is removed for good, by a job, without a rest."""

from __future__ import annotations

from ..access import RESTORE_DAYS, audit
from ..kit import deadlines, jobs
from ..kit.clock import now
from ..kit.context import Context
from ..kit.db import Transaction
from ..kit.outbox import emit
from .hooks import purged
from .trashing import DAY
from .unused import release_space


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
        f"SELECT organization_id, title FROM spaces WHERE id = :id AND deleted_at < :before{tx.for_update}",
        id=space_id,
        before=before,
    )
    if row is None:
        return False
    release_space(tx, space_id)
    purged(tx, space_id)
    _forget_rights(tx, "space", [space_id])
    tx.run("DELETE FROM spaces WHERE id = :id", id=space_id)
    audit(tx, None, "space.purged", row[0], ("space", space_id), before={"title": row[1]})
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


@jobs.job("purgeSpaces", seconds=3600)
def purge_spaces(context: Context) -> None:
    """Removes what nobody can restore any more, each space in its own transaction."""
    before = now() - RESTORE_DAYS * DAY
    while True:
        with context.db.read() as tx:
            found = list_purgeable(tx, before)
        for space_id in found:
            deadlines.check()
            with context.db.write() as tx:
                purge_space(tx, space_id, before)
        if not found:
            break
    with context.db.write() as tx:
        purge_collections(tx, before)


jobs.schedule("purgeSpaces", 3600, "purgeSpaces")
