"""Texts and files are kept once by their hash, for all spaces together. What a purged space used may be used
elsewhere, or be in use again a moment later by an import that found it there: so it is noted as left over, and
a day after removed, unless something names it by then. Whoever stores a text or a file again takes the note back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from ..kit import jobs
from ..kit.clock import now
from ..kit.context import Context
from ..kit.db import Transaction

LeftoverKind = Literal["body", "file"]

WAIT = 24 * 3_600_000
_BATCH = 500


class HashUse(NamedTuple):
    """A column that names texts or files: in all rows, or in those whose ``kind`` is one of ``kinds``."""

    kind: LeftoverKind
    table: str
    column: str
    kinds: tuple[str, ...]

    @property
    def named(self) -> str:
        """SQL: whether a row names one."""
        kinds = ", ".join(f"'{kind}'" for kind in self.kinds)
        return f"{self.column} IS NOT NULL" + (f" AND kind IN ({kinds})" if kinds else "")


_uses: list[HashUse] = []


def uses_hashes(kind: LeftoverKind, table: str, column: str, kinds: tuple[str, ...] = ()) -> None:
    """Registers a column that names texts or files; it needs an index. Sweeping, backups and exports of
    organizations go by what is registered."""
    _uses.append(HashUse(kind, table, column, kinds))


def hash_uses(kind: LeftoverKind) -> list[HashUse]:
    """All columns that name texts, or files. The packages that register them must be loaded."""
    return [use for use in _uses if use.kind == kind]


def leave(tx: Transaction, kind: LeftoverKind, hashes_sql: str, **parameters: Any) -> None:
    """Notes what a SELECT gives, whose one column is called ``hash``."""
    tx.run(
        f"""INSERT INTO leftovers (kind, hash, left_at)
            SELECT DISTINCT :kind, used.hash, :at FROM ({hashes_sql}) AS used WHERE used.hash IS NOT NULL
            ON CONFLICT (kind, hash) DO UPDATE SET left_at = excluded.left_at""",
        kind=kind,
        at=now(),
        **parameters,
    )


def keep(tx: Transaction, kind: LeftoverKind, hashes: Sequence[str]) -> None:
    """Takes back the notes of what is stored again, before it is relied on."""
    for start in range(0, len(hashes), _BATCH):
        tx.run(
            "DELETE FROM leftovers WHERE kind = :kind AND hash IN :hashes",
            kind=kind,
            hashes=hashes[start : start + _BATCH],
        )


def is_left(tx: Transaction, kind: LeftoverKind, hash: str) -> bool:
    return (
        tx.one("SELECT 1 FROM leftovers WHERE kind = :kind AND hash = :hash", kind=kind, hash=hash)
        is not None
    )


def _sweep(context: Context, kind: LeftoverKind, before: int) -> bool:
    """One batch, in one transaction; False when there is no more."""
    unused = " AND ".join(
        f"NOT EXISTS (SELECT 1 FROM {use.table} u WHERE u.{use.column} = l.hash)" for use in hash_uses(kind)
    )
    with context.db.write() as tx:
        rows = tx.all(
            f"""SELECT l.hash, CASE WHEN {unused} THEN 1 ELSE 0 END FROM leftovers l
                WHERE l.kind = :kind AND l.left_at < :before ORDER BY l.left_at LIMIT {_BATCH}{tx.skip_locked}""",
            kind=kind,
            before=before,
        )
        gone = [hash for hash, is_unused in rows if is_unused]
        if kind == "body":
            tx.run("DELETE FROM bodies WHERE hash IN :hashes", hashes=gone)
        else:
            # Before the note goes: who waits to take it back then finds the file gone, and stores it.
            for hash in gone:
                context.files.delete(hash)
        keep(tx, kind, [hash for hash, _ in rows])
    return len(rows) == _BATCH


@jobs.job("sweepLeftovers")
def sweep_leftovers(context: Context) -> None:
    """Removes texts and files that nothing has named for a day."""
    before = now() - WAIT
    for kind in ("body", "file"):
        while _sweep(context, kind, before):
            pass


jobs.schedule("sweepLeftovers", 3600, "sweepLeftovers")
