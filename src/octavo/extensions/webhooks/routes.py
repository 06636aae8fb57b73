"""Operations on an organization's webhooks and their deliveries."""

from __future__ import annotations

from msgspec import UNSET

from octavo.errors import require_found
from octavo.extensions.deliveries.store import Delivery, DeliveryRecipient, find_delivery, list_deliveries
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Listing, PageQuery, present_slice
from octavo.kit.http.bodies import given
from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import OrgAccess
from octavo.organization.access.roles import Can

from . import changing, sending, store, wire

operation = Area("webhooks").operation

_WEBHOOKS = "/orgs/{organizationId}/webhooks"
_WEBHOOK = _WEBHOOKS + "/{webhookId}"
_DELIVERIES = _WEBHOOK + "/deliveries"
_DELIVERY = _DELIVERIES + "/{deliveryId}"


@operation("listWebhooks", "GET", _WEBHOOKS, needs=Can.ADMIN, errors=(404,))
def list_webhooks(call: Call, org: OrgAccess, query: PageQuery) -> Listing[wire.Webhook]:
    """List the webhooks of an organization, oldest first."""
    with call.db.read() as tx:
        found = store.list_webhooks(tx, org.organization_id, query.limit, query.page)
    return present_slice(found, wire.present_webhook)


@operation("createWebhook", "POST", _WEBHOOKS, needs=Can.ADMIN, status=201, errors=(404, 409))
def create_webhook(call: Call, org: OrgAccess, body: wire.CreateWebhook) -> wire.WebhookWithSecret:
    """Create a webhook that receives the organization's events from now on. The secret that signs the messages is
    included only in this response. Returns 409 if the organization already has 50 webhooks."""
    changing.check_url(call.context, body.url)
    with call.db.write() as tx:
        row, secret = changing.create(
            tx,
            call.context,
            org,
            body.url,
            body.events,
            description=body.description,
            active=body.active,
        )
    call.response_headers["location"] = call.url(f"/orgs/{org.organization_id}/webhooks/{row.id}")
    return wire.present_with_secret(row, secret)


@operation("getWebhook", "GET", _WEBHOOK, needs=Can.ADMIN, errors=(404,))
def get_webhook(call: Call, org: OrgAccess, webhook_id: str) -> wire.Webhook:
    """Get a webhook."""
    with call.db.read() as tx:
        return wire.present_webhook(changing.get_webhook(tx, org, webhook_id))


@operation("updateWebhook", "PATCH", _WEBHOOK, needs=Can.ADMIN, errors=(404,))
def update_webhook(call: Call, org: OrgAccess, webhook_id: str, body: wire.UpdateWebhook) -> wire.Webhook:
    """Update the URL, events, description, or status of a webhook. If the webhook is inactive, queued messages fail
    when they are due, but can be replayed later."""
    if body.url is not UNSET:
        changing.check_url(call.context, body.url)
    with call.db.write() as tx:
        return wire.present_webhook(changing.update(tx, org, webhook_id, given(body)))


@operation("deleteWebhook", "DELETE", _WEBHOOK, needs=Can.ADMIN)
def delete_webhook(call: Call, org: OrgAccess, webhook_id: str) -> bool:
    """Delete a webhook and its delivery log. Queued messages aren't sent."""
    with call.db.write() as tx:
        return changing.delete(tx, org, webhook_id)


@operation("rotateWebhookSecret", "POST", f"{_WEBHOOK}/secret", needs=Can.ADMIN, errors=(404,))
def rotate_secret(
    call: Call, org: OrgAccess, webhook_id: str, body: wire.RotateSecret
) -> wire.WebhookWithSecret:
    """Rotate the secret of a webhook. The new secret is included only in this response. For `overlap` seconds (by
    default, one day), messages are also signed with the old secret. If `overlap` is 0, the old secret stops working
    immediately."""
    with call.db.write() as tx:
        return wire.present_with_secret(*changing.rotate(tx, call.context, org, webhook_id, body.overlap))


@operation("testWebhook", "POST", f"{_WEBHOOK}/test", needs=Can.ADMIN, status=202, errors=(404,))
def test_webhook(call: Call, org: OrgAccess, webhook_id: str) -> wire.WebhookDelivery:
    """Send a message of type `webhook_test` immediately, even if the webhook is inactive. To see the result, get
    the returned delivery again a moment later."""
    with call.db.write() as tx:
        row = changing.get_webhook(tx, org, webhook_id, lock=True)
        return wire.present_delivery(_find(tx, org, webhook_id, sending.queue_test(tx, row)))


@operation("listWebhookDeliveries", "GET", _DELIVERIES, needs=Can.ADMIN, errors=(404,))
def list_webhook_deliveries(
    call: Call, org: OrgAccess, webhook_id: str, query: wire.DeliveriesQuery
) -> Listing[wire.WebhookDelivery]:
    """List a webhook's pending, delivered, and failed messages, newest first."""
    with call.db.read() as tx:
        recipient = DeliveryRecipient("webhook", changing.get_webhook(tx, org, webhook_id).id)
        found = list_deliveries(tx, recipient, query.limit, query.page, waiting=True, status=query.status)
    return present_slice(found, wire.present_delivery)


@operation("getWebhookDelivery", "GET", _DELIVERY, needs=Can.ADMIN, errors=(404,))
def get_webhook_delivery(
    call: Call, org: OrgAccess, webhook_id: str, delivery_id: str
) -> wire.WebhookDelivery:
    """Get a message and its delivery status."""
    with call.db.read() as tx:
        return wire.present_delivery(_find(tx, org, webhook_id, delivery_id))


@operation(
    "replayWebhookDelivery", "POST", f"{_DELIVERY}/replay", needs=Can.ADMIN, status=202, errors=(404, 409)
)
def replay_webhook_delivery(
    call: Call, org: OrgAccess, webhook_id: str, delivery_id: str
) -> wire.WebhookDelivery:
    """Replay a failed or delivered message with the same `webhook-id`, ahead of queued messages. Returns 409
    if the message is pending."""
    with call.db.write() as tx:
        sending.replay(tx, org.actor, _find(tx, org, webhook_id, delivery_id))
        return wire.present_delivery(_find(tx, org, webhook_id, delivery_id))


def _find(tx: Transaction, org: OrgAccess, webhook_id: str, delivery_id: str) -> Delivery:
    recipient = DeliveryRecipient("webhook", changing.get_webhook(tx, org, webhook_id).id)
    return require_found(
        find_delivery(tx, recipient, delivery_id),
        f"There is no delivery with the ID {delivery_id!r} for this webhook.",
    )
