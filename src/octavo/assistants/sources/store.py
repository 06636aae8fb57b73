"""Database access for connections to sources and for their records."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec import Struct

from octavo.errors import Conflict, NotFound
from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.db.database import Row, Transaction
from octavo.kit.db.pagination import Slice, list_page
from octavo.kit.secrets.sealing import Sealer, sealed_column

from .types import MAX_RECORDS, ConnectionStatus, FailureReason, RecordType, SourceRecord

_SECRETS = sealed_column("context_connections", "secrets", "id")
MAX_CONNECTIONS = 50
"""Maximum number of connections per site."""
_BATCH = 200


class SourceUsage(Struct, frozen=True, rename="camel"):
    """Usage of a connection's records. ``search_boost``: their weight in search."""

    change_requests: bool = False
    search: bool = False
    search_boost: str = "x1.0"


class ConnectionRow(Struct, frozen=True):
    """Connection of a site to a source. ``setup``: its settings without secrets. ``cursor``: the position where
    the next sync continues. ``run``: the ID of the current or latest sync."""

    id: str
    site_id: str
    connector: str
    setup: dict[str, str]
    secrets: str | None
    label: str | None
    filter: str | None
    usage: SourceUsage
    status: ConnectionStatus
    failure_reason: FailureReason | None
    failure_message: str | None
    cursor: str | None
    run: str | None
    records: int
    created_at: int
    synced_at: int | None


class RecordRow(Struct, frozen=True):
    """Record of a source, without its text."""

    id: str
    connection_id: str
    site_id: str
    connector: str
    external_id: str
    type: RecordType
    title: str
    description: str | None
    url: str | None
    topic_id: str | None
    created_at: int
    processed_at: int


_CONNECTION = ", ".join(f"c.{name}" for name in ConnectionRow.__struct_fields__)
_RECORD = ", ".join(f"{'c' if name == 'connector' else 'r'}.{name}" for name in RecordRow.__struct_fields__)
_RECORDS = "FROM context_records r JOIN context_connections c ON c.id = r.connection_id"
_decode_setup = msgspec.json.Decoder(dict[str, str]).decode
_decode_usage = msgspec.json.Decoder(SourceUsage).decode


def _connection(row: Row) -> ConnectionRow:
    values = dict(zip(ConnectionRow.__struct_fields__, row, strict=True))
    values["setup"], values["usage"] = _decode_setup(values["setup"]), _decode_usage(values["usage"])
    return ConnectionRow(**values)


# --- connections ------------------------------------------------------------------------------------------


def list_connections(tx: Transaction, site_id: str, limit: int, page: str | None) -> Slice[ConnectionRow]:
    """Return the connections of a site, oldest first."""
    return list_page(
        tx,
        limit,
        page,
        _CONNECTION,
        "FROM context_connections c WHERE c.site_id = :site",
        _connection,
        by="c.id",
        site=site_id,
    )


def find_connection(tx: Transaction, connection_id: str) -> ConnectionRow | None:
    row = tx.one(f"SELECT {_CONNECTION} FROM context_connections c WHERE c.id = :id", id=connection_id)
    return _connection(row) if row else None


def get_connection(tx: Transaction, site_id: str, connection_id: str) -> ConnectionRow:
    """Return a connection of a site. Raises NotFound if there is none."""
    found = find_connection(tx, connection_id)
    if found is None or found.site_id != site_id:
        raise NotFound(f"There is no connection with the ID {connection_id!r} on this site.")
    return found


def list_by_connector(tx: Transaction, connector: str) -> list[ConnectionRow]:
    """Return the connections that use this connector, on all sites."""
    rows = tx.all(
        f"SELECT {_CONNECTION} FROM context_connections c WHERE c.connector = :connector ORDER BY c.id",
        connector=connector,
    )
    return [_connection(row) for row in rows]


def find_pushed(tx: Transaction, site_id: str, connector: str) -> ConnectionRow | None:
    """Return a site's oldest connection that uses the given connector."""
    row = tx.one(
        f"""SELECT {_CONNECTION} FROM context_connections c WHERE c.site_id = :site AND c.connector = :connector
            ORDER BY c.id LIMIT 1""",
        site=site_id,
        connector=connector,
    )
    return _connection(row) if row else None


def list_due(tx: Transaction, before: int, connectors: Sequence[str]) -> list[tuple[str, str]]:
    """Return the connections that were last synced before a time (milliseconds), with their organizations."""
    rows = tx.all(
        """SELECT c.id, s.organization_id FROM context_connections c JOIN sites s ON s.id = c.site_id
           WHERE c.connector IN :connectors AND (c.synced_at IS NULL OR c.synced_at < :before) ORDER BY c.id""",
        connectors=list(connectors),
        before=before,
    )
    return [(connection_id, organization_id) for connection_id, organization_id in rows]


