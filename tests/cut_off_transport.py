"""Asking an application of this process for streams that it may cut off."""

from __future__ import annotations

import httpx

from octavo.kit.loopback import Loopback


class CutOffTransport(Loopback):
    """One that takes a stream which the server cuts off for an answer that ended."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        answer = await super().handle_async_request(request)
        try:
            await answer.aread()
        except httpx.RemoteProtocolError:
            return httpx.Response(answer.status_code, headers=answer.headers, request=request)
        return answer
