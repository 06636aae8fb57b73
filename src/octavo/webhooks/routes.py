"""Webhooks of an organization, and what became of their messages."""

from __future__ import annotations

from msgspec import UNSET

from ..access import Can, OrgAccess
from ..deliveries import Delivery, DeliveryRecipient, find_delivery, list_deliveries
from ..errors import NotFound
from ..kit.bodies import given
from ..kit.db import Transaction
from ..kit.operation import Area, Call, Deletion
from ..kit.pagination import Listing, PageQuery, present_slice
from . import changing, sending, store, wire

operation = Area("webhooks").operation

_WEBHOOKS = "/orgs/{organizationId}/webhooks"
_WEBHOOK = _WEBHOOKS + "/{webhookId}"
_DELIVERIES = _WEBHOOK + "/deliveries"
_DELIVERY = _DELIVERIES + "/{deliveryId}"


@operation(
    "listWebhooks",
    "GET",
    _WEBHOOKS,
    needs=Can.ADMIN,
    returns=Listing[wire.Webhook],
    errors=(404,),
    extension=True,
)
def list_webhooks(call: Call, org: OrgAccess, query: PageQuery) -> Listing[wire.Webhook]:
    """The webhooks of an organization, oldest first."""
    with call.db.read() as tx:
        found = store.list_webhooks(tx, org.organization_id, query.limit, query.page)
    return present_slice(found, wire.present_webhook)


@operation(
    "createWebhook",
    "POST",
    _WEBHOOKS,
    needs=Can.ADMIN,
    returns=wire.WebhookWithSecret,
    status=201,
    errors=(404, 409),
    extension=True,
)
def create_webhook(call: Call, org: OrgAccess, body: wire.CreateWebhook) -> wire.WebhookWithSecret:
    """Has an address told what happens in the organization from now on. The secret that signs the messages is in this
    answer alone. 409 when there are fifty."""
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


@operation(
    "getWebhook",
    "GET",
    _WEBHOOK,
    needs=Can.ADMIN,
    returns=wire.Webhook,
    errors=(404,),
    extension=True,
)
def get_webhook(call: Call, org: OrgAccess, webhook_id: str) -> wire.Webhook:
    """One webhook."""
    with call.db.read() as tx:
        return wire.present_webhook(changing.get_webhook(tx, org, webhook_id))


@operation(
    "updateWebhook",
    "PATCH",
    _WEBHOOK,
    needs=Can.ADMIN,
    returns=wire.Webhook,
    errors=(404,),
    extension=True,
)
def update_webhook(call: Call, org: OrgAccess, webhook_id: str, body: wire.UpdateWebhook) -> wire.Webhook:
    """Changes where messages go and what they are about. What waits for one that is switched off counts as failed when
    its turn comes, and can be sent again later."""
    if body.url is not UNSET:
        changing.check_url(call.context, body.url)
    with call.db.write() as tx:
        return wire.present_webhook(changing.update(tx, org, webhook_id, given(body)))


@operation("deleteWebhook", "DELETE", _WEBHOOK, needs=Can.ADMIN, returns=Deletion, extension=True)
def delete_webhook(call: Call, org: OrgAccess, webhook_id: str) -> bool:
    """Removes a webhook with its log; what still waits is not sent."""
    with call.db.write() as tx:
        return changing.delete(tx, org, webhook_id)


@operation(
    "rotateWebhookSecret",
    "POST",
    f"{_WEBHOOK}/secret",
    needs=Can.ADMIN,
    returns=wire.WebhookWithSecret,
    errors=(404,),
    extension=True,
)
def rotate_secret(
    call: Call, org: OrgAccess, webhook_id: str, body: wire.RotateSecret
) -> wire.WebhookWithSecret:
    """Another secret, shown this once. Messages are signed with the old one as well for as long as `overlap` says, a day
    unless told otherwise; 0 ends it at once."""
    with call.db.write() as tx:
        return wire.present_with_secret(*changing.rotate(tx, call.context, org, webhook_id, body.overlap))


@operation(
    "testWebhook",
    "POST",
    f"{_WEBHOOK}/test",
    needs=Can.ADMIN,
    returns=wire.WebhookDelivery,
    status=202,
    errors=(404,),
    extension=True,
)
def test_webhook(call: Call, org: OrgAccess, webhook_id: str) -> wire.WebhookDelivery:
    """Sends a message of the type `webhook_test`, at once and also where the webhook is switched off. Its delivery says
    a moment later what came of it."""
    with call.db.write() as tx:
        row = changing.get_webhook(tx, org, webhook_id, lock=True)
        return wire.present_delivery(_find(tx, org, webhook_id, sending.queue_test(tx, row)))


@operation(
    "listWebhookDeliveries",
    "GET",
    _DELIVERIES,
    needs=Can.ADMIN,
    returns=Listing[wire.WebhookDelivery],
    errors=(404,),
    extension=True,
)
def list_webhook_deliveries(
    call: Call, org: OrgAccess, webhook_id: str, query: wire.DeliveriesQuery
) -> Listing[wire.WebhookDelivery]:
    """The messages of a webhook, newest first: those that wait, were delivered, or failed for good."""
    with call.db.read() as tx:
        recipient = DeliveryRecipient("webhook", changing.get_webhook(tx, org, webhook_id).id)
        found = list_deliveries(tx, recipient, query.limit, query.page, waiting=True, status=query.status)
    return present_slice(found, wire.present_delivery)


@operation(
    "getWebhookDelivery",
    "GET",
    _DELIVERY,
    needs=Can.ADMIN,
    returns=wire.WebhookDelivery,
    errors=(404,),
    extension=True,
)
def get_webhook_delivery(
    call: Call, org: OrgAccess, webhook_id: str, delivery_id: str
) -> wire.WebhookDelivery:
    """One message, and what became of it."""
    with call.db.read() as tx:
        return wire.present_delivery(_find(tx, org, webhook_id, delivery_id))


@operation(
    "replayWebhookDelivery",
    "POST",
    f"{_DELIVERY}/replay",
    needs=Can.ADMIN,
    returns=wire.WebhookDelivery,
    status=202,
    errors=(404, 409),
    extension=True,
)
def replay_webhook_delivery(
    call: Call, org: OrgAccess, webhook_id: str, delivery_id: str
) -> wire.WebhookDelivery:
    """Sends a message that failed for good, or was delivered, once more: with the same `webhook-id`, before what waits
    behind it. 409 while it waits for its next attempt."""
    with call.db.write() as tx:
        sending.replay(tx, org.actor, _find(tx, org, webhook_id, delivery_id))
        return wire.present_delivery(_find(tx, org, webhook_id, delivery_id))


def _find(tx: Transaction, org: OrgAccess, webhook_id: str, delivery_id: str) -> Delivery:
    recipient = DeliveryRecipient("webhook", changing.get_webhook(tx, org, webhook_id).id)
    found = find_delivery(tx, recipient, delivery_id)
    if found is None:
        raise NotFound(f"There is no delivery {delivery_id!r} of this webhook.")
    return found
