"""Wire format of webhooks."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.extensions.deliveries.store import Delivery, Status
from octavo.kit.clock import iso, now
from octavo.kit.db.pagination import PageQuery

from .events import EventType
from .store import WebhookRow

Url = Annotated[str, Meta(min_length=1, max_length=2048)]
Description = Annotated[str, Meta(max_length=255)]
Events = Annotated[list[EventType], Meta(min_length=1, max_length=100)]


class CreateWebhook(Struct):
    """New webhook. ``events``: the event types to send."""

    url: Url
    events: Events
    description: Description = ""
    active: bool = True


class UpdateWebhook(Struct):
    """Update of a webhook. Omitted fields stay unchanged."""

    url: Url | UnsetType = UNSET
    events: Events | UnsetType = UNSET
    description: Description | UnsetType = UNSET
    active: bool | UnsetType = UNSET


class RotateSecret(Struct):
    """Rotation of a secret. ``overlap``: the number of seconds, at most a week, for which messages are still signed
    with the old secret, too."""

    overlap: Annotated[int, Meta(ge=0, le=7 * 86_400)] = 86_400


class Webhook(Struct, rename="camel", kw_only=True):
    """Webhook of an organization. ``overlapUntil``: the time until which messages are signed with both the old and
    the new secret."""

    object: Literal["webhook"] = "webhook"
    id: str
    url: str
    description: str
    events: list[str]
    active: bool
    created_at: str
    updated_at: str
    overlap_until: str | UnsetType = UNSET


class WebhookWithSecret(Webhook, kw_only=True):
    """Webhook with its ``secret``, which is returned only once."""

    secret: str


class DeliveriesQuery(PageQuery):
    status: Status | None = None


class WebhookDelivery(Struct, rename="camel", kw_only=True):
    """Delivery of a webhook message. ``id``: the `webhook-id` of the message. ``answered``: the status code of the
    response to the last attempt. ``nextAttemptAt``: the time of the next attempt; present only while the message is
    pending. ``error``: the reason the last attempt failed."""

    object: Literal["webhook-delivery"] = "webhook-delivery"
    id: str
    type: str
    status: Status
    attempts: int
    created_at: str
    payload: dict[str, Any]
    attempted_at: str | UnsetType = UNSET
    next_attempt_at: str | UnsetType = UNSET
    answered: int | UnsetType = UNSET
    error: str | UnsetType = UNSET


def _fields(row: WebhookRow) -> dict[str, Any]:
    until = row.overlap_until
    return {
        "id": row.id,
        "url": row.url,
        "description": row.description,
        "events": row.events,
        "active": row.active,
        "created_at": iso(row.created_at),
        "updated_at": iso(row.updated_at),
        "overlap_until": iso(until) if until is not None and until > now() else UNSET,
    }


def present_webhook(row: WebhookRow) -> Webhook:
    return Webhook(**_fields(row))


def present_with_secret(row: WebhookRow, secret: str) -> WebhookWithSecret:
    return WebhookWithSecret(**_fields(row), secret=secret)


def present_delivery(row: Delivery) -> WebhookDelivery:
    return WebhookDelivery(
        id=row.id,
        type=row.type,
        status=row.status,
        attempts=row.attempts,
        created_at=iso(row.created_at),
        payload=row.event,
        attempted_at=UNSET if row.attempted_at is None else iso(row.attempted_at),
        next_attempt_at=iso(row.next_at) if row.status == "waiting" else UNSET,
        answered=UNSET if row.answered is None else row.answered,
        error=UNSET if row.error is None else row.error,
    )
