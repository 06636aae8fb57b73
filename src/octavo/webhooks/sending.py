"""From what happens to the request that says so."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ..access import audit
from ..deliveries import (
    Delivery,
    DeliveryRecipient,
    DeliveryResult,
    deliver_again,
    new_delivery_id,
    queue,
    recipient,
)
from ..errors import Conflict, OctavoError
from ..kit import outbox
from ..kit.clock import now
from ..kit.context import Context
from ..kit.db import Transaction
from ..kit.fetch import Fetcher, FetchError, Limits
from ..kit.operation import Actor
from . import store
from .events import EVENTS, TEST, describe, message
from .signing import sign
from .store import OLD_SECRET, SECRET, WebhookRow

SECONDS = 10.0
"""In which a webhook has to answer."""
_ANSWER = 64 * 1024
"""Bytes of an answer that are read; nothing is done with them but to show where it is refused."""
_SHOWN = 500
_GONE = 410


@outbox.consumer("webhooks")
def queue_event(tx: Transaction, event: outbox.Event) -> None:
    """Puts an event into the queue of every webhook that is to be told of it."""
    if event.type not in EVENTS or event.organization_id is None:
        return
    place = ("space", event.space_id) if event.space_id else ("", "")
    for webhook_id in store.list_told(tx, event.organization_id, event.type, event.created_at):
        queue(
            tx,
            DeliveryRecipient("webhook", webhook_id),
            event.organization_id,
            event.type,
            describe(event),
            id=new_delivery_id(),
            place=place,
        )


def queue_test(tx: Transaction, webhook: WebhookRow) -> str:
    """Sends an event that says nothing, now and behind no other; its delivery."""
    delivery_id = new_delivery_id()
    data = {"organizationId": webhook.organization_id, "webhookId": webhook.id}
    queue(
        tx,
        DeliveryRecipient("webhook", webhook.id),
        webhook.organization_id,
        TEST,
        message(TEST, now(), data),
        id=delivery_id,
        place=("", delivery_id),
        urgent=True,
    )
    return delivery_id


def replay(tx: Transaction, actor: Actor, row: Delivery) -> None:
    """Raises Conflict for a message that waits."""
    if not deliver_again(tx, row):
        raise Conflict("This message waits for its next attempt anyway.")
    target = ("webhook", row.recipient.id)
    audit(tx, actor, "webhook.replayed", row.organization_id, target, after={"delivery": row.id})


@recipient("webhook")
def _send(context: Context, row: Delivery) -> DeliveryResult:
    with context.db.read() as tx:
        webhook = store.get_webhook_by_id(tx, row.recipient.id)
    if webhook is None:
        return DeliveryResult(problem="the webhook was deleted", refused=True)
    if not webhook.active and row.type != TEST:
        return DeliveryResult(problem="the webhook is switched off", refused=True)
    body = msgspec.json.encode(row.event)
    try:
        signed = sign(list(_secrets(context, webhook)), row.id, now() // 1000, body)
        got = Fetcher(context.settings.allow_private_fetch, tells_trace=True).fetch(
            webhook.url,
            "POST",
            {"content-type": "application/json", "user-agent": "Octavo-Webhooks", **signed},
            body,
            Limits(size=_ANSWER, seconds=SECONDS, follow=False),
        )
    except FetchError as error:
        return DeliveryResult(problem=error.message, silent=True)
    except OctavoError as error:  # a secret whose key is missing
        return DeliveryResult(problem=error.message)
    if 200 <= got.status < 300:
        return DeliveryResult(answered=got.status)
    said = got.body[:_SHOWN].decode("utf-8", "replace")
    return DeliveryResult(
        problem=f"answered {got.status}: {said}", refused=got.status == _GONE, answered=got.status
    )


def _secrets(context: Context, webhook: WebhookRow) -> Iterator[str]:
    """Those that sign just now, the newest first."""
    yield SECRET.open(context.sealer, webhook.secret, webhook.id)
    if webhook.old_secret is not None and (webhook.overlap_until or 0) > now():
        yield OLD_SECRET.open(context.sealer, webhook.old_secret, webhook.id)
