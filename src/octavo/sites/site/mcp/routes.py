"""Operations on a site's MCP servers. Their headers can contain secrets, so only people who manage the site
have access."""

from __future__ import annotations

from octavo.kit.db.pagination import Listing, PageQuery, present_slice
from octavo.kit.http.bodies import given
from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import SiteAccess
from octavo.organization.access.roles import Can

from . import editing, store
from .wire import CreateMcpServer, McpServer, UpdateMcpServer, present_server

operation = Area("sites").operation

_SERVERS = "/orgs/{organizationId}/sites/{siteId}/mcp-servers"
_SERVER = _SERVERS + "/{siteMcpServerId}"


@operation("listSiteMcpServers", "GET", _SERVERS, needs=Can.ADMIN, yields=("sites:write",))
def list_servers(call: Call, site: SiteAccess, query: PageQuery) -> Listing[McpServer]:
    """List the MCP servers of a site, oldest first."""
    with call.db.read() as tx:
        found = store.list_servers(tx, call.context.sealer, site.site_id, query.limit, query.page)
    return present_slice(found, lambda server: present_server(call, site, server))


@operation("createSiteMcpServer", "POST", _SERVERS, needs=Can.ADMIN, status=201)
def create_server(call: Call, site: SiteAccess, body: CreateMcpServer) -> McpServer:
    """Add an MCP server, with the headers to send with requests to it."""
    with call.db.write() as tx:
        server = editing.create_server(tx, call.context, site, given(body))
        return present_server(call, site, server)


@operation("getSiteMcpServerById", "GET", _SERVER, needs=Can.ADMIN, yields=("sites:write",))
def get_server(call: Call, site: SiteAccess, site_mcp_server_id: str) -> McpServer:
    """Get an MCP server."""
    with call.db.read() as tx:
        return present_server(call, site, editing.get_server(tx, call.context, site, site_mcp_server_id))


@operation("updateSiteMcpServerById", "PATCH", _SERVER, needs=Can.ADMIN)
def update_server(call: Call, site: SiteAccess, site_mcp_server_id: str, body: UpdateMcpServer) -> McpServer:
    """Update an MCP server. If `headers` is set, it replaces all headers."""
    with call.db.write() as tx:
        return present_server(
            call, site, editing.update_server(tx, call.context, site, site_mcp_server_id, given(body))
        )


@operation("deleteSiteMcpServerById", "DELETE", _SERVER, needs=Can.ADMIN)
def delete_server(call: Call, site: SiteAccess, site_mcp_server_id: str) -> bool:
    """Delete an MCP server."""
    with call.db.write() as tx:
        return editing.delete_server(tx, call.context, site, site_mcp_server_id)
