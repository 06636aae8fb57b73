"""Number of jobs in each hour of the last day. The numbers are stored because the rows of completed jobs are
deleted."""

from __future__ import annotations

from msgspec import Struct

from octavo.kit.clock import DAY, HOUR, now
from octavo.kit.db.database import Transaction
from octavo.kit.db.tables import Table, declare

declare(Table(name="job_hours", stays="the server's own"))

HOURS = 24


class JobHour(Struct, frozen=True):
    """Jobs in one hour. ``hour``: its start in milliseconds. ``failed``: the number of jobs that failed
    permanently."""

    hour: int
    done: int
    failed: int


def add_jobs(tx: Transaction, done: int, failed: int) -> None:
    """Add completed and failed jobs to the current hour, and delete hours that are no longer shown."""
    tx.run(
        """INSERT INTO job_hours (hour, done, failed) VALUES (:hour, :done, :failed)
           ON CONFLICT (hour) DO UPDATE
           SET done = job_hours.done + excluded.done, failed = job_hours.failed + excluded.failed""",
        hour=now() // HOUR * HOUR,
        done=done,
        failed=failed,
    )
    tx.run("DELETE FROM job_hours WHERE hour < :before", before=now() - 2 * DAY)


def list_job_hours(tx: Transaction) -> list[JobHour]:
    """Return the last 24 hours, oldest first, including hours without jobs."""
    last = now() // HOUR * HOUR
    hours = range(last - (HOURS - 1) * HOUR, last + 1, HOUR)
    found = {
        row[0]: JobHour(*row)
        for row in tx.all("SELECT hour, done, failed FROM job_hours WHERE hour >= :first", first=hours[0])
    }
    return [found.get(hour) or JobHour(hour, 0, 0) for hour in hours]
