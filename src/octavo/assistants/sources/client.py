"""Send requests to the APIs of sources, and explain failures. Nothing is retried, because the next sync continues from
the same position."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

import msgspec
from lxml import etree

from octavo.core.json_types import JsonObject
from octavo.kit.net.fetch import Fetcher, FetchError, FetchNotAllowed, Limits
from octavo.kit.scheduling import deadlines

from .types import FailureReason, SourceFailure

_ANSWER = Limits(size=32 * 1024 * 1024, seconds=30, redirects=0)
_LONGEST_LIST = 10_000
"""Maximum number of pages to read from a list in one sync."""


class SourceApi:
    """Client for the API of a service. ``base``: the root URL. ``name``: the name of the service, for
    messages. ``headers``: the headers for authentication."""

    def __init__(self, name: str, base: str, fetcher: Fetcher, headers: Mapping[str, str]) -> None:
        self._name, self._base, self._fetcher = name, base.rstrip("/"), fetcher
        self._headers = {"Accept": "application/json", **headers}

    def get(self, path: str, **query: str | int) -> JsonObject:
        return _as_object(self.ask("GET", path, query=query), self._name)

    def list(self, path: str, **query: str | int) -> list[JsonObject]:
        found = self.ask("GET", path, query=query)
        if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
            raise _unreadable(self._name)
        return found

    def post(self, path: str, body: JsonObject) -> JsonObject:
        return _as_object(self.ask("POST", path, body=body), self._name)

    def ask(
        self,
        method: str,
        path: str,
        query: Mapping[str, str | int] | None = None,
        body: JsonObject | None = None,
    ) -> object:
        """Return the decoded response. Raises SourceFailure if the request fails."""
        deadlines.check()
        url = f"{self._base}{path}" + (f"?{urlencode(query)}" if query else "")
        headers = self._headers | ({"Content-Type": "application/json"} if body is not None else {})
        content = msgspec.json.encode(body) if body is not None else None
        try:
            answer = self._fetcher.fetch(url, method, headers, content, _ANSWER)
        except FetchNotAllowed as error:
            raise SourceFailure("misconfigured", error.message) from None
        except FetchError as error:
            raise SourceFailure("upstream_unavailable", error.message) from None
        if answer.status != 200:
            raise _failure(self._name, answer.status, answer.headers)
        try:
            found: object = msgspec.json.decode(answer.body)
            return found
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise _unreadable(self._name) from None


class ListGuard:
    """Guard against lists that never end or repeat a page."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._seen: set[str] = set()

    def check(self, place: str) -> None:
        """Raise SourceFailure if the cursor of the next page was already used or the list is too long."""
        if place in self._seen or len(self._seen) >= _LONGEST_LIST:
            raise SourceFailure(
                "upstream_unavailable", f"{self._name} returned a list that doesn't end. Try again later."
            )
        self._seen.add(place)


def _failure(name: str, status: int, headers: Mapping[str, str]) -> SourceFailure:
    reason: FailureReason = "unknown"
    if status == 429 or (status == 403 and headers.get("x-ratelimit-remaining") == "0"):
        reason, text = (
            "rate_limited",
            f"{name} reached its rate limit. The next sync will continue from here.",
        )
    elif status in (401, 403):
        reason = "authentication"
        text = (
            f"{name} rejected the credentials, or they don't grant access to this source (status {status})."
            " Check the credentials."
        )
    elif status in (400, 404, 410, 422):
        reason, text = (
            "misconfigured",
            f"{name} couldn't find this source (status {status}). Check the settings.",
        )
    elif status >= 500:
        reason, text = (
            "upstream_unavailable",
            f"{name} isn't available right now (status {status}). The next sync will continue from here.",
        )
    else:
        text = f"{name} responded with status {status}."
    return SourceFailure(reason, text)


def _unreadable(name: str) -> SourceFailure:
    return SourceFailure("upstream_unavailable", f"{name} returned a response that can't be read.")


def _as_object(found: object, name: str) -> JsonObject:
    if not isinstance(found, dict):
        raise _unreadable(name)
    return found


def read_text(value: object) -> str:
    """Return a value from a response if it is a string; otherwise, an empty string."""
    return value if isinstance(value, str) else ""


def read_list(value: object) -> list[JsonObject]:
    """Return the objects of a list in a response."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def text_of_html(html: str) -> str:
    """Return the text of an HTML fragment, with a line for each block."""
    # The import code is loaded only when needed.
    from octavo.interchange.readers.formats.html import parse_html

    tree = parse_html(html)
    if tree is None:
        return ""
    for element in tree.iter("br", "p", "div", "li", "tr"):
        element.tail = f"\n{element.tail or ''}"
    etree.strip_elements(tree, "script", "style", with_tail=False)
    lines = (" ".join(line.split()) for line in "".join(tree.itertext()).splitlines())
    return "\n".join(line for line in lines if line)