def insert_connection(
    tx: Transaction,
    sealer: Sealer,
    site_id: str,
    connector: str,
    setup: Mapping[str, str],
    secrets: Mapping[str, str],
    usage: SourceUsage,
    filter: str | None,
) -> ConnectionRow:
    """Insert a connection. Raises Conflict if the site already has the maximum number of connections."""
    # The lock ensures that simultaneous requests count each other's connections.
    tx.one(f"SELECT id FROM sites WHERE id = :site{tx.for_update}", site=site_id)
    count = tx.value("SELECT count(*) FROM context_connections WHERE site_id = :site", site=site_id)
    if count >= MAX_CONNECTIONS:
        raise Conflict(
            f"A site can have at most {MAX_CONNECTIONS} connections. Delete one before adding another."
        )
    connection_id = ids.new_id()
    tx.insert(
        "context_connections",
        id=connection_id,
        site_id=site_id,
        connector=connector,
        setup=encode_setup(setup),
        secrets=seal_secrets(sealer, connection_id, secrets),
        filter=filter,
        usage=encode_usage(usage),
        status="pending",
        created_at=now(),
    )
    return get_connection(tx, site_id, connection_id)


def seal_secrets(sealer: Sealer, connection_id: str, secrets: Mapping[str, str]) -> str | None:
    return _SECRETS.seal(sealer, msgspec.json.encode(secrets).decode(), connection_id) if secrets else None


def open_secrets(sealer: Sealer, row: ConnectionRow) -> dict[str, str]:
    return _decode_setup(_SECRETS.open(sealer, row.secrets, row.id)) if row.secrets is not None else {}


def update_connection(tx: Transaction, connection_id: str, **values: object) -> bool:
    """Update columns of a connection. Return False if it no longer exists."""
    changes = ", ".join(f"{name} = :{name}" for name in values)
    return bool(
        tx.run(f"UPDATE context_connections SET {changes} WHERE id = :id", id=connection_id, **values)
    )


def encode_setup(setup: Mapping[str, str]) -> str:
    return msgspec.json.encode(setup).decode()


def encode_usage(usage: SourceUsage) -> str:
    return msgspec.json.encode(usage).decode()


def is_current(tx: Transaction, connection_id: str, run: str) -> bool:
    """Lock a connection, and return whether the sync ``run`` is still the connection's current sync. Return False if
    the connection no longer exists."""
    return (
        tx.one(
            f"SELECT 1 FROM context_connections WHERE id = :id AND run = :run{tx.for_update}",
            id=connection_id,
            run=run,
        )
        is not None
    )


def delete_connection(tx: Transaction, site_id: str, connection_id: str) -> bool:
    """Delete a connection and its records. Return False if it doesn't exist."""
    return bool(
        tx.run(
            "DELETE FROM context_connections WHERE id = :id AND site_id = :site",
            id=connection_id,
            site=site_id,
        )
    )


# --- records ----------------------------------------------------------------------------------------------


def list_records(
    tx: Transaction,
    site_id: str,
    limit: int,
    page: str | None,
    *,
    type: RecordType | None = None,
    connector: str | None = None,
    connection: str | None = None,
    topic: str | None = None,
) -> Slice[RecordRow]:
    """Return the records of a site, newest first."""
    # Counting every record for each page would make reading a list of them quadratic.
    known = (
        tx.value(
            "SELECT sum(c.records) FROM context_connections c WHERE c.site_id = :site"
            + (" AND c.connector = :connector" if connector else "")
            + (" AND c.id = :connection" if connection else ""),
            site=site_id,
            connector=connector,
            connection=connection,
        )
        or 0
    )
    if not known:
        return Slice([], 0)
    where = (
        (" AND r.type = :type" if type else "")
        + (" AND c.connector = :connector" if connector else "")
        + (" AND r.connection_id = :connection" if connection else "")
        + (" AND r.topic_id = :topic" if topic else "")
    )
    return list_page(
        tx,
        limit,
        page,
        _RECORD,
        f"{_RECORDS} WHERE r.site_id = :site{where}",
        lambda row: RecordRow(*row),
        by="r.id",
        descending=True,
        count=None if type or topic else known,
        site=site_id,
        type=type,
        topic=topic,
        connector=connector,
        connection=connection,
    )


def list_titles(tx: Transaction, site_id: str, limit: int) -> list[tuple[str, str]]:
    """Return the IDs and titles of the newest records of a site."""
    rows = tx.all(
        "SELECT id, title FROM context_records WHERE site_id = :site ORDER BY id DESC LIMIT :limit",
        site=site_id,
        limit=limit,
    )
    return [(record_id, title) for record_id, title in rows]


def list_topics_of_records(
    tx: Transaction, site_id: str, after: str, limit: int
) -> list[tuple[str, str, str | None]]:
    """Return the IDs, titles, and topics of the records of a site that follow an ID."""
    rows = tx.all(
        """SELECT id, title, topic_id FROM context_records WHERE site_id = :site AND id > :after
           ORDER BY id LIMIT :limit""",
        site=site_id,
        after=after,
        limit=limit,
    )
    return [(record_id, title, topic_id) for record_id, title, topic_id in rows]


