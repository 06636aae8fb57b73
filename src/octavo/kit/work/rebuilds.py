"""Progress of the background jobs that an upgrade started.

A migration, or the first start after a migration, enqueues jobs that rebuild data in parts. At that time, the total
number of rows is recorded. The remaining number is the number of pending rows, so nothing has to be updated while
the jobs run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from octavo.kit.clock import now
from octavo.kit.db.database import Database, Transaction
from octavo.kit.db.tables import Table, declare

declare(Table(name="rebuilds", stays="the server's own", derived=True))


class Remainder(Struct, frozen=True):
    """Remaining rows of one part: the number of pending or running rows, and the number of rows that failed
    permanently."""

    waiting: int
    failed: int = 0


class Rebuild(Struct, frozen=True):
    """Unfinished part of an upgrade. ``part``: a readable name of the data to rebuild. The rows in ``failed`` count
    neither as waiting nor as finished."""

    part: str
    total: int
    waiting: int
    failed: int

    @property
    def percent(self) -> int:
        """Return the completion percentage, rounded down."""
        return 100 * max(0, self.total - self.waiting - self.failed) // max(1, self.total)

    def __str__(self) -> str:
        said = f"{self.part}: {self.percent}%"
        return f"{said}, {self.failed} failed" if self.failed else said


Counting = Callable[[Transaction, int], Remainder]
_parts: dict[str, Counting] = {}


def rebuilds(part: str, count: Counting) -> None:
    """Declare a part of an upgrade. ``count(tx, since)`` returns how much remains of the work that was pending at
    ``since`` (milliseconds). Work of the same kind that was added later has another cause, and isn't part of the
    upgrade."""
    _parts[part] = count


def rebuilds_by_job(part: str, kind: str) -> None:
    """Declare a part of an upgrade that jobs of one kind rebuild."""

    def count(tx: Transaction, since: int) -> Remainder:
        found: Mapping[str, int] = dict(
            tx.all(
                """SELECT CASE WHEN state = 'parked' THEN 'failed' ELSE 'waiting' END, count(*) FROM jobs
                   WHERE kind = :kind AND created_at <= :since GROUP BY 1""",
                kind=kind,
                since=since,
            )
        )
        return Remainder(found.get("waiting", 0), found.get("failed", 0))

    rebuilds(part, count)


def note_rebuilds(db: Database) -> None:
    """Record the amount of data to rebuild. This is called after an upgrade has enqueued all rebuilds."""
    with db.write() as tx:
        tx.run("DELETE FROM rebuilds")
        moment = now()
        for part, count in _parts.items():
            left = count(tx, moment)
            if total := left.waiting + left.failed:
                tx.insert("rebuilds", part=part, total=total, started_at=moment)


def list_rebuilds(tx: Transaction) -> list[Rebuild]:
    """Return the unfinished parts of the last upgrade."""
    found = []
    for part, total, started_at in tx.all("SELECT part, total, started_at FROM rebuilds ORDER BY part"):
        if part not in _parts:
            continue  # This part belongs to a newer version that runs at the same time.
        left = _parts[part](tx, started_at)
        if left.waiting or left.failed:
            found.append(Rebuild(part, total, left.waiting, left.failed))
    return found


def percent_done(unfinished: Sequence[Rebuild]) -> int:
    """Return the overall completion percentage of several parts, rounded down."""
    total = sum(each.total for each in unfinished)
    left = sum(each.waiting + each.failed for each in unfinished)
    return 100 * max(0, total - left) // max(1, total)
