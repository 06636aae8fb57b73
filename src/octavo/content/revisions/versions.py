"""What is written before the revision that it belongs to.

What a large revision writes, and what is derived with it, is written in short transactions before its own. It counts
only once the revision says so. Pages and items are under a sequence far beyond the head of their branch, which becomes
the head. What is derived has a version: it is 0 until a large revision writes the rows of many owners (pages and
reusable contents) beside those that count, under a version of its own, and switches these owners to it. Later edits
write under the version that counts. Rows that do not count are not there for anybody, and a job removes them.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from octavo.kit.clock import now
from octavo.kit.db.database import Transaction
from octavo.kit.work import jobs

from .store import BranchMoved, Staged, lock_branch

_BATCH = 500
_GAP = 2**32
"""Sequences that a branch may come to before those of what is staged: more revisions than anybody makes meanwhile."""
DAY = 24 * 3600 * 1000
"""A version that was begun so long ago, in milliseconds, and is not switched to, is of a process that died."""


def current_version(space: str, owner: str) -> str:
    """SQL of the version that counts; ``space`` and ``owner`` are SQL of the ids."""
    return f"""COALESCE((SELECT dv.version FROM derived_versions dv
                 WHERE dv.space_id = {space} AND dv.owner_id = {owner}), 0)"""


def current_versions(tx: Transaction, space_id: str, owner_ids: Iterable[str]) -> dict[str, int]:
    """The version that counts, for each of these."""
    found = dict.fromkeys(owner_ids, 0)
    asked = list(found)
    for start in range(0, len(asked), _BATCH):
        rows = tx.all(
            "SELECT owner_id, version FROM derived_versions WHERE space_id = :space AND owner_id IN :owners",
            space=space_id,
            owners=asked[start : start + _BATCH],
        )
        found.update((owner, version) for owner, version in rows)
    return found


def begin_version(tx: Transaction, space_id: str, branch_id: str, replaced: tuple[str, str]) -> Staged:
    """A version and a sequence to write under; ``replaced`` as ``list_replaced`` gives it. What a killed process leaves
    of it is removed after a day, or before a later one counts. Raises BranchMoved where the branch is gone."""
    if not lock_branch(tx, branch_id):
        raise BranchMoved
    # Beyond whatever there is, also of those that died: what they wrote must not count with this.
    highest = tx.value(
        """SELECT max(used.sequence) FROM (
             SELECT sequence FROM branches WHERE id = :branch
             UNION ALL SELECT max(sequence) FROM staged_versions WHERE branch_id = :branch
             UNION ALL SELECT max(from_seq) FROM page_versions WHERE branch_id = :branch
             UNION ALL SELECT max(from_seq) FROM item_versions WHERE branch_id = :branch) AS used""",
        branch=branch_id,
    )
    staged = Staged(secrets.randbits(62) + 1, branch_id, highest + _GAP, *replaced)
    tx.run(
        """INSERT INTO staged_versions (version, space_id, branch_id, sequence, began_at)
           VALUES (:version, :space, :branch, :sequence, :now)""",
        version=staged.version,
        space=space_id,
        branch=branch_id,
        sequence=staged.sequence,
        now=now(),
    )
    _order_removal(tx, space_id, run_at=now() + DAY)
    return staged


def hold_version(tx: Transaction, staged: Staged) -> None:
    """Makes sure that nobody ends a version while this transaction writes under it. Raises BranchMoved where it was
    ended."""
    lock_branch(tx, staged.branch_id)
    if not tx.one(
        f"SELECT 1 FROM staged_versions WHERE version = :version{tx.for_update}", version=staged.version
    ):
        raise BranchMoved


def claim_version(tx: Transaction, space_id: str, staged: Staged) -> None:
    """Ends the writing of a version in the transaction that makes it count. Raises BranchMoved where it was ended
    before, and some of its rows may be gone."""
    if not end_version(tx, space_id, staged):
        raise BranchMoved


def end_version(tx: Transaction, space_id: str, staged: Staged) -> bool:
    """Ends the writing of a version, and has whatever does not count then removed. False where it was ended before."""
    ended = bool(tx.run("DELETE FROM staged_versions WHERE version = :version", version=staged.version))
    if ended:
        _order_removal(tx, space_id)
    return ended


def end_earlier(tx: Transaction, space_id: str, staged: Staged) -> None:
    """Ends what was begun on the branch before this version: had it a head beyond them, they would count."""
    if tx.run(
        "DELETE FROM staged_versions WHERE branch_id = :branch AND sequence < :sequence",
        branch=staged.branch_id,
        sequence=staged.sequence,
    ):
        _order_removal(tx, space_id)


def end_versions(tx: Transaction, space_id: str, begun_before: int | None = None) -> None:
    """Ends the writing of all versions of a space, or of those begun before a moment, without switching to them.
    Others that may have died by then are looked for later."""
    ended = tx.run(
        "DELETE FROM staged_versions WHERE space_id = :space AND began_at <= :before",
        space=space_id,
        before=now() if begun_before is None else begun_before,
    )
    if ended:
        _order_removal(tx, space_id)
    if tx.one("SELECT 1 FROM staged_versions WHERE space_id = :space LIMIT 1", space=space_id):
        _order_removal(tx, space_id, run_at=now() + DAY)


def switch_version(tx: Transaction, space_id: str, owners: str, version: int) -> None:
    """From now on this version counts for these owners (``json_list``)."""
    # SQLite would take the ON of the conflict for one of a join without WHERE.
    tx.run(
        f"""INSERT INTO derived_versions (space_id, owner_id, version)
            SELECT :space, id, :version FROM {tx.given("owners", "id")} AS g WHERE 1 = 1
            ON CONFLICT (space_id, owner_id) DO UPDATE SET version = excluded.version""",
        space=space_id,
        version=version,
        owners=owners,
    )


def _order_removal(tx: Transaction, space_id: str, run_at: int | None = None) -> None:
    """Has rows that do not count removed, at once or later (``run_at``, in milliseconds)."""
    when = "later" if run_at is not None else "now"
    organization = tx.value("SELECT organization_id FROM spaces WHERE id = :id", id=space_id)
    jobs.enqueue(
        tx,
        "removeReplaced",
        organization=organization,
        key=f"removeReplaced {space_id} {when}",
        run_at=run_at,
        space_id=space_id,
    )
