"""Texts and files are kept once by their hash, for all spaces together. What a purged space used may be used
elsewhere, or be in use again a moment later by an import that found it there: so it is noted as released, and
a day after removed, unless something names it by then. Whoever stores a text or a file again retains it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..kit import jobs
from ..kit.clock import now
from ..kit.context import Context
from ..kit.db import Transaction
from ..kit.tables import Content, content_columns
from .hooks import forget_texts

WAIT = 24 * 3_600_000
_BATCH = 500


def release(tx: Transaction, content: Content, hashes_sql: str, **parameters: Any) -> None:
    """Notes that what a SELECT gives, whose one column is called ``hash``, may have lost its last use."""
    tx.run(
        f"""INSERT INTO unused (kind, hash, released_at)
            SELECT DISTINCT :kind, used.hash, :at FROM ({hashes_sql}) AS used WHERE used.hash IS NOT NULL
            ON CONFLICT (kind, hash) DO UPDATE SET released_at = excluded.released_at""",
        kind=content,
        at=now(),
        **parameters,
    )


def release_space(tx: Transaction, space_id: str) -> None:
    """Releases everything that the rows of a space name, in whichever table."""
    for content in ("text", "file"):
        for table, column in content_columns(content):
            if table.of_space:
                release(
                    tx,
                    content,
                    f"SELECT {column.name} AS hash FROM {table.name}"
                    f" WHERE ({table.rows_of_space}) AND {column.condition}",
                    space=space_id,
                )


def retain(tx: Transaction, content: Content, hashes: Sequence[str]) -> None:
    """Takes back the notes of what is stored again, before it is relied on."""
    for start in range(0, len(hashes), _BATCH):
        tx.run(
            "DELETE FROM unused WHERE kind = :kind AND hash IN :hashes",
            kind=content,
            hashes=hashes[start : start + _BATCH],
        )


def is_released(tx: Transaction, content: Content, hash: str) -> bool:
    return (
        tx.one("SELECT 1 FROM unused WHERE kind = :kind AND hash = :hash", kind=content, hash=hash)
        is not None
    )


def _remove(context: Context, content: Content, before: int) -> bool:
    """One batch, in one transaction; False when there is no more."""
    unnamed = " AND ".join(
        f"NOT EXISTS (SELECT 1 FROM {table.name} t WHERE t.{column.name} = u.hash)"
        for table, column in content_columns(content)
    )
    with context.db.write() as tx:
        rows = tx.all(
            f"""SELECT u.hash, CASE WHEN {unnamed} THEN 1 ELSE 0 END FROM unused u
                WHERE u.kind = :kind AND u.released_at < :before
                ORDER BY u.released_at LIMIT {_BATCH}{tx.skip_locked}""",
            kind=content,
            before=before,
        )
        gone = [hash for hash, is_unnamed in rows if is_unnamed]
        if content == "text":
            forget_texts(tx, gone)
        else:
            # Before the note goes: who waits to retain it then finds the file gone, and stores it.
            for hash in gone:
                context.files.delete(hash)
        retain(tx, content, [hash for hash, _ in rows])
    return len(rows) == _BATCH


@jobs.job("removeUnused", bound=None, seconds=3600)
def remove_unused(context: Context) -> None:
    """Removes texts and files that nothing has named for a day."""
    before = now() - WAIT
    for content in ("text", "file"):
        while _remove(context, content, before):
            jobs.renew()


jobs.schedule("removeUnused", 3600, "removeUnused")
