"""Sync a connection: read its source in batches, and store each batch with its cursor in one transaction."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from msgspec import UNSET, structs

from octavo.assistants.conversations.ingesting import ingest
from octavo.assistants.conversations.types import ConversationInput, Metadata, Part
from octavo.core.masking import mask
from octavo.errors import OctavoError
from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.work import jobs
from octavo.settings import Settings
from octavo.sites.site.store import get_site

from . import store
from .connectors.registry import find_connector
from .filtering import matches
from .store import ConnectionRow
from .types import Connector, SourceBatch, SourceFailure, SourceRecord, SourceSetup

JOB = "syncSource"


def request_sync(tx: Transaction, connection: ConnectionRow, organization_id: str) -> None:
    """Start a sync, unless one is already pending."""
    jobs.enqueue(
        tx,
        JOB,
        organization=organization_id,
        key=f"{JOB} {connection.id}",
        connection_id=connection.id,
    )


def setup_of(context: Context, row: ConnectionRow) -> SourceSetup:
    return SourceSetup(row.setup | store.open_secrets(context.sealer, row), row.cursor or "", jobs.renew)


def test_connection(context: Context, row: ConnectionRow) -> SourceFailure | None:
    """Test whether a source can be read, and return the reason if it can't."""
    connector = find_connector(context, row.connector)
    if connector is None:
        return None
    try:
        connector.test(structs.replace(setup_of(context, row), cursor=""))
    except SourceFailure as failure:
        return failure
    return None


def sync_connection(context: Context, connection_id: str) -> None:
    """Sync a connection. If another sync is started in the meantime, it replaces this sync. A failure is stored
    with its reason."""
    run = ids.new_id()
    with context.db.write() as tx:
        row = store.find_connection(tx, connection_id)
        if row is None or (connector := find_connector(context, row.connector)) is None:
            jobs.finish(tx)
            return
        store.update_connection(tx, row.id, status="syncing", run=run)
        jobs.advance(tx)
    failure: SourceFailure | None = None
    try:
        for batch in connector.read(setup_of(context, row)):
            if not _store(context, connector, row, run, batch):
                return
    except SourceFailure as found:
        failure = found
    except OctavoError as error:
        failure = SourceFailure("misconfigured", error.message)
    with context.db.write() as tx:
        if not store.is_current(tx, row.id, run):
            return
        if failure is None and connector.complete:
            while store.delete_other_records(tx, row.id, run):
                pass
        store.update_connection(
            tx,
            row.id,
            status="failed" if failure is not None else "succeeded",
            failure_reason=failure.reason if failure is not None else None,
            failure_message=failure.message[:1000] if failure is not None else None,
            synced_at=now(),
        )
        jobs.finish(tx)


def _store(context: Context, connector: Connector, row: ConnectionRow, run: str, batch: SourceBatch) -> bool:
    """Store a batch. Return False if another sync has replaced this sync, or if the connection was deleted."""
    records = prepare(context.settings, row, batch.records)
    with context.db.write() as tx:
        if not store.is_current(tx, row.id, run):
            return False
        store.put_records(tx, row, records, run if connector.complete else None)
        _analyze(tx, context.settings, row, records)
        store.update_connection(tx, row.id, cursor=batch.cursor or None)
        jobs.advance(tx)
    return True


def prepare(settings: Settings, row: ConnectionRow, records: Iterable[SourceRecord]) -> list[SourceRecord]:
    """Return the records for a connection to store: those that match its filter, with personal data masked in
    tickets."""
    kept = []
    for each in records:
        record = each.limited()
        if not record.id or not matches(row.filter, record):
            continue
        if record.type == "ticket" and settings.mask_conversations:
            described = mask(record.description) if record.description is not None else None
            record = structs.replace(
                record, title=mask(record.title), body=mask(record.body), description=described
            )
        kept.append(record)
    return kept


def _analyze(
    tx: Transaction, settings: Settings, row: ConnectionRow, records: Iterable[SourceRecord]
) -> None:
    """Add tickets to the organization's conversations, so that frequent questions form clusters."""
    if not row.usage.change_requests:
        return
    conversations = [
        ConversationInput(
            each.id, [Part("message", "user", each.body or each.title)], each.title, _metadata_of(each)
        )
        for each in records
        if each.type == "ticket"
    ]
    if conversations:
        site = get_site(tx, row.site_id)
        ingest(tx, settings, site.organization_id, f"{row.connector}:{row.id}", conversations)


def _metadata_of(record: SourceRecord) -> Metadata:
    return Metadata(
        url=record.url if record.url is not None else UNSET,
        created_at=datetime.fromtimestamp(record.created_at / 1000, UTC)
        if record.created_at is not None and record.created_at > 0
        else UNSET,
    )


def put_pushed(
    tx: Transaction, settings: Settings, connection: ConnectionRow, records: Iterable[SourceRecord]
) -> None:
    """Store records that a source pushed."""
    kept = prepare(settings, connection, records)
    store.put_records(tx, connection, kept, None)
    _analyze(tx, settings, connection, kept)
    store.update_connection(
        tx, connection.id, status="succeeded", failure_reason=None, failure_message=None, synced_at=now()
    )
