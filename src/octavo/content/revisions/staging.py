"""Write rows in short transactions before the revision that activates them, and remove abandoned rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice

from octavo.kit.db.database import Database, Transaction, json_list
from octavo.kit.db.tables import content_columns
from octavo.kit.db.turns import short_write
from octavo.kit.work import jobs
from octavo.organization.spaces.garbage import release

from .states import State, lock_branch
from .store import Changes, Staged, insert_rows, list_replaced
from .versions import begin_version, end_earlier, end_version, lock_version

MOST_AT_ONCE = 10_000
"""Maximum number of rows that a revision writes in its own transaction. If there are more, they are written before that
transaction."""
BATCH = 2_000
"""Number of rows per transaction when writing before a revision. Writing them takes about a tenth of a
second."""

Write = Callable[[Transaction, Staged], None]


@contextmanager
def write_before_revision(
    db: Database, state: State, changes: Changes, more: Iterable[Write]
) -> Iterator[Staged]:
    """Write the rows of ``changes`` to the state's upper branch, and then call ``more``, in separate transactions.

    The rows become active once the ``with`` block has claimed the version (``claim_version``). If the block fails, the
    rows never become active. Call this outside any transaction. Raises BranchMoved if a writer that started later
    finished earlier.
    """
    layer = state.layers[0]
    with db.read() as tx:
        replaced = list_replaced(tx, layer, changes)
    with db.write() as tx:
        staged = begin_version(tx, state.space_id, layer.branch_id, replaced)
    try:
        for writes in (_row_batches(changes, hides=len(state.layers) > 1), more):
            for write in writes:
                jobs.renew()
                with short_write(db) as tx:
                    lock_version(tx, staged)
                    write(tx, staged)
        with db.write() as tx:
            lock_version(tx, staged)
            end_earlier(tx, state.space_id, staged)
        remove_unclaimed(db, staged.branch_id, staged.sequence)
        yield staged
    except BaseException:
        with db.write() as tx:
            end_version(tx, state.space_id, staged)
        raise


def _row_batches(changes: Changes, *, hides: bool) -> Iterator[Write]:
    def write(part: Changes, tx: Transaction, staged: Staged) -> None:
        insert_rows(tx, staged.branch_id, staged.sequence, part, hides=hides)

    pages, items = iter(changes.pages.items()), iter(changes.items.items())
    while part := Changes(dict(islice(pages, BATCH)), dict(islice(items, BATCH))):
        yield partial(write, part)


def remove_unclaimed(db: Database, branch_id: str, below: int | None = None) -> None:
    """Remove the rows beyond a branch's head that no process is writing, in short transactions. Removed rows no longer
    prevent the removal of the Markdown sources and files that they refer to. ``below``: remove only rows with a lower
    sequence; by default, all."""
    for table, key in (("page_versions", "page_id"), ("item_versions", "item_id")):
        while True:
            with db.read() as tx:
                if not _list_unclaimed(tx, table, key, branch_id, below):
                    break
            with short_write(db) as tx:
                # The lock keeps the head from moving.
                lock_branch(tx, branch_id)
                _remove(tx, table, key, branch_id, _list_unclaimed(tx, table, key, branch_id, below))
                jobs.advance(tx)


def _list_unclaimed(
    tx: Transaction, table: str, key: str, branch_id: str, below: int | None
) -> list[tuple[str, int]]:
    rows = tx.all(
        f"""SELECT v.{key}, v.from_seq FROM branches b JOIN {table} v ON v.branch_id = b.id AND v.from_seq > b.sequence
            WHERE b.id = :branch AND {"1 = 1" if below is None else "v.from_seq < :below"}
              AND v.from_seq NOT IN (SELECT sequence FROM staged_versions WHERE branch_id = :branch) LIMIT {BATCH}""",
        branch=branch_id,
        **({} if below is None else {"below": below}),
    )
    return [(id, sequence) for id, sequence in rows]


def _remove(tx: Transaction, table: str, key: str, branch_id: str, found: list[tuple[str, int]]) -> None:
    for sequence in sorted({sequence for _, sequence in found}):
        which = f"branch_id = :branch AND from_seq = :sequence AND {key} {tx.among('ids')}"
        given = {
            "branch": branch_id,
            "sequence": sequence,
            "ids": json_list(id for id, other in found if other == sequence),
        }
        for content in ("text", "file"):
            for declared, column in content_columns(content):
                if declared.name == table:
                    hashes = f"SELECT {column.name} AS hash FROM {table} WHERE {which} AND {column.condition}"
                    release(tx, content, hashes, **given)
        tx.run(f"DELETE FROM {table} WHERE {which}", **given)


def list_unclaimed_branches(tx: Transaction, space_id: str) -> list[str]:
    """Return the branches of a space that have rows beyond their heads."""
    rows = tx.all(
        """SELECT b.id FROM branches b WHERE b.space_id = :space AND (
             EXISTS (SELECT 1 FROM page_versions p WHERE p.branch_id = b.id AND p.from_seq > b.sequence)
             OR EXISTS (SELECT 1 FROM item_versions i WHERE i.branch_id = b.id AND i.from_seq > b.sequence))
           ORDER BY b.id""",
        space=space_id,
    )
    return [row[0] for row in rows]
