"""A visitor of published sites, through the reader's own ASGI application."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx

from octavo.kit.context import Context
from octavo.reader import reader_edge


class Visitor:
    def __init__(self, context: Context) -> None:
        self._app = reader_edge(context)

    def get(self, path: str, params: dict[str, str] | None = None, **headers: Any) -> httpx.Response:
        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(app=self._app)  # type: ignore[arg-type]
            async with httpx.AsyncClient(transport=transport, base_url="http://sites.test") as client:
                return await client.get(path, params=params, headers=headers)

        return asyncio.run(ask())
