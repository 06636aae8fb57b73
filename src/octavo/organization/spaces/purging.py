"""Job that permanently deletes spaces and collections whose time in the trash has expired, and abandoned duplicates."""

from __future__ import annotations

from octavo.kit.clock import DAY, now
from octavo.kit.context import Context
from octavo.kit.db.database import Database, Transaction
from octavo.kit.db.rows import read_schema
from octavo.kit.db.tables import TABLES, Content, Table, content_columns
from octavo.kit.db.turns import short_write
from octavo.kit.work import jobs
from octavo.kit.work.outbox import emit
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import RESTORE_DAYS
from octavo.organization.access.rights.store import delete_grants

from .garbage import release, release_space
from .hooks import notify_left, notify_purged
from .trash import ABANDONED, BEING_REMOVED, UNFINISHED

_BATCH = 1_000
"""Number of rows per transaction when deleting part of a space."""
_PURGEABLE = "deleted_at < :before AND (deleted_at <> :being_made OR created_at < :dead)"
"""SQL condition for spaces to purge, including unfinished duplicates that were started more than a day ago: the
processes that were creating them must have crashed."""


def list_purgeable(tx: Transaction, before: int, limit: int = 100) -> list[str]:
    """Return up to ``limit`` spaces that were deleted before a given time (milliseconds), earliest deletion first."""
    rows = tx.all(
        f"SELECT id FROM spaces WHERE {_PURGEABLE} ORDER BY deleted_at, id LIMIT :limit",
        **_purgeable(before),
        limit=limit,
    )
    return [row[0] for row in rows]


def _purgeable(before: int) -> dict[str, int]:
    return {"before": before, "being_made": UNFINISHED, "dead": now() - DAY}


def purge_space(db: Database, space_id: str, before: int) -> bool:
    """Permanently delete a space that was moved to the trash before the time ``before`` (milliseconds), and all data
    that belongs only to this space.

    This runs several short transactions. After the first transaction, the space can't be restored. If a transaction
    fails, the next call continues. Call this outside any transaction.
    """
    with db.write() as tx:
        if not tx.run(
            f"""UPDATE spaces SET deleted_at = CASE WHEN deleted_at > :being_made THEN :removed ELSE :given_up END
                WHERE id = :id AND {_PURGEABLE}""",
            removed=BEING_REMOVED,
            given_up=ABANDONED,
            id=space_id,
            **_purgeable(before),
        ):
            return False
        notify_purged(tx, space_id)
    _delete_rows(db, space_id)
    with db.write() as tx:
        row = tx.one(
            f"SELECT organization_id, title, deleted_at FROM spaces WHERE id = :id{tx.for_update}",
            id=space_id,
        )
        if row is None:
            return False
        release_space(tx, space_id)
        _delete_permissions(tx, "space", [space_id])
        tx.run("DELETE FROM spaces WHERE id = :id", id=space_id)
        organization_id, title, deleted_at = row
        if deleted_at != ABANDONED:
            audit(tx, None, "space.purged", organization_id, ("space", space_id), before={"title": title})
            emit(tx, "space_purged", organization_id=organization_id, space_id=space_id)
    return True


def _delete_rows(db: Database, space_id: str) -> None:
    """Delete rows from the tables in which a space can have many rows."""
    with db.read() as tx:
        keys = {name: schema.key for name, schema in read_schema(db, tx).items()}
    for name, table in TABLES.items():
        has_more = table.many
        while has_more:
            with short_write(db) as tx:
                has_more = _remove_some(tx, table, keys[name], space_id) == _BATCH
                jobs.advance(tx)


def _remove_some(tx: Transaction, table: Table, key: tuple[str, ...], space_id: str) -> int:
    """Delete some rows of a space, release the content that they refer to, and return the number of deleted rows."""
    contents: tuple[Content, ...] = ("text", "file")
    named = [
        (content, column)
        for content in contents
        for other, column in content_columns(content)
        if other is table
    ]
    columns = ", ".join(key)
    # The rows are ordered, if the same rows must be selected twice.
    order = f" ORDER BY {columns}" if named else ""
    some = f"""({columns}) IN (SELECT {columns} FROM {table.name} WHERE {table.rows_of_space}{order}
                LIMIT {_BATCH:d})"""
    for content, column in named:
        hashes = f"SELECT {column.name} AS hash FROM {table.name} WHERE {some} AND {column.condition}"
        release(tx, content, hashes, space=space_id)
    return tx.run(f"DELETE FROM {table.name} WHERE {some}", space=space_id)


def purge_collections(tx: Transaction, before: int) -> int:
    """Permanently delete empty collections that were moved to the trash before a given time, and return their
    number."""
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
        _delete_permissions(tx, "collection", ids)
        count += tx.run("DELETE FROM collections WHERE id IN :ids", ids=ids)


def _delete_permissions(tx: Transaction, kind: str, ids: list[str]) -> None:
    delete_grants(tx, kind, ids)
    notify_left(tx, kind, ids)


@jobs.job("purgeSpaces", bound=None, seconds=3600)
def purge_spaces(context: Context) -> None:
    """Permanently delete spaces that can no longer be restored."""
    before = now() - RESTORE_DAYS * DAY
    while True:
        with context.db.read() as tx:
            found = list_purgeable(tx, before)
        for space_id in found:
            jobs.renew()
            purge_space(context.db, space_id, before)
        if not found:
            break
    with context.db.write() as tx:
        purge_collections(tx, before)


jobs.schedule("purgeSpaces", 3600, "purgeSpaces")
