"""Events, each of which is a row that describes a change and is written in the same transaction as the change.
Consumers read events, each with its own cursor.

A handler runs in the transaction that advances its consumer's cursor, so its writes (mostly jobs) happen once for each
event, in the order of the events' IDs. An event whose handler fails doesn't block other events: it becomes a job that
is retried. If the job keeps failing, it is parked for a server administrator. Events are kept for the time in the
setting ``event_days``, and until every consumer has passed them.

PostgreSQL assigns IDs before transactions commit, so a lower ID may appear after a higher one. If there are no gaps
between the IDs, no event is missing. A gap belongs to a transaction that is still writing, or to a transaction that
was rolled back. When all transactions that were writing events have ended, the gap must belong to a transaction
that was rolled back.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import takewhile
from typing import NamedTuple

import msgspec

from octavo.core.json_types import JsonObject
from octavo.kit.clock import DAY, now
from octavo.kit.context import Context
from octavo.kit.db.database import Database, RetryTransaction, Row, Transaction, json_list
from octavo.kit.db.tables import Table, declare
from octavo.kit.observability import tracing

from . import jobs

declare(*(Table(name=name, stays="the server's own") for name in ("events", "event_cursors")))

log = logging.getLogger(__name__)


class Event(NamedTuple):
    """Event in the outbox. ``payload``: IDs and a version number. ``created_at``: the time in milliseconds.
    ``trace``: the trace of its cause."""

    id: int
    type: str
    organization_id: str | None
    space_id: str | None
    payload: JsonObject
    created_at: int
    trace: str | None = None


Handler = Callable[[Transaction, Event], None]

_MOST_MISSING = 50
"""Maximum number of missing IDs in a position. Earlier IDs are ignored."""


class OutboxPosition(NamedTuple):
    """Position up to which a client was notified: all events up to the ID ``last``, except for those in
    ``missing``, which weren't visible yet."""

    last: int
    missing: tuple[int, ...] = ()

    def __str__(self) -> str:
        """Return the position as text, which clients store and ``read_position`` parses."""
        return "-".join(map(str, (self.last, *self.missing)))


_POSITION = re.compile(rf"\d{{1,18}}(-\d{{1,18}}){{0,{_MOST_MISSING}}}", re.ASCII)


def read_position(text: str) -> OutboxPosition | None:
    """Parse a position; return None for any other text."""
    if _POSITION.fullmatch(text) is None:
        return None
    last, *missing = map(int, text.split("-"))
    return OutboxPosition(last, tuple(missing))


_TOGETHER = 24
"""Maximum number of events that consumers handle together in one transaction. An event counts once for each consumer
that handles it."""
_COLUMNS = "id, type, organization_id, space_id, payload, created_at, trace"
_consumers: dict[str, Handler] = {}


class _HandlerFailed(Exception):
    def __init__(self, consumer: str, event: Event) -> None:
        self.consumer, self.event = consumer, event


def emit(
    tx: Transaction,
    type: str,
    *,
    organization_id: str | None = None,
    space_id: str | None = None,
    **payload: object,
) -> None:
    """Add an event to the transaction. The consumers of this process wake up after the transaction commits."""
    tx.insert(
        "events",
        type=type,
        organization_id=organization_id,
        space_id=space_id,
        payload=msgspec.json.encode(payload).decode(),
        created_at=now(),
        trace=tracing.cause(),
    )
    tx.after_commit(jobs.wake)


def consumer(name: str) -> Callable[[Handler], Handler]:
    """Register ``handler(tx, event)``, which workers call with every event, starting with the oldest stored event.

    The handler must be brief, and use only the database. Slow work, and work outside the process, must be enqueued
    as a job.
    """

    def register(handler: Handler) -> Handler:
        if name in _consumers:
            raise ValueError(f"two consumers have the name {name!r}")
        _consumers[name] = handler
        return handler

    return register


@jobs.feeder
def deliver(database: Database) -> bool:
    """Let each registered consumer process a batch, and return whether there were any events."""
    with database.read() as tx:
        # Usually no consumer is behind, which takes two queries, regardless of the number of consumers.
        last = tx.value("SELECT id FROM events ORDER BY id DESC LIMIT 1") or 0
        cursors: dict[str, int] = dict(tx.all("SELECT consumer, event_id FROM event_cursors"))
    behind: dict[int, dict[str, Handler]] = {}
    for name, handler in _consumers.items():
        if (cursor := cursors.get(name, 0)) < last:
            behind.setdefault(cursor, {})[name] = handler
    handled = 0
    for cursor, consumers in behind.items():
        is_short = (last - cursor) * len(consumers) <= _TOGETHER
        for group in [consumers] if is_short else [{name: consumers[name]} for name in consumers]:
            try:
                handled += consume(database, group)
            except RetryTransaction:
                handled += 1
    return handled > 0


