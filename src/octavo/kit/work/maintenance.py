"""Maintenance mode, in which the app and the API are read-only, and announcements to everyone on the server.

Maintenance starts at its scheduled time and lasts until someone turns it off. It doesn't end at the announced end
time, because the work may take longer. An announcement disappears at its end time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from octavo.errors import Unavailable
from octavo.kit.clock import iso, now
from octavo.kit.db.database import Database, Transaction
from octavo.kit.db.tables import Table, declare, person

NoticeKind = Literal["maintenance", "announcement"]
_AGAIN = 1.0
"""Number of seconds for which a process caches the notice that it last read."""
_RETRY = 30
"""Number of seconds after which clients should retry: the value if no end is announced, the minimum, and the
maximum."""
_LONGEST_RETRY = 300

declare(
    Table(
        name="server_notices",
        stays="the server's own",
        columns=(person("created_by"),),
        values={"kind": ("maintenance", "announcement")},
        long=("message",),
    )
)


class ServerNotice(Struct, frozen=True):
    """Maintenance or announcement. Times are in milliseconds. ``reminded_at``: the time of the last reminder to
    server administrators that maintenance is still on."""

    kind: NoticeKind
    message: str
    starts_at: int
    ends_at: int | None
    reminded_at: int | None = None

    @property
    def is_on(self) -> bool:
        has_ended = self.kind == "announcement" and self.ends_at is not None and self.ends_at <= now()
        return self.starts_at <= now() and not has_ended


class ReadOnly(Unavailable):
    """Raised if a change is requested while the server is in maintenance mode. Reading still works."""

    reason = "maintenance"

    def __init__(self, notice: ServerNotice) -> None:
        left = _RETRY if notice.ends_at is None else (notice.ends_at - now()) // 1000
        until = f" until about {iso(notice.ends_at)[:16]} UTC" if notice.ends_at and left > 0 else ""
        super().__init__(
            f"Octavo is read-only for maintenance{until}. Nothing was changed. Try again later."
            + (f" {notice.message}" if notice.message else ""),
            **{"retry-after": str(max(_RETRY, min(_LONGEST_RETRY, left)))},
        )


def list_notices(tx: Transaction) -> dict[NoticeKind, ServerNotice]:
    """Return all scheduled and current notices, by kind."""
    rows = tx.all("SELECT kind, message, starts_at, ends_at, reminded_at FROM server_notices ORDER BY kind")
    found = [ServerNotice(*row) for row in rows]
    return {
        each.kind: each
        for each in found
        if each.kind == "maintenance" or each.ends_at is None or each.ends_at > now()
    }


def put_notice(tx: Transaction, notice: ServerNotice, by: str | None) -> None:
    """Schedule or start a notice, which replaces the current notice of the same kind. ``by``: the ID of the person."""
    remove_notice(tx, notice.kind)
    tx.insert(
        "server_notices",
        kind=notice.kind,
        message=notice.message,
        starts_at=notice.starts_at,
        ends_at=notice.ends_at,
        created_by=by,
    )


def remove_notice(tx: Transaction, kind: NoticeKind) -> bool:
    """Remove a notice. Return False if there is none."""
    return bool(tx.run("DELETE FROM server_notices WHERE kind = :kind", kind=kind))


def find_maintenance(tx: Transaction) -> ServerNotice | None:
    """Return the current maintenance; None if maintenance mode is off."""
    found = list_notices(tx).get("maintenance")
    return found if found is not None and found.is_on else None


class WriteGate:
    """Gate that every change through the API passes. Each process has its own gate.

    The notice is cached for one second, so other processes may still accept changes for up to a second after
    maintenance starts.
    """

    def __init__(self, database: Database, clock: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._clock = clock
        self._read_at = float("-inf")
        self._found: ServerNotice | None = None

    def require_open(self) -> None:
        """Raise ReadOnly in maintenance mode."""
        if self._clock() - self._read_at >= _AGAIN:
            with self._database.read() as tx:
                self._found = list_notices(tx).get("maintenance")
            self._read_at = self._clock()
        if self._found is not None and self._found.is_on:
            raise ReadOnly(self._found)

    def forget(self) -> None:
        """Read the notice again on the next change, because this process has changed it."""
        self._read_at = float("-inf")
