"""Wire types of MCP servers."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.kit.http.operation import Recipient
from octavo.kit.texts import NOT_BLANK, pattern
from octavo.kit.urls import FetchUrl
from octavo.organization.access.authorization import SiteAccess

from .store import McpServerRow

Name = Annotated[str, Meta(min_length=1, max_length=100, pattern=NOT_BLANK)]
HeaderName = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=128,
        pattern=pattern(
            r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+\Z", "be the name of an HTTP header, such as Authorization"
        ),
    ),
]
HeaderValue = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=512,
        pattern=pattern(r"^[\t\x20-\x7e]*\Z", "consist of printable ASCII characters, spaces, and tabs"),
    ),
]
Headers = Annotated[dict[HeaderName, HeaderValue], Meta(max_length=20)]


class Urls(Struct):
    location: str


class McpServer(Struct, tag_field="object", tag="site-mcp-server"):
    """MCP server. ``headers``: sent with every request to the server; can contain secrets."""

    id: str
    name: str
    url: str
    headers: dict[str, str]
    urls: Urls


class CreateMcpServer(Struct):
    name: Name
    url: FetchUrl
    headers: Headers


class UpdateMcpServer(Struct):
    name: Name | UnsetType = UNSET
    url: FetchUrl | UnsetType = UNSET
    headers: Headers | UnsetType = UNSET


def present_server(to: Recipient, site: SiteAccess, server: McpServerRow) -> McpServer:
    path = f"/orgs/{site.organization_id}/sites/{site.site_id}/mcp-servers/{server.id}"
    return McpServer(server.id, server.name, server.url, server.headers, Urls(to.url(path)))
