"""Records of the latest successful and failed backups, used to show and monitor the age of backups."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from msgspec import Struct

from octavo.errors import OctavoError
from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.db.database import Database, Transaction
from octavo.kit.db.tables import Table, declare

log = logging.getLogger(__name__)

KEPT = 100
_LONGEST_PROBLEM = 500

declare(Table(name="backup_runs", stays="the server's own", long=("problem",)))


class BackupRun(Struct, frozen=True):
    """Backup that was attempted. Times are in milliseconds. ``problem``: the reason the backup failed; None if it
    succeeded."""

    id: str
    place: str
    started_at: int
    ended_at: int
    bytes: int | None
    problem: str | None


@contextmanager
def recorded(database: Database, place: str) -> Iterator[Callable[[int], None]]:
    """Record the backup that the block writes. The block reports the size of the backup in bytes. Errors
    are recorded and raised again."""
    started, written = now(), list[int]()
    try:
        yield written.append
    except (OctavoError, OSError) as error:
        record_backup(database, place, started, None, str(error))
        raise
    record_backup(database, place, started, written[-1] if written else None, None)


def record_backup(
    database: Database, place: str, started_at: int, size: int | None, problem: str | None
) -> None:
    """Record a completed or failed backup. If the record can't be written, the error is only logged, because the
    backup itself is valid."""
    try:
        with database.write() as tx:
            tx.insert(
                "backup_runs",
                id=ids.new_id(),
                place=place,
                started_at=started_at,
                ended_at=now(),
                bytes=size,
                problem=problem and problem[:_LONGEST_PROBLEM],
            )
            tx.run(
                """DELETE FROM backup_runs WHERE id NOT IN
                     (SELECT id FROM backup_runs ORDER BY ended_at DESC, id DESC LIMIT :kept)""",
                kept=KEPT,
            )
    except OctavoError as error:
        log.warning("a backup couldn't be recorded: %s", error.message)


_RUN = "id, place, started_at, ended_at, bytes, problem"


def list_backups(tx: Transaction, limit: int) -> list[BackupRun]:
    """Return the last backups, newest first."""
    rows = tx.all(f"SELECT {_RUN} FROM backup_runs ORDER BY ended_at DESC, id DESC LIMIT :limit", limit=limit)
    return [BackupRun(*row) for row in rows]


def last_successful_backup(tx: Transaction) -> BackupRun | None:
    """Return the last successful backup; None if there is none."""
    row = tx.one(
        f"SELECT {_RUN} FROM backup_runs WHERE problem IS NULL ORDER BY ended_at DESC, id DESC LIMIT 1"
    )
    return BackupRun(*row) if row else None
