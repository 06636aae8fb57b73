"""Which version counts of what is derived from a page or a reusable content, here called its owner.

Rows of derived tables carry a version. It is 0 until a large revision writes the rows of many owners beside those that
count, under a version of its own; the revision then switches these owners to it. Later edits write under the version
that counts. Rows of another version are not there for anybody, and a job removes them.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable

import msgspec

from ..kit import jobs
from ..kit.clock import now
from ..kit.db import Transaction

_BATCH = 500
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


def begin_version(tx: Transaction, space_id: str) -> int:
    """A version to write under. What a killed process leaves of it is removed after a day."""
    version = secrets.randbits(62) + 1
    tx.run(
        "INSERT INTO staged_versions (version, space_id, began_at) VALUES (:version, :space, :now)",
        version=version,
        space=space_id,
        now=now(),
    )
    _order_removal(tx, space_id, run_at=now() + DAY)
    return version


def end_version(tx: Transaction, space_id: str, version: int) -> bool:
    """Ends the writing of a version, and has whatever does not count then removed. False where it was ended before,
    and some of its rows may be gone."""
    ended = bool(tx.run("DELETE FROM staged_versions WHERE version = :version", version=version))
    if ended:
        _order_removal(tx, space_id)
    return ended


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


def given_owners(owner_ids: Iterable[str]) -> str:
    """Owners as ``switch_version`` takes them, to be made before its transaction."""
    return msgspec.json.encode([[id] for id in owner_ids]).decode()


def switch_version(tx: Transaction, space_id: str, owners: str, version: int) -> None:
    """From now on this version counts for these owners."""
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
