"""Events on their way to integrations: at least once, in order for each space or site, and no integration in the way
of another.

Each installation has a queue of its own, delivered by a job that does a little and makes room for others. An event that
fails is tried again, later each time, for three days; then it is parked as failed, and those behind it go on.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
import structlog

from ..access import audit
from ..errors import Conflict, OctavoError
from ..kit import outbox
from ..kit.clock import now
from ..kit.context import Context
from ..kit.db import Transaction
from ..kit.jobs import enqueue, job, schedule
from ..kit.operation import Call
from ..kit.sealing import Sealer
from ..runtime import Answer, ScriptFailed
from . import event_store, store
from .event_store import PREVIOUS, EventRow
from .invoking import Outcome, find_subject, invoke
from .store import InstallationRow, IntegrationRow

log = structlog.get_logger()

KEEP_TRYING = 3 * 86_400_000
"""Milliseconds for which an event that fails is tried again."""
FIRST_RETRY = 5_000
"""Milliseconds, doubled with every further attempt."""
LONGEST_RETRY = 3_600_000
ROUND = 10.0
"""Seconds after which a queue makes room for others."""
_CLAIM = 120_000
"""Milliseconds after which the queue of a worker that died is delivered by another."""
_NOT_HANDLED = 406


class _Told(NamedTuple):
    """How an event of ours becomes one of integrations: the scope that asks for it, the kind of place it is about, and
    its fields, of our payload."""

    scope: str
    kind: str
    fields: Callable[[dict[str, Any]], dict[str, Any]]


def _as_they_are(payload: dict[str, Any]) -> dict[str, Any]:
    return payload


TOLD = {
    "space_content_updated": _Told(
        "space:content:read", "space", lambda payload: {"revisionId": payload["revision"]}
    ),
    "space_gitsync_started": _Told("space:git:sync", "space", _as_they_are),
    "space_gitsync_completed": _Told("space:git:sync", "space", _as_they_are),
    "space_visibility_updated": _Told("space:metadata:read", "space", _as_they_are),
    "site_view": _Told("site:views:read", "site", _as_they_are),
    "page_feedback": _Told("page:feedback:read", "site", _as_they_are),
}


@outbox.consumer("integrations")
def queue_event(tx: Transaction, event: outbox.Event) -> None:
    """Puts an event into the queue of every installation that is to be told of it."""
    told = TOLD.get(event.type)
    if told is None or event.organization_id is None:
        return
    payload = dict(event.payload)
    place_id = event.space_id if told.kind == "space" else payload.pop("siteId", None)
    if place_id is None:
        return
    fields = {f"{told.kind}Id": place_id, **told.fields(payload)}
    for installation_id, integration_id in store.list_told(
        tx, event.organization_id, told.kind, place_id, told.scope, event.created_at
    ):
        queue(
            tx,
            integration_id,
            installation_id,
            event.organization_id,
            event.type,
            fields,
            place=(told.kind, place_id),
        )


def queue(
    tx: Transaction,
    integration_id: str,
    installation_id: str | None,
    organization_id: str,
    type: str,
    fields: dict[str, Any],
    *,
    place: tuple[str, str] = ("", ""),
    previous: tuple[Sealer, dict[str, Any]] | None = None,
    after: int = 0,
) -> None:
    """Puts an event into a queue. ``previous``: how an installation was; it may hold credentials, and is sealed.
    ``after``: milliseconds for it to wait."""
    event_id = event_store.new_event_id()
    event = {"eventId": event_id, "type": type, **fields}
    if installation_id is not None:
        event["installationId"] = installation_id
    sealed = None
    if previous is not None:
        sealer, was = previous
        sealed = PREVIOUS.seal(sealer, msgspec.json.encode(was).decode(), event_id)
    event_store.insert_event(
        tx,
        id=event_id,
        integration_id=integration_id,
        installation_id=installation_id,
        organization_id=organization_id,
        type=type,
        event=event,
        # A task waits for no other.
        place=place if type != "task" else ("", event_id),
        previous=sealed,
        next_at=now() + after,
    )
    _wake(tx, installation_id or integration_id, organization_id, now() + after if after else None)


def announce(
    tx: Transaction,
    sealer: Sealer,
    row: InstallationRow,
    type: str,
    fields: dict[str, Any],
    *,
    place: tuple[str, str] = ("", ""),
    previous: dict[str, Any] | None = None,
) -> None:
    """That an installation was set up or removed, or one at a place."""
    was = None if previous is None else (sealer, previous)
    queue(tx, row.integration_id, row.id, row.organization_id, type, fields, place=place, previous=was)


def set_tunnel(call: Call, row: IntegrationRow, url: str | None, all: bool) -> None:
    """Begins development mode, or ends it (``url`` None)."""
    with call.db.write() as tx:
        store.set_tunnel(tx, row.id, url, all)
        action = "integration.development_begun" if url else "integration.development_ended"
        after = {"tunnelUrl": url, "all": all} if url else None
        audit(tx, call, action, row.organization_id, ("integration", row.name), after=after)


def _wake(tx: Transaction, queue: str, organization_id: str, run_at: int | None = None) -> None:
    key = f"integration:{queue}" if run_at is None else f"integration:{queue}:{run_at // 1000}"
    enqueue(tx, "deliverIntegrationEvents", organization=organization_id, key=key, run_at=run_at, queue=queue)


def open_event(context: Context, row: EventRow) -> dict[str, Any]:
    """An event as the script is told."""
    if row.previous is None:
        return row.event
    was = msgspec.json.decode(PREVIOUS.open(context.sealer, row.previous, row.id))
    return {**row.event, "previous": was}


@job("deliverIntegrationEvents", seconds=60)
def deliver(context: Context, queue: str) -> None:
    """Delivers what is due in a queue, for a little while."""
    until = time.monotonic() + ROUND
    with context.db.write() as tx:
        integration_id = event_store.find_queue_owner(tx, queue)
        if integration_id is None:
            return
        integration = store.get_integration_by_id(tx, integration_id)
        if not event_store.claim(tx, queue, integration_id, now() + _CLAIM):
            # Whoever delivers it now may have died: look again when that is certain.
            _wake(tx, queue, integration.organization_id, now() + _CLAIM)
            return
    try:
        while time.monotonic() < until:
            with context.db.read() as tx:
                row = event_store.next_event(tx, queue)
            if row is None or not _attempt(context, row):
                break
    finally:
        with context.db.write() as tx:
            event_store.release(tx, queue)
            due = event_store.find_next_at(tx, queue)
            if due is not None:
                _wake(tx, queue, integration.organization_id, due if due > now() else None)


ANSWERED = ("fetch", "ui_render")
"""Events that somebody waited for: nobody waits any more when they are delivered again."""


def redeliver(tx: Transaction, call: Call, integration: IntegrationRow, row: EventRow) -> None:
    """Delivers a parked event once more. Raises Conflict for one that is not parked, or that somebody waited for."""
    if row.type in ANSWERED:
        raise Conflict(f"An event {row.type!r} is answered to whoever waits: ask again.")
    if not event_store.set_waiting(tx, row):
        raise Conflict("This event has not failed for good: there is nothing to deliver again.")
    _wake(tx, row.queue, row.organization_id)
    target = ("integration", integration.name)
    audit(tx, call, "integration.redelivered", row.organization_id, target, after={"event": row.id})


def _attempt(context: Context, row: EventRow) -> bool:
    """Hands over one event and notes what became of it; whether the script is well."""
    found: list[Outcome] = []
    answer: Answer | None = None
    problem: str | None = None
    with context.db.read() as tx:
        subject = find_subject(tx, row.integration_id, row.installation_id, row.place_kind, row.place_id)
    try:
        answer = invoke(context, subject, open_event(context, row), found.append, wait=True)
    except (ScriptFailed, OctavoError) as error:
        problem = str(error)
    outcome = found[0] if found else Outcome([], None)
    if answer is not None and answer.status >= 400 and answer.status != _NOT_HANDLED:
        said = answer.body[:500].decode("utf-8", "replace").replace("\0", "")
        problem = f"answered {answer.status}: {said}"
    problem = outcome.problem or problem
    with context.db.write() as tx:
        if problem is None:
            event_store.set_outcome(tx, row, "success", logs=outcome.logs, error=None)
            return True
        refused = answer is not None and 400 <= answer.status < 500 and answer.status != 429
        if refused or now() - row.created_at >= KEEP_TRYING:
            event_store.set_outcome(tx, row, "failed", logs=outcome.logs, error=problem[:2000])
        else:
            delay = min(FIRST_RETRY * 2 ** min(row.attempts, 20), LONGEST_RETRY)
            again = now() + int(delay * random.uniform(0.5, 1))  # noqa: S311 - spreads, hides nothing
            event_store.set_outcome(
                tx, row, "waiting", logs=outcome.logs, error=problem[:2000], next_at=again
            )
            return False
    if not refused:
        log.error(
            "event parked", integration=subject.integration.name, id=row.id, type=row.type, error=problem
        )
    return refused


def record(
    context: Context,
    integration_id: str,
    installation_id: str | None,
    organization_id: str,
    event: dict[str, Any],
    outcome: Outcome,
    place: tuple[str, str] = ("", ""),
) -> None:
    """Notes an event that somebody waited for, such as a request to a public endpoint."""
    with context.db.write() as tx:
        if store.is_there(tx, integration_id):
            event_store.insert_event(
                tx,
                id=event["eventId"],
                integration_id=integration_id,
                installation_id=installation_id,
                organization_id=organization_id,
                type=event["type"],
                event=_without_credentials(event),
                place=place,
                status="success" if outcome.problem is None else "failed",
                error=None if outcome.problem is None else outcome.problem[:2000],
                logs=outcome.logs,
            )


_CREDENTIALS = frozenset({"authorization", "cookie", "proxy-authorization"})


def _without_credentials(event: dict[str, Any]) -> dict[str, Any]:
    request = event.get("request")
    if request is None:
        return event
    headers = {
        name: "[secret]" if name in _CREDENTIALS else value for name, value in request["headers"].items()
    }
    return {**event, "request": {**request, "headers": headers}}


@job("pruneIntegrationEvents", seconds=600)
def prune(context: Context) -> None:
    """Deletes what was delivered, past the time that events are kept for."""
    before = now() - context.settings.event_days * 86_400_000
    while True:
        with context.db.write() as tx:
            if not event_store.prune(tx, before):
                return


schedule("pruneIntegrationEvents", 3600, "pruneIntegrationEvents")
