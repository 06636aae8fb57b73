"""The transport by which the official client of MCP asks an application of this process, and what tools of
sites say."""

from __future__ import annotations

from typing import Any

import httpx2
import jsonschema_rs

from asgi_client import ask
from octavo.delivery.reader import mcp
from octavo.kit.http.edge import Edge
from octavo.kit.http.mcp import _schema


class McpTransport(httpx2.AsyncBaseTransport):
    def __init__(self, edge: Edge) -> None:
        self._edge = edge

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = await request.aread()
        answer = await ask(
            self._edge.application, request.method, request.url.raw_path, request.headers.raw, body
        )
        return httpx2.Response(
            answer.status, headers=answer.headers, stream=httpx2.ByteStream(await answer.read())
        )


def said_by(tool: str, result: dict[str, Any]) -> dict[str, Any]:
    """Return the structured content of a tool result, checked against the tool's output schema."""
    gives = mcp._TOOLS[tool].gives if tool in mcp._TOOLS else None
    if result["isError"] or gives is None:
        assert "structuredContent" not in result, result
        return {}
    found: dict[str, Any] = result["structuredContent"]
    jsonschema_rs.Draft202012Validator(_schema(gives)).validate(found)
    return found
