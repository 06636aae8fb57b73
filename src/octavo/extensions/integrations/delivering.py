"""Events that integrations receive, and the delivery of these events. The queue itself is in the ``deliveries``
package."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

from octavo.content.revisions.computing import notify_dependency_changed
from octavo.core.json_types import JsonObject
from octavo.errors import Conflict, OctavoError, Unavailable
from octavo.extensions.deliveries.delivering import DeliveryResult, deliver_again, drop_after, recipient
from octavo.extensions.deliveries.delivering import queue as queue_delivery
from octavo.extensions.deliveries.store import (
    PREVIOUS,
    Delivery,
    DeliveryRecipient,
    insert_done,
    new_delivery_id,
)
from octavo.kit.clock import HOUR
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor
from octavo.kit.runtime.process import ScriptAnswer, ScriptError, ScriptFailed
from octavo.kit.secrets.sealing import Sealer
from octavo.kit.work import outbox
from octavo.organization.access.auditing import audit
from octavo.sites.site.store import touch_sites

from . import store
from .active import sees
from .invoking import ScriptOutcome, find_subject, invoke
from .ordering import order_for
from .store import InstallationRow, IntegrationRow

_NOT_HANDLED = 406
VIEWS_WAIT = HOUR
"""Time in milliseconds after which page views are no longer delivered to an unresponsive script. The time is limited
because there can be many page views."""
drop_after("site_view", VIEWS_WAIT)


class _EventMapping(NamedTuple):
    """Mapping of an Octavo event to an integration event: the scope that an integration needs in order to receive
    the event, the kind of object (a space or a site), and the fields, which are created from the payload."""

    scope: str
    kind: str
    fields: Callable[[dict[str, Any]], dict[str, Any]]


def _as_they_are(payload: JsonObject) -> JsonObject:
    return payload


EVENT_MAPPINGS = {
    "space_content_updated": _EventMapping(
        "space:content:read", "space", lambda payload: {"revisionId": payload["revision"]}
    ),
    "space_gitsync_started": _EventMapping("space:git:sync", "space", _as_they_are),
    "space_gitsync_completed": _EventMapping("space:git:sync", "space", _as_they_are),
    "site_view": _EventMapping("site:views:read", "site", _as_they_are),
    "page_feedback": _EventMapping("page:feedback:read", "site", _as_they_are),
}


@outbox.consumer("integrations")
def queue_event(tx: Transaction, event: outbox.Event) -> None:
    """Queue an event for every installation that receives it. An installation on all spaces receives the events of
    the spaces that its account can see."""
    mapping = EVENT_MAPPINGS.get(event.type)
    if mapping is None or event.organization_id is None:
        return
    payload = dict(event.payload)
    place_id = event.space_id if mapping.kind == "space" else payload.pop("siteId", None)
    if place_id is None:
        return
    fields = {f"{mapping.kind}Id": place_id, **mapping.fields(payload)}
    for installation_id, integration_id, user_id in store.list_recipients(
        tx, event.organization_id, mapping.kind, place_id, mapping.scope, event.created_at
    ):
        if mapping.kind == "space" and not sees(tx, event.organization_id, place_id, user_id):
            continue
        queue(
            tx,
            integration_id,
            installation_id,
            event.organization_id,
            event.type,
            fields,
            place=(mapping.kind, place_id),
        )


def queue(
    tx: Transaction,
    integration_id: str,
    installation_id: str | None,
    organization_id: str,
    type: str,
    fields: Mapping[str, object],
    *,
    place: tuple[str, str] = ("", ""),
    previous: tuple[Sealer, JsonObject] | None = None,
    after: int = 0,
) -> None:
    """Queue an event.

    ``previous``: the installation before the change. It is encrypted, because it may contain credentials.
    ``after``: the delay in milliseconds.
    """
    event_id = new_delivery_id()
    event = {"eventId": event_id, "type": type, **fields}
    if installation_id is not None:
        event["installationId"] = installation_id
    queue_delivery(
        tx,
        DeliveryRecipient("integration", integration_id),
        organization_id,
        type,
        event,
        id=event_id,
        installation_id=installation_id,
        # Tasks are independent of each other.
        place=place if type != "task" else ("", event_id),
        previous=previous,
        after=after,
    )


def announce(
    tx: Transaction,
    sealer: Sealer,
    row: InstallationRow,
    type: str,
    fields: JsonObject,
    *,
    place: tuple[str, str] = ("", ""),
    previous: JsonObject | None = None,
) -> None:
    """Queue the event for the creation or removal of an installation in an organization, on a space, or on a site,
    and schedule the computation of its pages."""
    notify_dependency_changed(tx, row.organization_id)
    touch_sites(tx, row.organization_id)
    was = None if previous is None else (sealer, previous)
    queue(tx, row.integration_id, row.id, row.organization_id, type, fields, place=place, previous=was)


def set_tunnel(context: Context, actor: Actor, row: IntegrationRow, url: str | None, all: bool) -> None:
    """Set the development mode URL; None turns development mode off."""
    with context.db.write() as tx:
        store.set_tunnel(tx, row.id, url, all)
        order_for(tx, row)
        action = "integration.development_begun" if url else "integration.development_ended"
        after = {"tunnelUrl": url, "all": all} if url else None
        audit(tx, actor, action, row.organization_id, ("integration", row.name), after=after)


def open_event(context: Context, row: Delivery) -> JsonObject:
    """Return an event in the format that scripts receive."""
    if row.previous is None:
        return row.event
    was = msgspec.json.decode(PREVIOUS.open(context.sealer, row.previous, row.id))
    return {**row.event, "previous": was}


ANSWERED = (
    "fetch",
    "ui_render",
    "fetch_published_script",
    "fetch_visitor_authentication",
    "content_compute_revision",
    "content_compute_document",
)
"""Types of events that are answered immediately. They aren't redelivered, because nothing is waiting for the
response."""


def redeliver(tx: Transaction, actor: Actor, integration: IntegrationRow, row: Delivery) -> None:
    """Redeliver a failed event. Raises Conflict if the event hasn't failed, or if it was answered immediately."""
    if row.type in ANSWERED:
        raise Conflict(
            f"Events of type {row.type} are answered immediately and can't be delivered again. Repeat the request"
            " instead."
        )
    if row.status != "failed" or not deliver_again(tx, row):
        raise Conflict("This event can't be delivered again, because its delivery hasn't failed.")
    target = ("integration", integration.name)
    audit(tx, actor, "integration.redelivered", row.organization_id, target, after={"event": row.id})


