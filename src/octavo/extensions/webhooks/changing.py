"""Create, update, and delete webhooks, and rotate their secrets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from octavo.errors import BadRequest, Conflict, NotFound
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.net.fetch import Fetcher, FetchError
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import OrgAccess

from . import store
from .signing import new_secret
from .store import OLD_SECRET, SECRET, WebhookRow

MAX_WEBHOOKS = 50
"""Maximum number of webhooks per organization."""


def get_webhook(tx: Transaction, org: OrgAccess, webhook_id: str, *, lock: bool = False) -> WebhookRow:
    """Return a webhook. ``lock``: whether to lock the row until the transaction ends. Raises NotFound if it
    doesn't exist."""
    found = store.find_webhook(tx, org.organization_id, webhook_id, lock=lock)
    if found is None:
        raise NotFound(f"There is no webhook with the ID {webhook_id!r} in this organization.")
    return found


def check_url(context: Context, url: str) -> None:
    """Check a webhook URL. This resolves the hostname, so don't call it inside a transaction. Raises
    BadRequest if the URL isn't allowed."""
    try:
        Fetcher(context.settings.allow_private_fetch).check_url(url)
    except FetchError as error:
        raise BadRequest(f"url: {error.message}") from None


def create(
    tx: Transaction,
    context: Context,
    org: OrgAccess,
    url: str,
    events: Sequence[str],
    *,
    description: str = "",
    active: bool = True,
) -> tuple[WebhookRow, str]:
    """Create a webhook for these event types, and return it with its secret. Raises Conflict if the organization
    already has the maximum number of webhooks."""
    if store.count_webhooks(tx, org.organization_id) >= MAX_WEBHOOKS:
        raise Conflict(
            f"An organization can have at most {MAX_WEBHOOKS} webhooks. Delete one before adding another."
        )
    secret = new_secret()
    webhook_id = store.insert_webhook(
        tx,
        context.sealer,
        org.organization_id,
        url=url,
        description=description,
        events=_distinct(events),
        active=active,
        secret=secret,
    )
    made = get_webhook(tx, org, webhook_id)
    audit(tx, org.actor, "webhook.created", org.organization_id, ("webhook", webhook_id), after=_state(made))
    return made, secret


def update(tx: Transaction, org: OrgAccess, webhook_id: str, given: Mapping[str, Any]) -> WebhookRow:
    """Update the given fields: ``url``, ``description``, ``events``, or ``active``. Raises NotFound if the webhook
    doesn't exist."""
    before = get_webhook(tx, org, webhook_id, lock=True)
    values = dict(given)
    if "events" in values:
        values["events"] = msgspec.json.encode(_distinct(values["events"])).decode()
    if "active" in values:
        values["active"] = int(values["active"])
    if values:
        store.set_fields(tx, webhook_id, **values)
    after = get_webhook(tx, org, webhook_id)
    if _state(after) != _state(before):
        audit(
            tx,
            org.actor,
            "webhook.updated",
            org.organization_id,
            ("webhook", webhook_id),
            before=_state(before),
            after=_state(after),
        )
    return after


def delete(tx: Transaction, org: OrgAccess, webhook_id: str) -> bool:
    """Delete a webhook and its queued messages. Return False if the webhook doesn't exist."""
    found = store.find_webhook(tx, org.organization_id, webhook_id, lock=True)
    if found is None:
        return False
    store.delete_webhook(tx, webhook_id)
    audit(
        tx, org.actor, "webhook.removed", org.organization_id, ("webhook", webhook_id), before=_state(found)
    )
    return True


def rotate(
    tx: Transaction, context: Context, org: OrgAccess, webhook_id: str, overlap: int
) -> tuple[WebhookRow, str]:
    """Set a new secret for a webhook. ``overlap``: the number of seconds for which messages are still signed with
    the old secret, too."""
    before = get_webhook(tx, org, webhook_id, lock=True)
    sealer, secret = context.sealer, new_secret()
    old = SECRET.open(sealer, before.secret, webhook_id)
    store.set_fields(
        tx,
        webhook_id,
        secret=SECRET.seal(sealer, secret, webhook_id),
        old_secret=OLD_SECRET.seal(sealer, old, webhook_id) if overlap else None,
        overlap_until=now() + overlap * 1000 if overlap else None,
    )
    audit(
        tx,
        org.actor,
        "webhook.secret_rotated",
        org.organization_id,
        ("webhook", webhook_id),
        after={"overlap": overlap},
    )
    return get_webhook(tx, org, webhook_id), secret


def _distinct(events: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(events))


def _state(row: WebhookRow) -> dict[str, object]:
    """Return the webhook fields that the audit log records."""
    return {"url": row.url, "events": row.events, "active": row.active, "description": row.description}
