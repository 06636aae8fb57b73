"""Send requests on behalf of visitors to the servers in a specification. Requests are limited and never
stored."""

from __future__ import annotations

import time

from msgspec import Struct

from octavo.kit.net.fetch import Fetcher, Limits

from .trying import PreparedRequest

_LIMITS = Limits(size=2 * 1024 * 1024, seconds=20, follow=False)
"""Limits for a request. Redirects are returned like any other response, because their target may be a
server that the specification doesn't list."""


class Sent(Struct):
    """Server response. ``body``: the body, which is encoded in base64 in JSON. ``milliseconds``: the duration."""

    status: int
    headers: list[tuple[str, str]]
    milliseconds: int
    body: bytes


def send(fetcher: Fetcher, prepared: PreparedRequest) -> Sent:
    """Send a request. Raises FetchError, whose message contains the host and the reason but no part of the
    request."""
    begin = time.monotonic()
    got = fetcher.fetch(prepared.url, prepared.method, prepared.headers, prepared.body, _LIMITS)
    taken = round((time.monotonic() - begin) * 1000)
    return Sent(got.status, list(got.headers.multi_items()), taken, got.body)
