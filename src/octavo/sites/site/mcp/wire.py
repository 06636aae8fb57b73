"""Wire format of MCP servers."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.kit.http.operation import Recipient
from octavo.kit.texts import NOT_BLANK, pattern
from octavo.kit.urls import FetchUrl
from octavo.organization.access.authorization import SiteAccess

from ..structure.wire import Condition, require_condition
from .store import McpServerRow, Transport

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


class McpServer(Struct, tag_field="object", tag="site-mcp-server", kw_only=True):
    """MCP server. ``headers``: the headers to send with every request to the server. They can contain secrets.
    ``condition``: a condition that limits which visitors can use the server; by default, everyone can."""

    id: str
    name: str
    url: str
    headers: dict[str, str]
    transport: Transport
    urls: Urls
    condition: str | UnsetType = UNSET


class CreateMcpServer(Struct):
    name: Name
    url: FetchUrl
    headers: Headers
    transport: Transport | UnsetType = UNSET
    condition: Condition | None | UnsetType = UNSET

    def __post_init__(self) -> None:
        require_condition(self.condition)


class UpdateMcpServer(Struct):
    """Update of an MCP server. Omitted fields stay unchanged. ``condition``: the condition; null removes
    it."""

    name: Name | UnsetType = UNSET
    url: FetchUrl | UnsetType = UNSET
    headers: Headers | UnsetType = UNSET
    transport: Transport | UnsetType = UNSET
    condition: Condition | None | UnsetType = UNSET

    def __post_init__(self) -> None:
        require_condition(self.condition)


def present_server(to: Recipient, site: SiteAccess, server: McpServerRow) -> McpServer:
    path = f"/orgs/{site.organization_id}/sites/{site.site_id}/mcp-servers/{server.id}"
    return McpServer(
        id=server.id,
        name=server.name,
        url=server.url,
        headers=server.headers,
        transport=server.transport,
        urls=Urls(to.url(path)),
        condition=server.condition or UNSET,
    )