@recipient("integration")
def _hand_over(context: Context, row: Delivery) -> DeliveryResult:
    """Send an event to a script. If the script hangs or can't be reached, deliveries to it are paused for a
    while."""
    found: list[ScriptOutcome] = []
    answered: int | None = None
    problem: str | None = None
    silent = False
    with context.db.read() as tx:
        subject = find_subject(tx, row.recipient.id, row.installation_id, row.place_kind, row.place_id)
    if subject is None:
        return DeliveryResult(problem="the integration was unpublished", refused=True)
    try:
        answer = invoke(context, subject, open_event(context, row), found.append, wait=True)
    except (ScriptFailed, OctavoError) as error:
        problem, silent = str(error), not isinstance(error, (ScriptError, Unavailable))
    else:
        answered = answer.status
        problem = problem_in(row.type, answer)
    outcome = found[0] if found else ScriptOutcome([], None)
    return DeliveryResult(
        problem=outcome.problem or problem,
        refused=answered is not None and 400 <= answered < 500 and answered not in (_NOT_HANDLED, 429),
        silent=silent,
        answered=answered,
        logs=outcome.logs,
    )


def problem_in(type: str, answer: ScriptAnswer) -> str | None:
    """Return the problem with a response; None if the script handled the event.

    The script library responds with 500 if a script threw an error. At a public endpoint, no other status is a problem,
    because the script chose it.
    """
    if answer.status < 400 or answer.status == _NOT_HANDLED or (type == "fetch" and answer.status < 500):
        return None
    if type == "ui_render" and answer.status == 404:
        return None
    body = answer.body[:500].decode("utf-8", "replace")
    return f"returned {answer.status}: {body}"


def record(
    context: Context,
    integration_id: str,
    installation_id: str | None,
    organization_id: str,
    event: JsonObject,
    outcome: ScriptOutcome,
    place: tuple[str, str] = ("", ""),
) -> None:
    """Record an event that was answered immediately, such as a request to a public endpoint."""
    with context.db.write() as tx:
        if store.lock_integration(tx, integration_id):
            insert_done(
                tx,
                DeliveryRecipient("integration", integration_id),
                id=event["eventId"],
                organization_id=organization_id,
                type=event["type"],
                event=_without_credentials(event),
                installation_id=installation_id,
                place=place,
                error=None if outcome.problem is None else outcome.problem[:2000],
                logs=outcome.logs,
            )


_CREDENTIALS = frozenset({"authorization", "cookie", "proxy-authorization"})


def _without_credentials(event: JsonObject) -> JsonObject:
    request = event.get("request")
    if request is None:
        return event
    headers = {
        name: "[secret]" if name in _CREDENTIALS else value for name, value in request["headers"].items()
    }
    return {**event, "request": {**request, "headers": headers}}
