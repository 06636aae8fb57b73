"""The queues of events, and what became of each: rows in, frozen records out."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Struct

from ..kit import ids
from ..kit.clock import now
from ..kit.db import Transaction
from ..kit.pagination import Slice, decode_token, slice_rows
from ..kit.sealing import sealed_column

PREVIOUS = sealed_column("integration_events", "previous", "id")

EventStatus = Literal["success", "failed"]


class LogLine(Struct, frozen=True):
    message: str
    timestamp: str
    level: Literal["debug", "info", "warn", "error"]


class EventRow(Struct, frozen=True):
    """``previous`` is sealed."""

    number: int
    id: str
    integration_id: str
    installation_id: str | None
    organization_id: str
    queue: str
    place_kind: str
    place_id: str
    type: str
    event: dict[str, Any]
    previous: str | None
    status: str
    attempts: int
    next_at: int
    error: str | None
    logs: list[LogLine]
    created_at: int


_COLUMNS = ", ".join(f"e.{name}" for name in EventRow.__struct_fields__)


def _event(row: tuple[Any, ...]) -> EventRow:
    values = list(row)
    values[9] = msgspec.json.decode(row[9])
    values[15] = msgspec.json.decode(row[15], type=list[LogLine])
    return EventRow(*values)


def insert_event(
    tx: Transaction,
    *,
    id: str,
    integration_id: str,
    installation_id: str | None,
    organization_id: str,
    type: str,
    event: dict[str, Any],
    place: tuple[str, str] = ("", ""),
    previous: str | None = None,
    status: str = "waiting",
    next_at: int | None = None,
    error: str | None = None,
    logs: list[LogLine] | None = None,
) -> None:
    moment = now()
    tx.run(
        """INSERT INTO integration_events (id, integration_id, installation_id, organization_id, queue, place_kind,
             place_id, type, event, previous, status, next_at, error, logs, created_at)
           VALUES (:id, :integration, :installation, :org, :queue, :kind, :place, :type, :event, :previous, :status,
             :next, :error, :logs, :at)""",
        id=id,
        integration=integration_id,
        installation=installation_id,
        org=organization_id,
        queue=installation_id or integration_id,
        kind=place[0],
        place=place[1],
        type=type,
        event=msgspec.json.encode(event).decode(),
        previous=previous,
        status=status,
        next=moment if next_at is None else next_at,
        error=error,
        logs=msgspec.json.encode(logs or []).decode(),
        at=moment,
    )


def new_event_id() -> str:
    return ids.new_id()


def find_event(tx: Transaction, integration_id: str, event_id: str) -> EventRow | None:
    row = tx.one(
        f"SELECT {_COLUMNS} FROM integration_events e WHERE e.id = :id AND e.integration_id = :integration",
        id=event_id,
        integration=integration_id,
    )
    return _event(row) if row else None


def list_events(
    tx: Transaction, integration_id: str, limit: int, page: str | None, *, organization_id: str | None
) -> Slice[EventRow]:
    """Those that were delivered or tried, newest first; of ``organization_id`` alone where it is given."""
    after = decode_token(page, int)
    where = "e.integration_id = :integration AND (e.status <> 'waiting' OR e.attempts > 0)"
    given: dict[str, Any] = {"integration": integration_id}
    if organization_id is not None:
        where += " AND e.organization_id = :org"
        given["org"] = organization_id
    rows = tx.all(
        f"SELECT {_COLUMNS} FROM integration_events e WHERE {where} AND e.number < :after"
        " ORDER BY e.number DESC LIMIT :limit",
        after=after[0] if after else 2**62,
        limit=limit + 1,
        **given,
    )
    count = tx.value(f"SELECT count(*) FROM integration_events e WHERE {where}", **given)
    return slice_rows([_event(row) for row in rows], limit, count, lambda row: (row.number,))


def next_event(tx: Transaction, queue: str) -> EventRow | None:
    """The oldest one that is due, behind no other of its place."""
    row = tx.one(
        f"""SELECT {_COLUMNS} FROM integration_events e
            WHERE e.queue = :queue AND e.status = 'waiting' AND e.next_at <= :now
              AND NOT EXISTS (SELECT 1 FROM integration_events o WHERE o.queue = e.queue AND o.status = 'waiting'
                AND o.place_id = e.place_id AND o.number < e.number)
            ORDER BY e.number LIMIT 1""",
        queue=queue,
        now=now(),
    )
    return _event(row) if row else None


def find_next_at(tx: Transaction, queue: str) -> int | None:
    """When the next event of a queue is due, in milliseconds; None when none waits."""
    found: int | None = tx.value(
        "SELECT min(e.next_at) FROM integration_events e WHERE e.queue = :queue AND e.status = 'waiting'"
        " AND NOT EXISTS (SELECT 1 FROM integration_events o WHERE o.queue = e.queue AND o.status = 'waiting'"
        " AND o.place_id = e.place_id AND o.number < e.number)",
        queue=queue,
    )
    return found


def set_outcome(
    tx: Transaction,
    event: EventRow,
    status: str,
    *,
    logs: list[LogLine],
    error: str | None,
    next_at: int | None = None,
) -> None:
    """What became of an attempt. ``waiting`` with ``next_at``: it is tried again."""
    tx.run(
        """UPDATE integration_events SET status = :status, attempts = attempts + 1, error = :error, logs = :logs,
             next_at = :next WHERE number = :number""",
        status=status,
        error=error,
        logs=msgspec.json.encode(logs).decode(),
        next=event.next_at if next_at is None else next_at,
        number=event.number,
    )


def set_waiting(tx: Transaction, event: EventRow) -> bool:
    """Has a failed event tried once more, now; False when it did not fail for good."""
    return bool(
        tx.run(
            "UPDATE integration_events SET status = 'waiting', next_at = :now"
            " WHERE number = :number AND status = 'failed'",
            now=now(),
            number=event.number,
        )
    )


def forget_waiting(tx: Transaction, installation_id: str) -> None:
    tx.run("DELETE FROM integration_events WHERE queue = :id AND status = 'waiting'", id=installation_id)


def claim(tx: Transaction, queue: str, integration_id: str, until: int) -> bool:
    """Whether the queue is the caller's to deliver until then."""
    tx.run(
        """INSERT INTO integration_queues (queue, integration_id, claimed_until) VALUES (:queue, :integration, 0)
           ON CONFLICT (queue) DO NOTHING""",
        queue=queue,
        integration=integration_id,
    )
    return bool(
        tx.run(
            "UPDATE integration_queues SET claimed_until = :until WHERE queue = :queue AND claimed_until <= :now",
            until=until,
            queue=queue,
            now=now(),
        )
    )


def release(tx: Transaction, queue: str) -> None:
    tx.run("UPDATE integration_queues SET claimed_until = 0 WHERE queue = :queue", queue=queue)


def find_queue_owner(tx: Transaction, queue: str) -> str | None:
    """The integration whose queue this is, while anything waits in it."""
    found: str | None = tx.value(
        "SELECT integration_id FROM integration_events WHERE queue = :queue AND status = 'waiting' LIMIT 1",
        queue=queue,
    )
    return found


def prune(tx: Transaction, before: int, limit: int = 500) -> int:
    """Deletes what was done with before a moment (milliseconds); how many."""
    return tx.run(
        "DELETE FROM integration_events WHERE number IN (SELECT number FROM integration_events"
        " WHERE created_at < :before AND status <> 'waiting' ORDER BY created_at LIMIT :limit)",
        before=before,
        limit=limit,
    )
