"""Database access for event queues and the outcome of each event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Struct

from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.db.database import Row, Transaction
from octavo.kit.db.pagination import Slice, list_page
from octavo.kit.observability import tracing
from octavo.kit.secrets.sealing import sealed_column

PREVIOUS = sealed_column("deliveries", "previous", "id", sealed_as="integration_events")

Status = Literal["waiting", "success", "failed"]
Kind = Literal["integration", "webhook"]


class LogLine(Struct, frozen=True):
    message: str
    timestamp: str
    level: Literal["debug", "info", "warn", "error"]


class DeliveryRecipient(NamedTuple):
    kind: Kind
    id: str


class Delivery(Struct, frozen=True):
    """Event and its delivery. ``previous`` is encrypted. ``answered``: the HTTP status of the response to the last
    attempt, if there was a response. ``trace``: the trace ID of the request that caused the event. Times are in
    milliseconds."""

    number: int
    id: str
    recipient: DeliveryRecipient
    installation_id: str | None
    organization_id: str
    queue: str
    place_kind: str
    place_id: str
    type: str
    event: dict[str, Any]
    previous: str | None
    status: Status
    attempts: int
    next_at: int
    answered: int | None
    error: str | None
    logs: list[LogLine]
    created_at: int
    attempted_at: int | None
    trace: str | None = None


_PLAIN = Delivery.__struct_fields__[3:]
_COLUMNS = ", ".join(f"d.{name}" for name in ("number", "id", "integration_id", "webhook_id", *_PLAIN))


def _delivery(row: Row) -> Delivery:
    number, id, integration_id, webhook_id, *rest = row
    recipient = (
        DeliveryRecipient("integration", integration_id)
        if integration_id
        else DeliveryRecipient("webhook", webhook_id)
    )
    values = dict(zip(_PLAIN, rest, strict=True))
    values["event"] = msgspec.json.decode(values["event"])
    values["logs"] = msgspec.json.decode(values["logs"], type=list[LogLine])
    return Delivery(number, id, recipient, **values)


def new_delivery_id() -> str:
    return ids.new_id()


def insert(
    tx: Transaction,
    recipient: DeliveryRecipient,
    *,
    id: str,
    organization_id: str,
    type: str,
    event: Mapping[str, object],
    installation_id: str | None = None,
    place: tuple[str, str] = ("", ""),
    previous: str | None = None,
    status: Status = "waiting",
    next_at: int | None = None,
    error: str | None = None,
    logs: list[LogLine] | None = None,
) -> None:
    moment = now()
    tx.run(
        f"""INSERT INTO deliveries (id, {recipient.kind}_id, installation_id, organization_id, queue, place_kind,
             place_id, type, event, previous, status, next_at, error, logs, created_at, trace)
           VALUES (:id, :recipient, :installation, :org, :queue, :kind, :place, :type, :event, :previous, :status,
             :next, :error, :logs, :at, :trace)""",
        id=id,
        recipient=recipient.id,
        installation=installation_id,
        org=organization_id,
        queue=installation_id or recipient.id,
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
        trace=tracing.cause(),
    )


def insert_done(
    tx: Transaction,
    recipient: DeliveryRecipient,
    *,
    id: str,
    organization_id: str,
    type: str,
    event: Mapping[str, object],
    installation_id: str | None,
    place: tuple[str, str],
    error: str | None,
    logs: list[LogLine],
) -> None:
    """Insert an event that was answered immediately and was never in a queue. ``error``: the reason for the failure, if
    the event failed."""
    insert(
        tx,
        recipient,
        id=id,
        organization_id=organization_id,
        type=type,
        event=event,
        installation_id=installation_id,
        place=place,
        status="success" if error is None else "failed",
        error=error,
        logs=logs,
    )


# --- reading ------------------------------------------------------------------------------------------


def find_delivery(tx: Transaction, recipient: DeliveryRecipient, id: str) -> Delivery | None:
    row = tx.one(
        f"SELECT {_COLUMNS} FROM deliveries d WHERE d.id = :id AND d.{recipient.kind}_id = :recipient",
        id=id,
        recipient=recipient.id,
    )
    return _delivery(row) if row else None


def list_deliveries(
    tx: Transaction,
    recipient: DeliveryRecipient,
    limit: int,
    page: str | None,
    *,
    organization_id: str | None = None,
    waiting: bool = False,
    status: Status | None = None,
) -> Slice[Delivery]:
    """Return the events of a recipient, newest first.

    ``organization_id``: the organization to filter by. ``waiting``: whether to include events that haven't been
    attempted yet. ``status``: the status to filter by.
    """
    where = f"d.{recipient.kind}_id = :recipient"
    given: dict[str, Any] = {"recipient": recipient.id}
    if not waiting:
        where += " AND (d.status <> 'waiting' OR d.attempts > 0)"
    if status is not None:
        where += " AND d.status = :status"
        given["status"] = status
    if organization_id is not None:
        where += " AND d.organization_id = :org"
        given["org"] = organization_id
    return list_page(
        tx,
        limit,
        page,
        _COLUMNS,
        f"FROM deliveries d WHERE {where}",
        _delivery,
        by="d.number",
        key_types=(int,),
        descending=True,
        **given,
    )


# --- queues -------------------------------------------------------------------------------------------

_FIRST_OF_ITS_PLACE = (
    "NOT EXISTS (SELECT 1 FROM deliveries o WHERE o.queue = d.queue AND o.status = 'waiting'"
    " AND o.place_id = d.place_id AND o.number < d.number)"
)


def find_waiting(tx: Transaction, queue: str) -> Delivery | None:
    """Return the oldest pending event of a queue."""
    row = tx.one(
        f"SELECT {_COLUMNS} FROM deliveries d WHERE d.queue = :queue AND d.status = 'waiting'"
        " ORDER BY d.number LIMIT 1",
        queue=queue,
    )
    return _delivery(row) if row else None


def next_due(tx: Transaction, queue: str) -> Delivery | None:
    """Return the oldest due event that has no earlier pending event for the same place."""
    row = tx.one(
        f"""SELECT {_COLUMNS} FROM deliveries d
            WHERE d.queue = :queue AND d.status = 'waiting' AND d.next_at <= :now AND {_FIRST_OF_ITS_PLACE}
            ORDER BY d.number LIMIT 1""",
        queue=queue,
        now=now(),
    )
    return _delivery(row) if row else None


def find_next_at(tx: Transaction, queue: str) -> int | None:
    """Return the time at which the next event of a queue is due, in milliseconds; None if no event is pending."""
    found: int | None = tx.value(
        "SELECT min(d.next_at) FROM deliveries d WHERE d.queue = :queue AND d.status = 'waiting'"
        f" AND {_FIRST_OF_ITS_PLACE}",
        queue=queue,
    )
    if found is None:
        return None
    paused: int = tx.value("SELECT paused_until FROM delivery_queues WHERE queue = :queue", queue=queue) or 0
    return max(found, paused)


def set_outcome(
    tx: Transaction,
    row: Delivery,
    status: str,
    *,
    logs: list[LogLine],
    error: str | None,
    answered: int | None,
    next_at: int | None,
) -> None:
    """Record the outcome of an attempt. If the status is ``waiting``, delivery is retried at ``next_at``."""
    tx.run(
        """UPDATE deliveries SET status = :status, attempts = attempts + 1, error = :error, logs = :logs,
             answered = :answered, next_at = :next, attempted_at = :now WHERE number = :number""",
        status=status,
        error=error,
        logs=msgspec.json.encode(logs).decode(),
        answered=answered,
        next=row.next_at if next_at is None else next_at,
        now=now(),
        number=row.number,
    )


def set_waiting(tx: Transaction, row: Delivery) -> bool:
    """Schedule a finished event for immediate delivery. Return False if the event is still pending."""
    return bool(
        tx.run(
            "UPDATE deliveries SET status = 'waiting', next_at = :now"
            " WHERE number = :number AND status <> 'waiting'",
            now=now(),
            number=row.number,
        )
    )


def forget_waiting(tx: Transaction, queue: str) -> None:
    tx.run("DELETE FROM deliveries WHERE queue = :queue AND status = 'waiting'", queue=queue)


def claim(tx: Transaction, queue: str, recipient: DeliveryRecipient, until: int) -> bool:
    """Claim a queue until the given time (in milliseconds). Return False if another worker has already claimed it."""
    tx.run(
        f"""INSERT INTO delivery_queues (queue, {recipient.kind}_id, claimed_until) VALUES (:queue, :recipient, 0)
           ON CONFLICT (queue) DO NOTHING""",
        queue=queue,
        recipient=recipient.id,
    )
    return bool(
        tx.run(
            "UPDATE delivery_queues SET claimed_until = :until WHERE queue = :queue AND claimed_until <= :now",
            until=until,
            queue=queue,
            now=now(),
        )
    )


def find_claimed_until(tx: Transaction, queue: str) -> int:
    """Return the time at which the claim on a queue ends, in milliseconds; 0 if the queue isn't claimed."""
    return tx.value("SELECT claimed_until FROM delivery_queues WHERE queue = :queue", queue=queue) or 0


