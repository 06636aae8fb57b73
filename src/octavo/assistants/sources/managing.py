"""Add, change, and remove the sources of a site."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import UNSET, UnsetType

from octavo.errors import BadRequest
from octavo.extensions.integrations.store import get_integration_by_id
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Person
from octavo.kit.secrets.sealing import Sealer
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import SiteAccess

from . import store
from .connectors.registry import PULLED, list_fields
from .store import ConnectionRow, SourceUsage
from .syncing import put_pushed, request_sync
from .types import HIDDEN, SourceRecord

_ADDRESSES = ("base_url", "data_center", "domain", "subdomain", "url")
"""Settings that determine the server that secrets are sent to."""


def create_source(
    context: Context,
    site: SiteAccess,
    connector: str,
    setup: Mapping[str, str],
    usage: SourceUsage,
    filter: str | None,
) -> ConnectionRow:
    """Connect a site to a source, and start its first sync. Raises BadRequest if a setting is invalid, and Conflict
    if the site already has the maximum number of connections."""
    values, secrets = _split(connector, setup, {})
    with context.db.write() as tx:
        row = store.insert_connection(
            tx, context.sealer, site.site_id, connector, values, secrets, usage, filter
        )
        _audit(tx, site, "created", None, row)
        if connector in PULLED:
            request_sync(tx, row, site.organization_id)
    return row


def update_source(
    tx: Transaction,
    sealer: Sealer,
    site: SiteAccess,
    before: ConnectionRow,
    *,
    setup: Mapping[str, str] | UnsetType,
    usage: SourceUsage | UnsetType,
    label: str | None | UnsetType,
    filter: str | None | UnsetType,
) -> ConnectionRow:
    """Update a connection. If the settings or the filter change, the source is read again from the beginning."""
    values: dict[str, object] = {}
    if label is not UNSET:
        values["label"] = label or None
    if usage is not UNSET:
        values["usage"] = store.encode_usage(usage)
    if setup is not UNSET:
        # If the server changes, secrets must be entered again. Otherwise, people could send a secret that
        # they can't read to their own server.
        is_same = all(setup.get(name) == before.setup.get(name) for name in _ADDRESSES)
        previous = store.open_secrets(sealer, before) if is_same else {}
        shown, secrets = _split(before.connector, setup, previous)
        values["setup"] = store.encode_setup(shown)
        values["secrets"] = store.seal_secrets(sealer, before.id, secrets)
    if filter is not UNSET:
        values["filter"] = filter or None
    if before.connector in PULLED and (setup is not UNSET or filter is not UNSET):
        # Records that were read with other settings may no longer belong to the source.
        store.delete_records(tx, before.id)
        values |= {"cursor": None, "run": None, "status": "pending", "synced_at": None}
        request_sync(tx, before, site.organization_id)
    if values:
        store.update_connection(tx, before.id, **values)
    row = store.get_connection(tx, site.site_id, before.id)
    if row != before:
        _audit(tx, site, "updated", before, row)
    return row


def _split(
    connector: str, setup: Mapping[str, str], previous: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Split settings into visible settings and secrets. A secret that is sent as the placeholder keeps its previous
    value."""
    _, names = list_fields(connector)
    secrets = {name: value for name, value in setup.items() if name in names}
    for name, value in secrets.items():
        if value == HIDDEN:
            if name not in previous:
                raise BadRequest("setupSettings: must contain the source's secrets")
            secrets[name] = previous[name]
    return {name: value for name, value in setup.items() if name not in names}, secrets


def delete_source(tx: Transaction, site: SiteAccess, connection_id: str) -> bool:
    """Delete a connection and its records. Return False if it doesn't exist."""
    before = store.find_connection(tx, connection_id)
    deleted = store.delete_connection(tx, site.site_id, connection_id)
    if deleted:
        _audit(tx, site, "removed", before, None)
    return deleted


def sync_source(tx: Transaction, site: SiteAccess, connection_id: str) -> None:
    """Start a sync at a person's request. Raises BadRequest if the source pushes its records."""
    row = store.get_connection(tx, site.site_id, connection_id)
    if row.connector not in PULLED:
        raise BadRequest("This connection can't be synced, because its source sends records to Octavo.")
    request_sync(tx, row, site.organization_id)


def receive_records(context: Context, site: SiteAccess, records: Sequence[SourceRecord]) -> None:
    """Store records that an app sends. They belong to the connection of the app's integration or, for other apps,
    to the API's connection."""
    with context.db.write() as tx:
        connector = "builtin:api"
        if not isinstance(site.actor, Person):
            connector = f"integration:{get_integration_by_id(tx, site.actor.integration_id).name}"
        # The lock ensures that simultaneous requests use the same connection.
        tx.one(f"SELECT id FROM sites WHERE id = :site{tx.for_update}", site=site.site_id)
        row = store.find_pushed(tx, site.site_id, connector)
        if row is None:
            row = store.insert_connection(
                tx, context.sealer, site.site_id, connector, {}, {}, SourceUsage(), None
            )
            _audit(tx, site, "created", None, row)
        put_pushed(tx, context.settings, row, records)


def _audit(
    tx: Transaction, site: SiteAccess, done: str, before: ConnectionRow | None, after: ConnectionRow | None
) -> None:
    row = after or before
    assert row is not None
    audit(
        tx,
        site.actor,
        f"contextConnection.{done}",
        site.organization_id,
        ("contextConnection", row.id),
        before=_state(before),
        after=_state(after),
    )


def _state(row: ConnectionRow | None) -> dict[str, object] | None:
    return None if row is None else {"connector": row.connector, "setup": row.setup, "filter": row.filter}
