"""Wire format of context sources and their records."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.core.url_parts import read_address
from octavo.errors import BadRequest
from octavo.kit.clock import iso, milliseconds
from octavo.kit.db.pagination import PageQuery
from octavo.kit.http.operation import Recipient

from .connectors.registry import PULLED, PUSHED, list_fields
from .store import ConnectionRow, RecordRow, SourceUsage
from .types import HIDDEN, MAX_BODY, ConnectionStatus, FailureReason, RecordType, SourceRecord

ConnectorName = Annotated[str, Meta(max_length=100)]
Text = Annotated[str, Meta(min_length=1, max_length=2048)]
Filter = Annotated[str, Meta(max_length=1024)]


class ContextSetup(Struct, rename="camel", kw_only=True):
    """Settings of a connection, which depend on the connector. Responses hide secrets."""

    url: Text | UnsetType = UNSET
    repository: Text | UnsetType = UNSET
    token: Text | UnsetType = UNSET
    subdomain: Text | UnsetType = UNSET
    email: Text | UnsetType = UNSET
    api_token: Text | UnsetType = UNSET
    base_url: Text | UnsetType = UNSET
    api_email: Text | UnsetType = UNSET
    domain: Text | UnsetType = UNSET
    api_key: Text | UnsetType = UNSET
    channel_id: Text | UnsetType = UNSET
    data_center: Text | UnsetType = UNSET
    org_id: Text | UnsetType = UNSET
    client_id: Text | UnsetType = UNSET
    client_secret: Text | UnsetType = UNSET
    refresh_token: Text | UnsetType = UNSET


class ContextUsage(Struct, rename="camel", kw_only=True):
    """Uses of a connection's records."""

    change_requests: bool = False
    search: bool = False
    sync: bool | UnsetType = UNSET
    search_boost: Literal["x0.8", "x1.0", "x1.2"] = "x1.0"


class ContextEmail(Struct, rename="camel"):
    ingestion_address: str


class ContextUrls(Struct):
    location: str


class ContextConnection(Struct, rename="camel", kw_only=True):
    """Connection of a site to a context source."""

    id: str
    connector: str
    status: ConnectionStatus
    records: int
    usage_settings: ContextUsage
    created_at: str
    urls: ContextUrls
    object: Literal["context-connection"] = "context-connection"
    setup_settings: ContextSetup | UnsetType = UNSET
    label: str | UnsetType = UNSET
    filter: str | UnsetType = UNSET
    failure_message: str | UnsetType = UNSET
    failure_reason: FailureReason | UnsetType = UNSET
    email: ContextEmail | UnsetType = UNSET
    synced_at: str | UnsetType = UNSET


class CreateContextConnection(Struct, rename="camel", kw_only=True):
    connector: ConnectorName
    setup_settings: ContextSetup | UnsetType = UNSET
    usage_settings: ContextUsage | UnsetType = UNSET
    filter: Filter | UnsetType = UNSET


class UpdateContextConnection(Struct, rename="camel", kw_only=True):
    """Updated settings of a connection. ``connector`` is optional and must be the current connector."""

    connector: ConnectorName | UnsetType = UNSET
    setup_settings: ContextSetup | UnsetType = UNSET
    usage_settings: ContextUsage | UnsetType = UNSET
    label: Annotated[str, Meta(max_length=128)] | None | UnsetType = UNSET
    filter: Filter | None | UnsetType = UNSET


class ContextTestResult(Struct, kw_only=True):
    """Result of a test. ``error``: the reason the source can't be read."""

    success: bool
    object: Literal["context-connection-test-result"] = "context-connection-test-result"
    error: str | UnsetType = UNSET


class RecordUrls(Struct):
    location: str
    source: str | UnsetType = UNSET


class ContextRecord(Struct, rename="camel", kw_only=True):
    """Record of a source."""

    id: str
    title: str
    type: RecordType
    created_at: str
    connection: str
    connector: str
    urls: RecordUrls
    object: Literal["context-record"] = "context-record"
    description: str | UnsetType = UNSET
    processed_at: str | UnsetType = UNSET
    topics: list[str] | UnsetType = UNSET


class ContextRecordInput(Struct, rename="camel", kw_only=True):
    """Record to store. ``id``: the record's ID in the source. A record with the same ID is replaced."""

    id: Annotated[str, Meta(min_length=1, max_length=255)]
    type: RecordType
    title: Annotated[str, Meta(min_length=1, max_length=256)]
    body: Annotated[str, Meta(max_length=MAX_BODY)]
    description: Annotated[str, Meta(max_length=512)] | UnsetType = UNSET
    url: Text | UnsetType = UNSET
    created_at: datetime | UnsetType = UNSET
    metadata: (
        Annotated[
            dict[Annotated[str, Meta(max_length=100)], Annotated[str, Meta(max_length=2000)] | int | float],
            Meta(max_length=100),
        ]
        | UnsetType
    ) = UNSET


ContextRecords = Annotated[list[ContextRecordInput], Meta(min_length=1, max_length=500)]


