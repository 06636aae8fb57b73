"""Remove unused Markdown sources and files. Each is stored once for all spaces, by its hash.

Sources and files of a purged space may be used by other spaces, or be reused a moment later by an import. Therefore,
they are recorded as released, and removed a day later unless content refers to them by then. Code that stores a source
or file again must call ``retain``."""

from __future__ import annotations

from collections.abc import Sequence

from octavo.kit.clock import DAY, now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.db.tables import Content, content_columns
from octavo.kit.work import jobs

from .hooks import notify_unnamed_texts

WAIT = DAY
_BATCH = 500


def release(tx: Transaction, content: Content, hashes_sql: str, **parameters: object) -> None:
    """Record that content may be unused. ``hashes_sql``: a SELECT that returns the content's hashes in one column
    named ``hash``."""
    tx.run(
        f"""INSERT INTO unused (kind, hash, released_at)
            SELECT DISTINCT :kind, used.hash, :at FROM ({hashes_sql}) AS used WHERE used.hash IS NOT NULL
            ON CONFLICT (kind, hash) DO UPDATE SET released_at = excluded.released_at""",
        kind=content,
        at=now(),
        **parameters,
    )


def release_space(tx: Transaction, space_id: str) -> None:
    """Release all content that a space's rows in any table refer to."""
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
    """Delete the release records of content that is stored again, before any code relies on it."""
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
    """Remove one batch in one transaction. Return False if there is nothing left to remove."""
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
            notify_unnamed_texts(tx, gone)
        else:
            # Delete the file before its release record, so that a process that is waiting to retain the file
            # stores it again.
            for hash in gone:
                context.files.delete(hash)
        retain(tx, content, [hash for hash, _ in rows])
    return len(rows) == _BATCH


@jobs.job("removeUnused", bound=None, seconds=3600)
def remove_unused(context: Context) -> None:
    """Remove sources and files that have been unused for a day."""
    before = now() - WAIT
    for content in ("text", "file"):
        while _remove(context, content, before):
            jobs.renew()


jobs.schedule("removeUnused", 3600, "removeUnused")