def consume(database: Database, consumers: Mapping[str, Handler], limit: int = 200) -> int:
    """Pass the next events to consumers that are at the same event, advance their cursors, and return the number of
    events. The consumers share one transaction, because each transaction requires a turn to write and a disk flush.

    Only one worker at a time does this for a consumer. Other workers return immediately.
    """
    with database.read() as tx:
        cursor = min(_cursor(tx, name) or 0 for name in consumers)
        ids = [
            id
            for (id,) in tx.all(
                "SELECT id FROM events WHERE id > :cursor ORDER BY id LIMIT :limit",
                cursor=cursor,
                limit=limit,
            )
        ]
    if not ids:
        return 0
    if ids[-1] - cursor != len(ids):
        with database.write() as tx:
            tx.wait_for_writers("events")
    failed: set[tuple[str, int]] = set()
    while True:
        try:
            with database.write() as tx:
                return max(
                    [_hand_over(tx, name, handler, ids[-1], failed) for name, handler in consumers.items()]
                )
        except _HandlerFailed as failure:
            event = {"consumer": failure.consumer, "id": failure.event.id}
            log.warning("event failed", extra=event, exc_info=failure.__cause__)
            failed.add((failure.consumer, failure.event.id))


def latest_events(tx: Transaction, limit: int) -> list[tuple[Event, OutboxPosition]]:
    """Return the latest events, oldest first, each with the position after it."""
    rows = tx.all(f"SELECT {_COLUMNS} FROM events ORDER BY id DESC LIMIT :limit", limit=limit)[::-1]
    return list(_placed(rows, OutboxPosition(rows[0][0] - 1))) if rows else []


def events_after(tx: Transaction, position: OutboxPosition, limit: int) -> list[tuple[Event, OutboxPosition]]:
    """Return the next events after a position, each with the position after it. Events that the position lists as
    missing come first. ``limit``: the maximum number of events in addition to these."""
    late = (
        tx.all(
            f"SELECT {_COLUMNS} FROM events WHERE id {tx.among('missing', 'BIGINT')} ORDER BY id",
            missing=json_list(position.missing),
        )
        if position.missing
        else []
    )
    rows = tx.all(
        f"SELECT {_COLUMNS} FROM events WHERE id > :last ORDER BY id LIMIT :limit",
        last=position.last,
        limit=limit,
    )
    return list(_placed([*late, *rows], position))


def _placed(rows: list[Row], position: OutboxPosition) -> Iterator[tuple[Event, OutboxPosition]]:
    last, missing = position
    for row in rows:
        if row[0] <= last:
            missing = tuple(id for id in missing if id != row[0])
        else:
            gap = range(max(last + 1, row[0] - _MOST_MISSING), row[0])
            last, missing = row[0], (*missing, *gap)[-_MOST_MISSING:]
        yield _event(row), OutboxPosition(last, missing)


def prune(tx: Transaction, before: int, limit: int = 500) -> int:
    """Delete the oldest events that were created before ``before`` (milliseconds) and that every consumer has
    passed, at most ``limit`` of them, and return the number of deleted events."""
    passed = [_cursor(tx, name) or 0 for name in _consumers]
    rows = tx.all("SELECT id, created_at FROM events ORDER BY id LIMIT :limit", limit=limit)
    old = list(takewhile(lambda row: row[1] < before and all(row[0] <= cursor for cursor in passed), rows))
    if old:
        tx.run("DELETE FROM events WHERE id <= :last", last=old[-1][0])
    return len(old)


def count_waiting(tx: Transaction) -> dict[str, int]:
    """Return, by consumer, the number of events that the consumer hasn't passed yet."""
    return {
        name: tx.value("SELECT count(*) FROM events WHERE id > :cursor", cursor=_cursor(tx, name) or 0)
        for name in _consumers
    }


@jobs.job("pruneEvents", bound=None, seconds=600)
def prune_events(context: Context) -> None:
    """Delete events older than the retention time, in small transactions."""
    before = now() - context.settings.event_days * DAY
    jobs.run_parts(context.db, lambda tx: prune(tx, before))


jobs.schedule("pruneEvents", 3600, "pruneEvents")


def _hand_over(tx: Transaction, name: str, handler: Handler, upto: int, failed: set[tuple[str, int]]) -> int:
    tx.run(
        "INSERT INTO event_cursors (consumer, event_id) VALUES (:name, 0) ON CONFLICT (consumer) DO NOTHING",
        name=name,
    )
    cursor = _cursor(tx, name, tx.skip_locked)
    if cursor is None or cursor >= upto:
        return 0
    rows = tx.all(
        f"SELECT {_COLUMNS} FROM events WHERE id > :cursor AND id <= :upto ORDER BY id",
        cursor=cursor,
        upto=upto,
    )
    for event in map(_event, rows):
        with tracing.caused_by(event.trace):
            if (name, event.id) in failed:
                organization = event.organization_id
                jobs.enqueue(
                    tx, "deliverEvent", organization=organization, consumer=name, event=event._asdict()
                )
                continue
            try:
                handler(tx, event)
            except Exception as error:
                raise _HandlerFailed(name, event) from error
    tx.run("UPDATE event_cursors SET event_id = :upto WHERE consumer = :name", upto=upto, name=name)
    return len(rows)


@jobs.job("deliverEvent", bound="one event")
def _deliver_again(context: Context, consumer: str, event: JsonObject) -> None:
    with context.db.write() as tx:
        _consumers[consumer](tx, Event(**event))
        jobs.finish(tx)


def _cursor(tx: Transaction, name: str, lock: str = "") -> int | None:
    found: int | None = tx.value(
        "SELECT event_id FROM event_cursors WHERE consumer = :name" + lock, name=name
    )
    return found


def _event(row: Row) -> Event:
    return Event(row[0], row[1], row[2], row[3], msgspec.json.decode(row[4]), row[5], row[6])
