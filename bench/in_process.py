"""Requests to an application of this process, without a network."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from octavo.kit.http.edge import Edge


async def ask(
    edge: Edge, method: str, target: str, headers: Iterable[tuple[bytes, bytes]], body: bytes = b""
) -> tuple[int, bytes]:
    """Return status and body of the response."""
    path, _, query = target.encode().partition(b"?")
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "raw_path": path,
        "query_string": query,
        "headers": list(headers),
        "client": ("127.0.0.1", 0),
    }
    status, pieces = 0, []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body}

    async def send(message: Any) -> None:
        nonlocal status
        status = message.get("status", status)
        pieces.append(message.get("body", b""))

    await edge.application(scope, receive, send)
    return status, b"".join(pieces)
