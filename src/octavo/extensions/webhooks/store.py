"""Database access for webhooks."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.db.database import Row, Transaction
from octavo.kit.db.pagination import Slice, list_page
from octavo.kit.secrets.sealing import Sealer, sealed_column

SECRET = sealed_column("webhooks", "secret", "id")
OLD_SECRET = sealed_column("webhooks", "old_secret", "id")


class WebhookRow(Struct, frozen=True):
    """Webhook of an organization. Secrets are stored encrypted; times are in milliseconds."""

    id: str
    organization_id: str
    url: str
    description: str
    events: list[str]
    active: bool
    secret: str
    old_secret: str | None
    overlap_until: int | None
    created_at: int
    updated_at: int


_COLUMNS = ", ".join(WebhookRow.__struct_fields__)


def _webhook(row: Row) -> WebhookRow:
    values = list(row)
    values[4] = msgspec.json.decode(row[4])
    values[5] = bool(row[5])
    return WebhookRow(*values)


def insert_webhook(
    tx: Transaction,
    sealer: Sealer,
    organization_id: str,
    *,
    url: str,
    description: str,
    events: list[str],
    active: bool,
    secret: str,
) -> str:
    webhook_id = ids.new_id()
    moment = now()
    tx.insert(
        "webhooks",
        id=webhook_id,
        organization_id=organization_id,
        url=url,
        description=description,
        events=msgspec.json.encode(events).decode(),
        active=int(active),
        secret=SECRET.seal(sealer, secret, webhook_id),
        created_at=moment,
        updated_at=moment,
    )
    return webhook_id


def find_webhook(
    tx: Transaction, organization_id: str, webhook_id: str, *, lock: bool = False
) -> WebhookRow | None:
    """Return a webhook. ``lock``: whether to lock the row until the transaction ends."""
    row = tx.one(
        f"SELECT {_COLUMNS} FROM webhooks WHERE id = :id AND organization_id = :org{tx.for_update if lock else ''}",
        id=webhook_id,
        org=organization_id,
    )
    return _webhook(row) if row else None


def get_webhook_by_id(tx: Transaction, webhook_id: str) -> WebhookRow | None:
    row = tx.one(f"SELECT {_COLUMNS} FROM webhooks WHERE id = :id", id=webhook_id)
    return _webhook(row) if row else None


def list_webhooks(tx: Transaction, organization_id: str, limit: int, page: str | None) -> Slice[WebhookRow]:
    """Return the webhooks of an organization, oldest first."""
    return list_page(
        tx, limit, page, _COLUMNS, "FROM webhooks WHERE organization_id = :org", _webhook, org=organization_id
    )


def count_webhooks(tx: Transaction, organization_id: str) -> int:
    return int(tx.value("SELECT count(*) FROM webhooks WHERE organization_id = :org", org=organization_id))


def list_subscribed(tx: Transaction, organization_id: str, event: str, at: int) -> list[str]:
    """Return the IDs of the active webhooks that already existed at the given time (in milliseconds) and that
    subscribe to an event type."""
    rows = tx.all(
        "SELECT id, events FROM webhooks WHERE organization_id = :org AND active = 1 AND created_at <= :at ORDER BY id",
        org=organization_id,
        at=at,
    )
    return [webhook_id for webhook_id, events in rows if event in msgspec.json.decode(events)]


def set_fields(tx: Transaction, webhook_id: str, **values: object) -> None:
    tx.run(
        f"UPDATE webhooks SET {', '.join(f'{name} = :{name}' for name in values)}, updated_at = :at WHERE id = :id",
        at=now(),
        id=webhook_id,
        **values,
    )


def delete_webhook(tx: Transaction, webhook_id: str) -> None:
    tx.run("DELETE FROM webhooks WHERE id = :id", id=webhook_id)