class RecordsQuery(PageQuery, kw_only=True):
    type: RecordType | None = None
    connector: ConnectorName | None = None
    connection: Annotated[str, Meta(max_length=100)] | None = None
    topic: Annotated[str, Meta(max_length=100)] | None = None


_WIRE_NAMES = {
    name: "".join(part if at == 0 else part.title() for at, part in enumerate(name.split("_")))
    for name in ContextSetup.__struct_fields__
}


def check_connector(name: str) -> None:
    """Raise BadRequest if this server doesn't have the connector."""
    available = sorted((*PULLED, *PUSHED))
    if name not in available:
        raise BadRequest(f"connector: must be one of {', '.join(available)}")


def read_setup(connector: str, setup: ContextSetup) -> dict[str, str]:
    """Return the settings of a connection, including its secrets. Raises BadRequest if a setting is
    invalid."""
    fields, _ = list_fields(connector)
    values: dict[str, str] = {}
    for name, shown in _WIRE_NAMES.items():
        value = getattr(setup, name)
        if value is UNSET and name in fields:
            raise BadRequest(f"setupSettings.{shown}: is required for {connector}")
        if value is UNSET:
            continue
        if name not in fields:
            raise BadRequest(f"setupSettings.{shown}: isn't a setting for {connector}")
        if not value.isprintable():
            raise BadRequest(f"setupSettings.{shown}: must not contain control characters")
        values[name] = _check_value(name, shown, value)
    return values


def _check_value(name: str, shown: str, value: str) -> str:
    if name in ("url", "base_url"):
        address = read_address(value)
        if address is None or not address.is_web or address.username:
            raise BadRequest(f"setupSettings.{shown}: must be an http or https URL")
    return value


def read_usage(given: ContextUsage) -> SourceUsage:
    """Return the settings for how records are used. Raises BadRequest if a use isn't supported."""
    if given.search:
        raise BadRequest(
            "usageSettings.search: must be false, because search on this server doesn't include records"
        )
    if given.sync is True:
        raise BadRequest("usageSettings.sync: must be false, because this server doesn't write to sources")
    return SourceUsage(given.change_requests, given.search, given.search_boost)


def present_connection(
    to: Recipient, organization_id: str, row: ConnectionRow, mail_domain: str | None
) -> ContextConnection:
    """Return a connection in the API format. ``mail_domain``: the domain for which this server receives mail, if
    any."""
    _, secrets = list_fields(row.connector)
    setup = {**row.setup, **dict.fromkeys(secrets, HIDDEN)}
    usage = row.usage
    is_mail = row.connector == "builtin:email" and mail_domain is not None
    return ContextConnection(
        id=row.id,
        connector=row.connector,
        status=row.status,
        records=row.records,
        usage_settings=ContextUsage(
            change_requests=usage.change_requests,
            search=usage.search,
            search_boost=usage.search_boost,  # type: ignore[arg-type]
        ),
        created_at=iso(row.created_at),
        urls=ContextUrls(_location(to, organization_id, row.site_id, "context-connections", row.id)),
        setup_settings=ContextSetup(**setup) if setup else UNSET,
        label=row.label or UNSET,
        filter=row.filter or UNSET,
        failure_message=row.failure_message or UNSET,
        failure_reason=row.failure_reason or UNSET,
        email=ContextEmail(f"{row.id.lower()}@{mail_domain}") if is_mail else UNSET,
        synced_at=iso(row.synced_at) if row.synced_at is not None else UNSET,
    )


def present_record(to: Recipient, organization_id: str, row: RecordRow) -> ContextRecord:
    location = _location(to, organization_id, row.site_id, "context-records", row.id)
    return ContextRecord(
        id=row.id,
        title=row.title,
        type=row.type,
        created_at=iso(row.created_at),
        connection=row.connection_id,
        connector=row.connector,
        urls=RecordUrls(location, row.url or UNSET),
        description=row.description or UNSET,
        processed_at=iso(row.processed_at),
        topics=[row.topic_id] if row.topic_id is not None else UNSET,
    )


def _location(to: Recipient, organization_id: str, site_id: str, kind: str, id: str) -> str:
    return to.url(f"/orgs/{organization_id}/sites/{site_id}/{kind}/{id}")


def read_records(given: list[ContextRecordInput]) -> list[SourceRecord]:
    """Return records in their stored format. Raises BadRequest, which contains the record's position, if a record is
    invalid."""
    return [_read_record(f"[{number}]", record) for number, record in enumerate(given)]


def _read_record(place: str, given: ContextRecordInput) -> SourceRecord:
    url = given.url if given.url is not UNSET else None
    address = read_address(url) if url is not None else None
    if url is not None and (address is None or not address.is_web):
        raise BadRequest(f"{place}.url: must be an http or https URL")
    try:
        created_at = milliseconds(given.created_at) if given.created_at is not UNSET else None
    except ValueError:
        raise BadRequest(f"{place}.createdAt: must have a year from 1 to 9999") from None
    return SourceRecord(
        id=given.id,
        type=given.type,
        title=given.title,
        body=given.body,
        description=given.description if given.description is not UNSET else None,
        url=url,
        created_at=created_at,
        metadata=given.metadata if given.metadata is not UNSET else {},
    )
