"""Operations on a site's context sources and their records."""

from __future__ import annotations

from msgspec import UNSET

from octavo.errors import BadRequest
from octavo.kit.db.pagination import Listing, PageQuery, present_slice
from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import SiteAccess
from octavo.organization.access.roles import Can

from . import store, wire
from .mail import mail_domain
from .managing import create_source, delete_source, receive_records, sync_source, update_source
from .store import ConnectionRow, SourceUsage
from .syncing import test_connection
from .wire import read_records

operation = Area("ask").operation

_SITE = "/orgs/{organizationId}/sites/{siteId}"
_CONNECTIONS = f"{_SITE}/context-connections"
_CONNECTION = _CONNECTIONS + "/{siteContextConnectionId}"
_RECORDS = f"{_SITE}/context-records"


def _present(call: Call, site: SiteAccess, row: ConnectionRow) -> wire.ContextConnection:
    return wire.present_connection(call, site.organization_id, row, mail_domain(call.context.settings))


@operation("listSiteContextConnections", "GET", _CONNECTIONS, needs=Can.EDIT)
def list_connections(call: Call, site: SiteAccess, query: PageQuery) -> Listing[wire.ContextConnection]:
    """List the connections of a site to sources, oldest first."""
    with call.db.read() as tx:
        found = store.list_connections(tx, site.site_id, query.limit, query.page)
    return present_slice(found, lambda row: _present(call, site, row))


@operation(
    "createSiteContextConnection", "POST", _CONNECTIONS, needs=Can.ADMIN, status=201, errors=(400, 409)
)
def create_connection(
    call: Call, site: SiteAccess, body: wire.CreateContextConnection
) -> wire.ContextConnection:
    """Connect a site to a source of records, and start the first sync. `filter` lists words that records must
    contain; a minus sign before a word excludes records with that word."""
    wire.check_connector(body.connector)
    given = body.setup_settings if body.setup_settings is not UNSET else wire.ContextSetup()
    setup = wire.read_setup(body.connector, given)
    usage = SourceUsage() if body.usage_settings is UNSET else wire.read_usage(body.usage_settings)
    filter = body.filter if body.filter is not UNSET else None
    row = create_source(call.context, site, body.connector, setup, usage, filter)
    shown = _present(call, site, row)
    call.response_headers["location"] = shown.urls.location
    return shown


@operation("getSiteContextConnectionById", "GET", _CONNECTION, needs=Can.EDIT, errors=(404,))
def get_connection(call: Call, site: SiteAccess, site_context_connection_id: str) -> wire.ContextConnection:
    """Get a connection of a site."""
    with call.db.read() as tx:
        row = store.get_connection(tx, site.site_id, site_context_connection_id)
    return _present(call, site, row)


@operation("updateSiteContextConnectionById", "PATCH", _CONNECTION, needs=Can.ADMIN, errors=(400, 404))
def update_connection(
    call: Call, site: SiteAccess, site_context_connection_id: str, body: wire.UpdateContextConnection
) -> wire.ContextConnection:
    """Update a connection. If the settings or the filter change, the source is read again from the beginning.
    To keep a secret, send its placeholder in `setupSettings`."""
    with call.db.write() as tx:
        before = store.get_connection(tx, site.site_id, site_context_connection_id)
        if body.connector not in (UNSET, before.connector):
            raise BadRequest("connector: can't be changed. Create another connection instead.")
        given, used = body.setup_settings, body.usage_settings
        row = update_source(
            tx,
            call.context.sealer,
            site,
            before,
            setup=UNSET if given is UNSET else wire.read_setup(before.connector, given),
            usage=UNSET if used is UNSET else wire.read_usage(used),
            label=body.label,
            filter=body.filter,
        )
    return _present(call, site, row)


@operation("deleteSiteContextConnectionById", "DELETE", _CONNECTION, needs=Can.ADMIN)
def delete_connection(call: Call, site: SiteAccess, site_context_connection_id: str) -> bool:
    """Delete a connection and all its records. The source itself doesn't change."""
    with call.db.write() as tx:
        return delete_source(tx, site, site_context_connection_id)


@operation(
    "syncSiteContextConnection", "POST", f"{_CONNECTION}/sync", needs=Can.EDIT, status=204, errors=(400, 404)
)
def sync(call: Call, site: SiteAccess, site_context_connection_id: str) -> None:
    """Start a sync of a connection. The connection's status shows the result. Returns an error for sources that push
    their records."""
    with call.db.write() as tx:
        sync_source(tx, site, site_context_connection_id)


@operation("testSiteContextConnection", "POST", f"{_CONNECTION}/test", needs=Can.ADMIN, errors=(404,))
def test(call: Call, site: SiteAccess, site_context_connection_id: str) -> wire.ContextTestResult:
    """Test whether a source can be read with a connection's settings. A failed test isn't an error: the result
    contains the reason."""
    with call.db.read() as tx:
        row = store.get_connection(tx, site.site_id, site_context_connection_id)
    failure = test_connection(call.context, row)
    return wire.ContextTestResult(
        success=failure is None, error=failure.message if failure is not None else UNSET
    )


@operation("listSiteContextRecords", "GET", _RECORDS, needs=Can.EDIT)
def list_records(call: Call, site: SiteAccess, query: wire.RecordsQuery) -> Listing[wire.ContextRecord]:
    """List the records from all of a site's sources, newest first."""
    with call.db.read() as tx:
        found = store.list_records(
            tx,
            site.site_id,
            query.limit,
            query.page,
            type=query.type,
            connector=query.connector,
            connection=query.connection,
            topic=query.topic,
        )
    return present_slice(found, lambda row: wire.present_record(call, site.organization_id, row))


@operation(
    "getSiteContextRecordById", "GET", _RECORDS + "/{siteContextRecordId}", needs=Can.EDIT, errors=(404,)
)
def get_record(call: Call, site: SiteAccess, site_context_record_id: str) -> wire.ContextRecord:
    """Get a record of a site."""
    with call.db.read() as tx:
        row = store.get_record(tx, site.site_id, site_context_record_id)
    return wire.present_record(call, site.organization_id, row)


@operation("upsertSiteContextRecords", "PUT", _RECORDS, needs=Can.EDIT, status=204, errors=(400, 409))
def put_records(call: Call, site: SiteAccess, body: wire.ContextRecords) -> None:
    """Store up to 500 records, such as tickets or documents in Markdown. A record with the same ID as an existing
    record replaces that record. The records belong to the connection `builtin:api`, or to the connection of the
    integration that sends them. The connection is created if it doesn't exist."""
    receive_records(call.context, site, read_records(body))
