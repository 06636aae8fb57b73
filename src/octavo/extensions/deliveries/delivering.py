"""Deliver each event at least once, in order within each space or site, and without letting one recipient delay the
others.

A recipient has one or more queues. A job delivers events from one queue for a short time, and then gives other
queues a turn. Failed deliveries are retried for three days with increasing delays. After that, the event is marked
as failed, and later events are delivered. If a recipient doesn't respond at all, all deliveries to it are paused
for a while."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Mapping

import msgspec
from msgspec import Struct

from octavo.core.json_types import JsonObject
from octavo.kit.clock import DAY, HOUR, now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.observability import tracing
from octavo.kit.secrets.sealing import Sealer
from octavo.kit.work.jobs import advance, enqueue, job, run_parts, schedule

from . import store
from .store import PREVIOUS, Delivery, DeliveryRecipient, LogLine

log = logging.getLogger(__name__)

KEEP_TRYING = 3 * DAY
"""Time in milliseconds for which a failed event is retried."""
FIRST_RETRY = 5_000
"""Time in milliseconds before the first retry. The time doubles with each further retry."""
LONGEST_RETRY = HOUR
LONGEST_PAUSE = 60_000
"""Maximum time in milliseconds for which deliveries to an unresponsive recipient are paused."""
ROUND = 10.0
"""Number of seconds after which other queues get a turn."""
_CLAIM = 120_000
"""Time in milliseconds after which another worker takes over a queue whose worker has died."""


class DeliveryResult(Struct, frozen=True, kw_only=True):
    """Outcome of an attempt.

    ``problem``: the reason for the failure; None if the event was delivered. ``refused``: whether the recipient
    rejected the event, so that it isn't retried. ``silent``: whether the recipient didn't respond at all.
    ``answered``: the HTTP status of the recipient's response."""

    problem: str | None = None
    refused: bool = False
    silent: bool = False
    answered: int | None = None
    logs: list[LogLine] = []


Attempt = Callable[[Context, Delivery], DeliveryResult]
_attempts: dict[str, Attempt] = {}
_worth: dict[str, int] = {}
"""Time in milliseconds after which pending events are dropped, by type. Events of other types are never dropped."""


def recipient(kind: str) -> Callable[[Attempt], Attempt]:
    """Register the function that delivers events to one kind of recipient. The function must not raise errors."""

    def register(attempt: Attempt) -> Attempt:
        if kind in _attempts:
            raise ValueError(f"{kind!r} has two delivery functions")
        _attempts[kind] = attempt
        return attempt

    return register


def drop_after(type: str, milliseconds: int) -> None:
    """Register a frequent event type whose events soon become useless. Events that have been pending for longer
    than the given time are dropped, so that they don't accumulate for an unresponsive recipient."""
    _worth[type] = milliseconds


def queue(
    tx: Transaction,
    recipient: DeliveryRecipient,
    organization_id: str,
    type: str,
    event: Mapping[str, object],
    *,
    id: str,
    installation_id: str | None = None,
    place: tuple[str, str] = ("", ""),
    previous: tuple[Sealer, JsonObject] | None = None,
    after: int = 0,
    urgent: bool = False,
) -> None:
    """Queue an event for a recipient, or for one of its installations.

    ``place``: the kind and ID of a space or site. Events with the same place are delivered in order. ``previous``:
    the installation before a change. It is encrypted, because it may contain credentials. ``after``: the delay in
    milliseconds. ``urgent``: whether to end any pause in deliveries to an unresponsive recipient."""
    sealed = None
    if previous is not None:
        sealer, was = previous
        sealed = PREVIOUS.seal(sealer, msgspec.json.encode(was).decode(), id)
    store.insert(
        tx,
        recipient,
        id=id,
        installation_id=installation_id,
        organization_id=organization_id,
        type=type,
        event=event,
        place=place,
        previous=sealed,
        next_at=now() + after,
    )
    name = installation_id or recipient.id
    if urgent:
        store.resume(tx, name)
    _wake(tx, name, organization_id, now() + after if after else None)