def set_topics_of_records(tx: Transaction, topics: Mapping[str, str | None]) -> None:
    """Set the topics of records. ``topics``: the topic IDs by record ID; None for records without a topic."""
    tx.run_many(
        "UPDATE context_records SET topic_id = :topic WHERE id = :id",
        [{"id": id, "topic": topic_id} for id, topic_id in sorted(topics.items())],
    )


def count_records_by_topic(tx: Transaction, site_id: str) -> dict[str, int]:
    """Return the number of records of a site by topic."""
    return dict(
        tx.all(
            """SELECT topic_id, count(*) FROM context_records
               WHERE site_id = :site AND topic_id IS NOT NULL GROUP BY topic_id""",
            site=site_id,
        )
    )


def list_records_by_id(tx: Transaction, record_ids: Sequence[str]) -> list[RecordRow]:
    """Return records in the order of their IDs. Records that no longer exist are omitted."""
    rows = tx.all(f"SELECT {_RECORD} {_RECORDS} WHERE r.id IN :ids ORDER BY r.id", ids=list(record_ids))
    return [RecordRow(*row) for row in rows]


def get_record(tx: Transaction, site_id: str, record_id: str) -> RecordRow:
    """Return a record of a site. Raises NotFound if there is none."""
    row = tx.one(
        f"SELECT {_RECORD} {_RECORDS} WHERE r.site_id = :site AND r.id = :id", site=site_id, id=record_id
    )
    if row is None:
        raise NotFound(f"There is no record with the ID {record_id!r} on this site.")
    return RecordRow(*row)


def put_records(
    tx: Transaction, connection: ConnectionRow, records: Iterable[SourceRecord], run: str | None
) -> int:
    """Insert and update records, identified by their ID in the source, and return the number of changed records. If
    two records have the same ID, the later record is used. Raises Conflict if the site's limit is exceeded."""
    wanted = {record.id: record for record in records}
    known: dict[str, str] = dict(
        tx.all(
            """SELECT external_id, fingerprint FROM context_records
               WHERE connection_id = :connection AND external_id IN :ids""",
            connection=connection.id,
            ids=sorted(wanted),
        )
    )
    fingerprints = {
        id: hashlib.sha256(msgspec.json.encode(record)).hexdigest() for id, record in wanted.items()
    }
    new = sum(id not in known for id in wanted)
    if new:
        total = tx.value(
            "SELECT sum(records) FROM context_connections WHERE site_id = :site", site=connection.site_id
        )
        if (total or 0) + new > MAX_RECORDS:
            raise Conflict(
                f"A site can have at most {MAX_RECORDS:,} records. Use a filter to import fewer records, or"
                " delete another connection."
            )
    changed = [record for id, record in sorted(wanted.items()) if known.get(id) != fingerprints[id]]
    moment = now()
    tx.run_many(
        """INSERT INTO context_records (id, connection_id, site_id, external_id, type, title, description, text, url,
             metadata, fingerprint, run, created_at, processed_at)
           VALUES (:id, :connection, :site, :external, :type, :title, :description, :text, :url, :metadata,
             :fingerprint, :run, :created, :at)
           ON CONFLICT (connection_id, external_id) DO UPDATE SET type = excluded.type, title = excluded.title,
             description = excluded.description, text = excluded.text, url = excluded.url,
             metadata = excluded.metadata, fingerprint = excluded.fingerprint, processed_at = excluded.processed_at""",
        (
            {
                "id": ids.new_id(),
                "connection": connection.id,
                "site": connection.site_id,
                "external": record.id,
                "type": record.type,
                "title": record.title,
                "description": record.description,
                "text": record.body,
                "url": record.url,
                "metadata": msgspec.json.encode(record.metadata).decode(),
                "fingerprint": fingerprints[record.id],
                "run": run,
                "created": record.created_at if record.created_at is not None else moment,
                "at": moment,
            }
            for record in changed
        ),
    )
    if run is not None:
        tx.run(
            "UPDATE context_records SET run = :run WHERE connection_id = :connection AND external_id IN :ids",
            run=run,
            connection=connection.id,
            ids=sorted(wanted),
        )
    tx.run(
        "UPDATE context_connections SET records = records + :new WHERE id = :id", new=new, id=connection.id
    )
    return len(changed)


def delete_records(tx: Transaction, connection_id: str) -> None:
    """Delete all records of a connection."""
    tx.run("DELETE FROM context_records WHERE connection_id = :connection", connection=connection_id)
    tx.run("UPDATE context_connections SET records = 0 WHERE id = :id", id=connection_id)


def delete_other_records(tx: Transaction, connection_id: str, run: str) -> int:
    """Delete a batch of the records that the latest sync didn't return. Returns the number of deleted records."""
    count = tx.run(
        """DELETE FROM context_records WHERE id IN (
             SELECT id FROM context_records WHERE connection_id = :connection AND (run IS NULL OR run <> :run)
             LIMIT :most)""",
        connection=connection_id,
        run=run,
        most=_BATCH,
    )
    tx.run("UPDATE context_connections SET records = records - :n WHERE id = :id", n=count, id=connection_id)
    return count