def release(tx: Transaction, queue: str) -> None:
    tx.run("UPDATE delivery_queues SET claimed_until = 0 WHERE queue = :queue", queue=queue)


def is_paused(tx: Transaction, queue: str) -> bool:
    found = tx.value(
        "SELECT 1 FROM delivery_queues WHERE queue = :queue AND paused_until > :now", queue=queue, now=now()
    )
    return found is not None


def pause(tx: Transaction, queue: str, first: int, longest: int) -> None:
    """Pause a queue for ``first`` milliseconds. The pause is doubled after each consecutive failure, up to
    ``longest``."""
    silences = tx.value("SELECT silences FROM delivery_queues WHERE queue = :queue", queue=queue) or 0
    tx.run(
        "UPDATE delivery_queues SET paused_until = :until, silences = silences + 1 WHERE queue = :queue",
        until=now() + min(first * 2 ** min(silences, 20), longest),
        queue=queue,
    )


def note_answer(tx: Transaction, queue: str) -> None:
    tx.run("UPDATE delivery_queues SET silences = 0 WHERE queue = :queue AND silences > 0", queue=queue)


def resume(tx: Transaction, queue: str) -> None:
    tx.run("UPDATE delivery_queues SET paused_until = 0 WHERE queue = :queue", queue=queue)


def drop_waiting(tx: Transaction, queue: str, type: str, before: int, limit: int = 500) -> int:
    """Delete events of a type that have been pending since before the given time (in milliseconds). Return the
    number of deleted events."""
    return tx.run(
        "DELETE FROM deliveries WHERE number IN (SELECT number FROM deliveries"
        " WHERE queue = :queue AND status = 'waiting' AND type = :type AND created_at < :before"
        " ORDER BY number LIMIT :limit)",
        queue=queue,
        type=type,
        before=before,
        limit=limit,
    )


def prune(tx: Transaction, before: int, limit: int = 500) -> int:
    """Delete events that were finished before the given time (in milliseconds). Return the number of deleted
    events."""
    return tx.run(
        "DELETE FROM deliveries WHERE number IN (SELECT number FROM deliveries"
        " WHERE created_at < :before AND status <> 'waiting' ORDER BY created_at LIMIT :limit)",
        before=before,
        limit=limit,
    )
