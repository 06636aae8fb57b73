"""Queue events for webhooks, and send them as HTTP requests."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from octavo.errors import Conflict, OctavoError
from octavo.extensions.deliveries.delivering import DeliveryResult, deliver_again, queue, recipient
from octavo.extensions.deliveries.store import Delivery, DeliveryRecipient, new_delivery_id
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor
from octavo.kit.net.fetch import Fetcher, FetchError, Limits
from octavo.kit.work import outbox
from octavo.organization.access.auditing import audit

from . import store
from .events import EVENTS, TEST, build_message, describe_event
from .signing import sign
from .store import OLD_SECRET, SECRET, WebhookRow

SECONDS = 10.0
"""Number of seconds within which a webhook must respond."""
_ANSWER = 64 * 1024
"""Maximum number of bytes to read from a response. The response is shown only if it is an error."""
_SHOWN_LENGTH = 500
_GONE = 410


@outbox.consumer("webhooks")
def queue_event(tx: Transaction, event: outbox.Event) -> None:
    """Queue an event for every webhook that subscribes to it."""
    if event.type not in EVENTS or event.organization_id is None:
        return
    place = ("space", event.space_id) if event.space_id else ("", "")
    for webhook_id in store.list_subscribed(tx, event.organization_id, event.type, event.created_at):
        queue(
            tx,
            DeliveryRecipient("webhook", webhook_id),
            event.organization_id,
            event.type,
            describe_event(event),
            id=new_delivery_id(),
            place=place,
        )


def queue_test(tx: Transaction, webhook: WebhookRow) -> str:
    """Queue a test message ahead of all other messages, and return its delivery ID."""
    delivery_id = new_delivery_id()
    data = {"organizationId": webhook.organization_id, "webhookId": webhook.id}
    queue(
        tx,
        DeliveryRecipient("webhook", webhook.id),
        webhook.organization_id,
        TEST,
        build_message(TEST, now(), data),
        id=delivery_id,
        place=("", delivery_id),
        urgent=True,
    )
    return delivery_id


def replay(tx: Transaction, actor: Actor, row: Delivery) -> None:
    """Queue a message again. Raises Conflict if the message is still pending."""
    if not deliver_again(tx, row):
        raise Conflict("This message is still pending and will be sent again automatically.")
    target = ("webhook", row.recipient.id)
    audit(tx, actor, "webhook.replayed", row.organization_id, target, after={"delivery": row.id})


@recipient("webhook")
def _send(context: Context, row: Delivery) -> DeliveryResult:
    with context.db.read() as tx:
        webhook = store.get_webhook_by_id(tx, row.recipient.id)
    if webhook is None:
        return DeliveryResult(problem="the webhook was deleted", refused=True)
    if not webhook.active and row.type != TEST:
        return DeliveryResult(problem="the webhook is inactive", refused=True)
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
    except OctavoError as error:  # The secret can't be decrypted because its key is missing.
        return DeliveryResult(problem=error.message)
    if 200 <= got.status < 300:
        return DeliveryResult(answered=got.status)
    response_text = got.body[:_SHOWN_LENGTH].decode("utf-8", "replace")
    return DeliveryResult(
        problem=f"returned {got.status}: {response_text}", refused=got.status == _GONE, answered=got.status
    )


def _secrets(context: Context, webhook: WebhookRow) -> Iterator[str]:
    """Yield the secrets that messages are currently signed with, newest first."""
    yield SECRET.open(context.sealer, webhook.secret, webhook.id)
    if webhook.old_secret is not None and (webhook.overlap_until or 0) > now():
        yield OLD_SECRET.open(context.sealer, webhook.old_secret, webhook.id)