def deliver_again(tx: Transaction, row: Delivery) -> bool:
    """Redeliver an event that was delivered or that failed permanently. Return False if the event is still pending."""
    if not store.set_waiting(tx, row):
        return False
    store.resume(tx, row.queue)
    _wake(tx, row.queue, row.organization_id)
    return True


def _wake(tx: Transaction, queue: str, organization_id: str, run_at: int | None = None) -> None:
    key = f"delivery:{queue}" if run_at is None else f"delivery:{queue}:{run_at // 1000}"
    enqueue(tx, "deliverEvents", organization=organization_id, key=key, run_at=run_at, queue=queue)


@job("deliverEvents", bound=None, seconds=60, waits=True)
def deliver(context: Context, queue: str) -> None:
    """Deliver the due events of a queue for a short time."""
    until = time.monotonic() + ROUND
    _drop_old(context, queue)
    with context.db.write() as tx:
        first = store.find_waiting(tx, queue)
        if first is None:
            return
        if not store.claim(tx, queue, first.recipient, now() + _CLAIM):
            # The worker that is delivering the event may have died. Check again as soon as that is certain.
            _wake(tx, queue, first.organization_id, store.find_claimed_until(tx, queue))
            return
    try:
        while time.monotonic() < until:
            with context.db.read() as tx:
                row = None if store.is_paused(tx, queue) else store.next_due(tx, queue)
            if row is None or not _attempt(context, row):
                break
    finally:
        with context.db.write() as tx:
            store.release(tx, queue)
            due = store.find_next_at(tx, queue)
            if due is not None:
                _wake(tx, queue, first.organization_id, due if due > now() else None)


def _drop_old(context: Context, queue: str) -> None:
    for type, milliseconds in _worth.items():
        dropped, last = 0, 1
        while last:
            with context.db.write() as tx:
                last = store.drop_waiting(tx, queue, type, now() - milliseconds)
                advance(tx)
            dropped += last
        if dropped:
            log.warning("events dropped", extra={"queue": queue, "type": type, "count": dropped})


def _hand_over(context: Context, row: Delivery) -> DeliveryResult:
    with tracing.part(
        f"deliver {row.type}",
        "producer",
        {
            "octavo.delivery.id": row.id,
            "octavo.delivery.attempt": row.attempts + 1,
            f"octavo.{row.recipient.kind}.id": row.recipient.id,
        },
        causes=[row.trace],
    ) as span:
        result = _attempts[row.recipient.kind](context, row)
        if span is not None and result.problem is not None:
            span.fail(str(result.answered or "unanswered"))
        return result


def _attempt(context: Context, row: Delivery) -> bool:
    """Deliver one event and record the outcome. Return whether the next event can be attempted now."""
    result = _hand_over(context, row)
    problem = None if result.problem is None else result.problem[:2000].replace("\0", "")
    status, next_at = "success", None
    if problem is not None:
        if result.refused or now() - row.created_at >= KEEP_TRYING:
            status = "failed"
        else:
            delay = min(FIRST_RETRY * 2 ** min(row.attempts, 20), LONGEST_RETRY)
            status, next_at = "waiting", now() + int(delay * random.uniform(0.5, 1))  # noqa: S311 - spreads
    with context.db.write() as tx:
        store.set_outcome(
            tx, row, status, logs=result.logs, error=problem, answered=result.answered, next_at=next_at
        )
        if result.silent:
            store.pause(tx, row.queue, FIRST_RETRY, LONGEST_PAUSE)
        else:
            store.note_answer(tx, row.queue)
    if status == "failed" and not result.refused:
        parked = {"recipient": row.recipient, "id": row.id, "type": row.type, "error": problem}
        log.error("event failed permanently", extra=parked)
    return problem is None or result.refused


@job("pruneDeliveries", bound=None, seconds=600)
def prune(context: Context) -> None:
    """Delete delivered events that are older than the retention period."""
    before = now() - context.settings.event_days * DAY
    run_parts(context.db, lambda tx: store.prune(tx, before))


schedule("pruneDeliveries", 3600, "pruneDeliveries")
