"""Job that backs up the server to the location in the settings, when a server administrator starts a backup."""

from __future__ import annotations

import time
from pathlib import Path

from msgspec import Struct

from octavo.errors import Conflict
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.work import jobs
from octavo.kit.work.backup_runs import recorded

from .backup_storage import BackupPlace, is_bucket
from .kept_backups import back_up_into

_KIND = "backUp"
_NOTED_EVERY = 2.0
"""Number of seconds between two updates of the progress."""


class BackupProgress(Struct, frozen=True):
    """Backup that is pending or running. Times are in milliseconds. ``done`` and ``total``: numbers of files. The
    total is 0 until the rows of the database have been written."""

    started_at: int
    done: int
    total: int


def find_running_backup(tx: Transaction) -> BackupProgress | None:
    for state in ("running", "waiting"):
        found, _ = jobs.list_jobs(tx, state=state, kind=_KIND, limit=1)
        if found:
            payload = found[0].payload
            return BackupProgress(found[0].created_at, payload["done"], payload["total"])
    return None


def start_backup(tx: Transaction, context: Context) -> BackupProgress:
    """Enqueue a backup. Raises Conflict if no backup location is configured, or if a backup is already pending or
    running."""
    if not context.settings.backup_place:
        raise Conflict(
            "No backup location is configured. Set `OCTAVO_BACKUP_PLACE` to a folder or to"
            " `s3://bucket/prefix`, and restart Octavo."
        )
    if find_running_backup(tx) is not None:
        raise Conflict("A backup is already running. Wait until it finishes.")
    jobs.enqueue(tx, _KIND, organization=None, key=_KIND, done=0, total=0)
    return BackupProgress(now(), 0, 0)


@jobs.job(_KIND, bound=None, attempts=1, seconds=3600, in_maintenance=True)
def run_backup(context: Context, done: int, total: int) -> None:
    """Write a backup, and record its progress in the payload of the job."""
    address = context.settings.backup_place
    noted = time.monotonic()

    def note(done: int, total: int) -> None:
        nonlocal noted
        jobs.renew()
        if time.monotonic() - noted >= _NOTED_EVERY:
            noted = time.monotonic()
            with context.db.write() as tx:
                jobs.advance(tx, done=done, total=total)

    with recorded(context.db, address if is_bucket(address) else str(Path(address).resolve())) as note_size:
        place = BackupPlace(address, new=True)
        name, _ = back_up_into(context, place, progress=note)
        note_size(next(each.size for each in place.list() if each.name == name))
