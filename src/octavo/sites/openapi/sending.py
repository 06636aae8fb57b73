"""Requests that are sent for visitors: to servers of a description, within bounds, and kept nowhere."""

from __future__ import annotations

import time

from msgspec import Struct

from octavo.kit.net.fetch import Fetcher, Limits

from .trying import PreparedRequest

_LIMITS = Limits(size=2 * 1024 * 1024, seconds=20, follow=False)
"""A redirect is an answer like another: it may lead to a server that the description does not name."""


class Sent(Struct):
    """The answer of a server. ``body`` is in base64 as JSON; ``milliseconds`` are what it took."""

    status: int
    headers: list[tuple[str, str]]
    milliseconds: int
    body: bytes


def send(fetcher: Fetcher, prepared: PreparedRequest) -> Sent:
    """Raises FetchError, which names the host and the reason and nothing of what was sent."""
    begin = time.monotonic()
    got = fetcher.fetch(prepared.url, prepared.method, prepared.headers, prepared.body, _LIMITS)
    taken = round((time.monotonic() - begin) * 1000)
    return Sent(got.status, list(got.headers.multi_items()), taken, got.body)
