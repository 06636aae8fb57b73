"""A client of an application in this process: it does what httpx does, whose answers it gives, and a plain
request costs it a third of what that costs."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import httpx

from asgi_client import ask
from octavo.kit.http.edge import Edge
from octavo.kit.http.serving import new_loop

_PLAIN = re.compile(
    r"(/|(?:/(?![./])[A-Za-z0-9._~!$&'()*+,;=:@-]*)+)(?:\?([A-Za-z0-9._~!$&'()*+,;=:@/?-]*))?"
)
"""Paths and queries that are sent as they are written."""
_HEADERS = {name.lower(): value for name, value in httpx.AsyncClient().headers.raw}


class _Loop(threading.local):
    """Of this thread: servers of tests ask as well."""

    def __init__(self) -> None:
        self.loop = new_loop()


_of_thread = _Loop()


class _Answer(httpx.Response):
    """A response that creates its request on access."""

    asked: tuple[str, str]

    @property
    def request(self) -> httpx.Request:
        return httpx.Request(*self.asked)


class LightClient:
    """HTTP client. ``base``: scheme and host of URLs that start with a slash. ``address``: that of the
    client. ``cookies``: received cookies, which it sends again if it keeps any."""

    def __init__(
        self,
        edge: Edge,
        base: str,
        *,
        address: str = "127.0.0.1",
        keeps_cookies: bool = False,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self.cookies = httpx.Cookies()
        self._edge, self._base, self._address, self._keeps_cookies = edge, base, address, keeps_cookies
        self._loop = loop
        self._host = httpx.URL(base)

    def ask(self, method: str, url: str, **options: Any) -> httpx.Response:
        """Send a request like ``request``, for coroutines."""
        loop = self._loop or _of_thread.loop
        return loop.run_until_complete(self.request(method, url, **options))

    async def get(self, url: str, **options: Any) -> httpx.Response:
        return await self.request("GET", url, **options)

    async def post(self, url: str, **options: Any) -> httpx.Response:
        return await self.request("POST", url, **options)

    async def patch(self, url: str, **options: Any) -> httpx.Response:
        return await self.request("PATCH", url, **options)

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str | bytes] | None = None,
        params: Any = None,
        **body: Any,
    ) -> httpx.Response:
        """Return the whole response. ``body``: one of httpx's ``json``, ``content``, ``data``, and ``files``.
        Raises CutOff."""
        given = {
            **_HEADERS,
            **{
                name.lower().encode(): value if isinstance(value, bytes) else value.encode("ascii")
                for name, value in (headers or {}).items()
            },
        }
        plain = _PLAIN.fullmatch(url.removeprefix(self._base))
        content = body.get("content", b"")
        if plain and isinstance(content, bytes) and body.keys() <= {"json", "content"} and not self.cookies:
            path, query = plain.groups("")
            if params is not None:
                query = str(httpx.QueryParams(params))
            if body.get("json") is not None:
                content = json.dumps(body["json"], ensure_ascii=False, separators=(",", ":"), allow_nan=False)
                content = content.encode()
                given.setdefault(b"content-type", b"application/json")
            if content or method in ("POST", "PUT", "PATCH"):
                given.setdefault(b"content-length", b"%d" % len(content))
            given.setdefault(b"host", self._host.netloc)
            target = f"{path}?{query}" if query else path
            stream: Any = httpx.ByteStream(content)
            return await self._send(method, self._host, target.encode(), list(given.items()), stream)
        made = httpx.Request(
            method,
            url if url.startswith("http") else self._base + url,
            params=params,
            headers=list(given.items()),
            cookies=self.cookies or None,
            **body,
        )
        sent = made.headers.raw
        return await self._send(made.method, made.url, made.url.raw_path, sent, made.stream)

    async def _send(
        self, method: str, host: httpx.URL, target: bytes, headers: list[tuple[bytes, bytes]], stream: Any
    ) -> httpx.Response:
        content = b"".join([part async for part in stream])
        received = await ask(self._edge.application, method, target, headers, content, self._address)
        body = httpx.ByteStream(await received.read())
        answer = _Answer(received.status, headers=received.headers, stream=body)
        answer.elapsed = timedelta()
        answer.asked = method, f"{host.scheme}://{host.netloc.decode()}{target.decode()}"
        answer.read()
        if self._keeps_cookies and "set-cookie" in answer.headers:
            self.cookies.extract_cookies(answer)
        return answer
