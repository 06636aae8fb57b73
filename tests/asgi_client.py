"""Requests to an ASGI application in this process, sequential or during streaming of earlier responses."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterable
from typing import Any

from octavo.kit.http.asgi import Application

_UNREAD = 64 * 1024
"""Bytes of a response that wait to be read before the application has to wait."""
_CONTROL = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
"""Characters that would split a response if they occurred in a header."""


class CutOff(Exception):
    """The response ended before it was complete."""


class Received:
    """A response whose head has arrived. Iterating gives the body, which raises CutOff; read it to its end,
    or close it."""

    def __init__(self, application: Application, scope: dict[str, Any], body: bytes) -> None:
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self._body: bytes | None = body
        self._pieces: list[bytes] = []
        self._complete = self._gone = False
        self._change = asyncio.Event()
        self._task = asyncio.ensure_future(application(scope, self._receive, self._send))
        self._task.add_done_callback(lambda task: self._change.set())

    async def _receive(self) -> dict[str, Any]:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        while not self._gone and not self._complete:
            await self._changed()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], list(message["headers"])
            for name, value in self.headers:
                assert not _CONTROL.search(name + value), f"{name!r}: {value!r}"
        else:
            self._pieces.append(message.get("body", b""))
            self._complete = not message.get("more_body", False)
        self._notify()
        while not self._complete and not self._gone and sum(map(len, self._pieces)) > _UNREAD:
            await self._changed()

    def _notify(self) -> None:
        change, self._change = self._change, asyncio.Event()
        change.set()

    async def _changed(self) -> None:
        await self._change.wait()

    async def head(self) -> Received:
        while not self.status:
            if self._task.done():
                self._task.result()
                raise CutOff
            await self._changed()
        return self

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while self._pieces or not self._complete:
            if self._pieces:
                piece, self._pieces = b"".join(self._pieces), []
                self._notify()
                if piece:
                    yield piece
            elif self._task.done():
                raise CutOff
            else:
                await self._changed()
        await self.close()

    async def read(self) -> bytes:
        """Return the whole body. Raises CutOff."""
        return b"".join([piece async for piece in self])

    async def close(self) -> None:
        """Leave, and return when the application has ended."""
        self._gone = True
        self._notify()
        await asyncio.wait([self._task])


async def ask(
    application: Application,
    method: str,
    target: bytes,
    headers: Iterable[tuple[bytes, bytes]],
    body: bytes = b"",
    peer: str = "127.0.0.1",
) -> Received:
    """Send a request from the address ``peer``, and return its response once the head is there. Raises CutOff."""
    path, _, query = target.partition(b"?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path.decode("latin-1"),
        "raw_path": path,
        "query_string": query,
        "headers": [(name.lower(), value) for name, value in headers],
        "client": (peer, 0),
        "server": ("127.0.0.1", 80),
    }
    return await Received(application, scope, body).head()
