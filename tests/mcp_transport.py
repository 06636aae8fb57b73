"""The transport by which the official client of MCP asks an application of this process."""

from __future__ import annotations

import httpx2

from asgi_client import ask
from octavo.kit.http.edge import Edge


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
