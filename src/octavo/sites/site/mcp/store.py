"""Read and write MCP servers in the database. Rows are returned as frozen records; headers are stored
encrypted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec
from msgspec import Struct

from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.db.database import Row, Transaction
from octavo.kit.db.pagination import Slice, list_page
from octavo.kit.secrets.sealing import Sealer, sealed_column

HEADERS = sealed_column("site_mcp_servers", "headers", "id")
MAX_SERVERS = 50
Transport = Literal["sse", "http"]


class McpServerRow(Struct, frozen=True):
    id: str
    name: str
    url: str
    headers: dict[str, str]
    transport: Transport
    condition: str | None


_COLUMNS = "id, name, url, headers, transport, condition"
_decoder = msgspec.json.Decoder(dict[str, str])


def _server(sealer: Sealer, row: Row) -> McpServerRow:
    id, name, url, headers, transport, condition = row
    opened = _decoder.decode(HEADERS.open(sealer, headers, id))
    return McpServerRow(id, name, url, opened, transport, condition)


def find_server(tx: Transaction, sealer: Sealer, site_id: str, server_id: str) -> McpServerRow | None:
    row = tx.one(
        f"SELECT {_COLUMNS} FROM site_mcp_servers WHERE id = :id AND site_id = :site",
        id=server_id,
        site=site_id,
    )
    return _server(sealer, row) if row else None


def count_servers(tx: Transaction, site_id: str) -> int:
    return int(tx.value("SELECT count(*) FROM site_mcp_servers WHERE site_id = :site", site=site_id))


def list_servers(
    tx: Transaction, sealer: Sealer, site_id: str, limit: int, page: str | None
) -> Slice[McpServerRow]:
    """List MCP servers, oldest first."""
    source = "FROM site_mcp_servers WHERE site_id = :site"
    return list_page(tx, limit, page, _COLUMNS, source, lambda row: _server(sealer, row), site=site_id)


def insert_server(tx: Transaction, sealer: Sealer, site_id: str, values: Mapping[str, object]) -> str:
    """Insert an MCP server. ``values``: the columns ``name``, ``url``, and ``headers``, and optionally other
    columns."""
    server_id = ids.new_id()
    given = {**values, "headers": _sealed(sealer, server_id, values["headers"])}
    tx.run(
        f"""INSERT INTO site_mcp_servers (id, site_id, created_at, {", ".join(given)})
           VALUES (:id, :site, :at, {", ".join(f":{name}" for name in given)})""",
        id=server_id,
        site=site_id,
        at=now(),
        **given,
    )
    return server_id


def update_server(tx: Transaction, sealer: Sealer, server_id: str, values: Mapping[str, object]) -> None:
    columns = ", ".join(f"{name} = :{name}" for name in values)
    if "headers" in values:
        values = {**values, "headers": _sealed(sealer, server_id, values["headers"])}
    tx.run(f"UPDATE site_mcp_servers SET {columns} WHERE id = :id", id=server_id, **values)


def _sealed(sealer: Sealer, server_id: str, headers: object) -> str:
    return HEADERS.seal(sealer, msgspec.json.encode(headers).decode(), server_id)


def delete_server(tx: Transaction, server_id: str) -> None:
    tx.run("DELETE FROM site_mcp_servers WHERE id = :id", id=server_id)
