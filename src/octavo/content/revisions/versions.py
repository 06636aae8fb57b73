"""Versions of data that is written before its revision.

The rows of a large revision, and the data derived with it, are written in short transactions before the revision, and
become active only when the revision is created. Pages and items have a sequence far beyond the head of their branch.
That sequence then becomes the new head. Derived data has a version, initially 0. A large revision writes the rows of
many owners (pages and reusable content) alongside the current rows, under a new version, and switches these owners to
it. Later edits write under the current version. Inactive rows are invisible, and a job removes them.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from octavo.kit.clock import DAY, now
from octavo.kit.db.database import Transaction
from octavo.kit.work import jobs

from .states import lock_branch
from .store import BranchMoved, Staged

ABANDONED_AFTER = DAY
"""Age in milliseconds after which an unclaimed version is assumed to belong to a process that crashed."""
_BATCH = 500
_GAP = 2**32
"""Number of sequences between the head of a branch and a staged revision: more than can be created in the
meantime."""


def current_version(space: str, owner: str) -> str:
    """Return SQL for the current version. ``space`` and ``owner`` are SQL expressions for the IDs."""
    return f"""COALESCE((SELECT dv.version FROM derived_versions dv
                 WHERE dv.space_id = {space} AND dv.owner_id = {owner}), 0)"""


def current_versions(tx: Transaction, space_id: str, owner_ids: Iterable[str]) -> dict[str, int]:
    """Return the current version of each of these owners."""
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
    """Reserve a version and a sequence to write under. ``replaced``: the result of ``list_replaced``.

    Rows left behind by a killed process are removed after a day, or before a later version becomes active.
    Raises BranchMoved if the branch no longer exists.
    """
    if not lock_branch(tx, branch_id):
        raise BranchMoved
    # The sequence must be higher than those of all existing rows, including rows of crashed processes, which
    # must not become active with this revision.
    highest = tx.value(
        """SELECT max(used.sequence) FROM (
             SELECT sequence FROM branches WHERE id = :branch
             UNION ALL SELECT max(sequence) FROM staged_versions WHERE branch_id = :branch
             UNION ALL SELECT max(from_seq) FROM page_versions WHERE branch_id = :branch
             UNION ALL SELECT max(from_seq) FROM item_versions WHERE branch_id = :branch) AS used""",
        branch=branch_id,
    )
    staged = Staged(secrets.randbits(62) + 1, branch_id, highest + _GAP, *replaced)
    tx.insert(
        "staged_versions",
        version=staged.version,
        space_id=space_id,
        branch_id=branch_id,
        sequence=staged.sequence,
        began_at=now(),
    )
    _enqueue_removal(tx, space_id, run_at=now() + ABANDONED_AFTER)
    return staged


def lock_version(tx: Transaction, staged: Staged) -> None:
    """Lock a version so that it can't end while this transaction writes under it. Raises BranchMoved if it has
    ended."""
    lock_branch(tx, staged.branch_id)
    if not tx.one(
        f"SELECT 1 FROM staged_versions WHERE version = :version{tx.for_update}", version=staged.version
    ):
        raise BranchMoved


def claim_version(tx: Transaction, space_id: str, staged: Staged) -> None:
    """End the writing of a version in the transaction that activates it. Raises BranchMoved if it has already
    ended and some of its rows may have been removed."""
    if not end_version(tx, space_id, staged):
        raise BranchMoved


def end_version(tx: Transaction, space_id: str, staged: Staged) -> bool:
    """End the writing of a version and enqueue the removal of inactive rows. Return False if it has already
    ended."""
    ended = bool(tx.run("DELETE FROM staged_versions WHERE version = :version", version=staged.version))
    if ended:
        _enqueue_removal(tx, space_id)
    return ended


def end_earlier(tx: Transaction, space_id: str, staged: Staged) -> None:
    """End the versions of the branch that began before this version, because their rows would become active if the head
    moved beyond them."""
    if tx.run(
        "DELETE FROM staged_versions WHERE branch_id = :branch AND sequence < :sequence",
        branch=staged.branch_id,
        sequence=staged.sequence,
    ):
        _enqueue_removal(tx, space_id)


def end_versions(tx: Transaction, space_id: str, begun_before: int | None = None) -> None:
    """Discard all versions of a space that are being written, or only versions that began no later than
    ``begun_before``. If any remain, a later check discards them in case their processes crashed."""
    ended = tx.run(
        "DELETE FROM staged_versions WHERE space_id = :space AND began_at <= :before",
        space=space_id,
        before=now() if begun_before is None else begun_before,
    )
    if ended:
        _enqueue_removal(tx, space_id)
    if tx.one("SELECT 1 FROM staged_versions WHERE space_id = :space LIMIT 1", space=space_id):
        _enqueue_removal(tx, space_id, run_at=now() + ABANDONED_AFTER)


def switch_version(tx: Transaction, space_id: str, owners: str, version: int) -> None:
    """Make this version the current version for these owners (``json_list``)."""
    # Without WHERE, SQLite would parse ON CONFLICT as the ON of a join.
    tx.run(
        f"""INSERT INTO derived_versions (space_id, owner_id, version)
            SELECT :space, id, :version FROM {tx.given("owners", "id")} AS g WHERE 1 = 1
            ON CONFLICT (space_id, owner_id) DO UPDATE SET version = excluded.version""",
        space=space_id,
        version=version,
        owners=owners,
    )


def _enqueue_removal(tx: Transaction, space_id: str, run_at: int | None = None) -> None:
    """Enqueue the removal of inactive rows, now or at a later time. ``run_at``: the time in milliseconds."""
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
