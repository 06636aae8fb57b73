"""What has been in the trash for longer than it can be restored is removed for good, by a job, without a rest; and so
are copies that came to nothing."""

from __future__ import annotations

from ..access import RESTORE_DAYS, audit, delete_grants
from ..kit import jobs
from ..kit.clock import now
from ..kit.context import Context
from ..kit.db import Database, Transaction
from ..kit.outbox import emit
from ..kit.rows import read_schema
from ..kit.tables import TABLES, Content, Table, content_columns
from ..kit.turns import short_write
from .hooks import left, purged
from .trashing import BEING_MADE, BEING_REMOVED, DAY, GIVEN_UP
from .unused import release, release_space

_BATCH = 1_000
"""Rows of each transaction that removes some of a space."""
_PURGEABLE = "deleted_at < :before AND (deleted_at <> :being_made OR created_at < :dead)"
"""SQL. A copy that was begun a day ago and is not finished is of a process that died."""


def list_purgeable(tx: Transaction, before: int, limit: int = 100) -> list[str]:
    """Spaces that were deleted before a moment (milliseconds), the longest gone first."""
    rows = tx.all(
        f"SELECT id FROM spaces WHERE {_PURGEABLE} ORDER BY deleted_at, id LIMIT :limit",
        **_purgeable(before),
        limit=limit,
    )
    return [row[0] for row in rows]


def _purgeable(before: int) -> dict[str, int]:
    return {"before": before, "being_made": BEING_MADE, "dead": now() - DAY}


def purge_space(db: Database, space_id: str, before: int) -> bool:
    """Removes a space that was deleted before a moment, and all that belongs to it alone: in short transactions, from
    the first of which on nobody can restore it. Where one is the last, the next call goes on. Called outside of any."""
    with db.write() as tx:
        if not tx.run(
            f"""UPDATE spaces SET deleted_at = CASE WHEN deleted_at > :being_made THEN :removed ELSE :given_up END
                WHERE id = :id AND {_PURGEABLE}""",
            removed=BEING_REMOVED,
            given_up=GIVEN_UP,
            id=space_id,
            **_purgeable(before),
        ):
            return False
        purged(tx, space_id)
    _empty(db, space_id)
    with db.write() as tx:
        row = tx.one(
            f"SELECT organization_id, title, deleted_at FROM spaces WHERE id = :id{tx.for_update}",
            id=space_id,
        )
        if row is None:
            return False
        release_space(tx, space_id)
        _forget_rights(tx, "space", [space_id])
        tx.run("DELETE FROM spaces WHERE id = :id", id=space_id)
        organization_id, title, deleted_at = row
        if deleted_at != GIVEN_UP:
            audit(tx, None, "space.purged", organization_id, ("space", space_id), before={"title": title})
            emit(tx, "space_purged", organization_id=organization_id, space_id=space_id)
    return True


def _empty(db: Database, space_id: str) -> None:
    """Removes the rows of which a space may have many."""
    with db.read() as tx:
        keys = {name: schema.key for name, schema in read_schema(db, tx).items()}
    for name, table in TABLES.items():
        going_on = table.many
        while going_on:
            with short_write(db) as tx:
                going_on = _remove_some(tx, table, keys[name], space_id) == _BATCH
                jobs.advance(tx)


def _remove_some(tx: Transaction, table: Table, key: tuple[str, ...], space_id: str) -> int:
    """Removes some rows of a space, and releases what they name; how many."""
    contents: tuple[Content, ...] = ("text", "file")
    named = [
        (content, column)
        for content in contents
        for other, column in content_columns(content)
        if other is table
    ]
    columns = ", ".join(key)
    # In order, where the same rows must be found twice.
    order = f" ORDER BY {columns}" if named else ""
    some = f"""({columns}) IN (SELECT {columns} FROM {table.name} WHERE {table.rows_of_space}{order}
                LIMIT {_BATCH:d})"""
    for content, column in named:
        hashes = f"SELECT {column.name} AS hash FROM {table.name} WHERE {some} AND {column.condition}"
        release(tx, content, hashes, space=space_id)
    return tx.run(f"DELETE FROM {table.name} WHERE {some}", space=space_id)


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
    delete_grants(tx, kind, ids)
    left(tx, kind, ids)


@jobs.job("purgeSpaces", bound=None, seconds=3600)
def purge_spaces(context: Context) -> None:
    """Removes what nobody can restore any more."""
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
