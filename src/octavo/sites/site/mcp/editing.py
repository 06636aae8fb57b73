"""Create, update, and delete records of MCP servers."""

from __future__ import annotations

from collections.abc import Mapping

from octavo.errors import Conflict, NotFound
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import SiteAccess

from . import store
from .store import McpServerRow


def get_server(tx: Transaction, context: Context, site: SiteAccess, server_id: str) -> McpServerRow:
    found = store.find_server(tx, context.sealer, site.site_id, server_id)
    if found is None:
        raise NotFound(f"There is no MCP server with the ID {server_id!r} on this site.")
    return found


def create_server(
    tx: Transaction, context: Context, site: SiteAccess, values: Mapping[str, object]
) -> McpServerRow:
    """Create the record of an MCP server. ``values``: the values by column. Raises Conflict if the site has too many
    MCP servers."""
    if store.count_servers(tx, site.site_id) >= store.MAX_SERVERS:
        raise Conflict(
            f"A site can have at most {store.MAX_SERVERS} MCP servers. Delete one before adding another."
        )
    server_id = store.insert_server(tx, context.sealer, site.site_id, values)
    after = {name: value for name, value in values.items() if name != "headers"}
    _note(tx, site, "created", server_id, after=after)
    return get_server(tx, context, site, server_id)


def update_server(
    tx: Transaction, context: Context, site: SiteAccess, server_id: str, values: Mapping[str, object]
) -> McpServerRow:
    before = get_server(tx, context, site, server_id)
    if values:
        store.update_server(tx, context.sealer, server_id, values)
        # Headers can contain secrets, so the log records only that they changed.
        after = {name: "changed" if name == "headers" else value for name, value in values.items()}
        was = {name: getattr(before, name) for name in values if name != "headers"}
        _note(tx, site, "updated", server_id, before=was, after=after)
    return get_server(tx, context, site, server_id)


def delete_server(tx: Transaction, context: Context, site: SiteAccess, server_id: str) -> bool:
    """Delete the record of an MCP server. Return False if it doesn't exist."""
    found = store.find_server(tx, context.sealer, site.site_id, server_id)
    if found is None:
        return False
    store.delete_server(tx, server_id)
    _note(tx, site, "removed", server_id, before={"name": found.name, "url": found.url})
    return True


def _note(
    tx: Transaction,
    site: SiteAccess,
    done: str,
    server_id: str,
    *,
    before: object = None,
    after: object = None,
) -> None:
    target = ("siteMcpServer", server_id)
    audit(tx, site.actor, f"siteMcpServer.{done}", site.organization_id, target, before=before, after=after)
