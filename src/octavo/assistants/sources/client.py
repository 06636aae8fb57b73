"""Send requests to the APIs of sources, and explain failures. Failed requests aren't retried, because the next sync
continues from the same position."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from datetime import datetime
from urllib.parse import urlencode

import msgspec
from lxml import etree

from octavo.core.json_types import JsonObject
from octavo.kit.clock import milliseconds
from octavo.kit.net.fetch import Fetcher, FetchError, FetchNotAllowed, Limits
from octavo.kit.scheduling import deadlines

from .types import FailureReason, SourceFailure

_ANSWER = Limits(size=32 * 1024 * 1024, seconds=30, follow=False)
_LONGEST_LIST = 10_000
"""Maximum number of pages of a list to read in one sync."""


class SourceApi:
    """Client for the API of a service. Its methods raise SourceFailure if a request fails.

    ``base``: the root URL. ``name``: the name of the service, for messages. ``headers``: the headers for
    authentication.
    """

    def __init__(self, name: str, base: str, fetcher: Fetcher, headers: Mapping[str, str]) -> None:
        self._name, self._base, self._fetcher = name, base.rstrip("/"), fetcher
        self._headers = {"Accept": "application/json", **headers}

    def get(self, path: str, **query: str | int) -> JsonObject:
        return _as_object(self._decode(self.read(path, **query)), self._name)

    def list(self, path: str, **query: str | int) -> list[JsonObject]:
        found = self._decode(self.read(path, **query))
        if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
            raise _unreadable(self._name)
        return found

    def post(self, path: str, body: JsonObject) -> JsonObject:
        headers = {"Content-Type": "application/json"}
        return _as_object(
            self._decode(self._send("POST", path, msgspec.json.encode(body), headers)), self._name
        )

    def post_form(self, path: str, form: Mapping[str, str]) -> JsonObject:
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        return _as_object(
            self._decode(self._send("POST", path, urlencode(form).encode(), headers)), self._name
        )

    def read(self, path: str, **query: str | int) -> bytes:
        """Return the body of a response that isn't JSON."""
        return self._send("GET", f"{path}?{urlencode(query)}" if query else path)

    def _decode(self, body: bytes) -> object:
        try:
            # Responses with the status 204 have no body.
            found: object = msgspec.json.decode(body or b"{}")
            return found
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise _unreadable(self._name) from None

    def _send(
        self, method: str, path: str, content: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> bytes:
        deadlines.check()
        sent = self._headers | dict(headers or {})
        try:
            answer = self._fetcher.fetch(f"{self._base}{path}", method, sent, content, _ANSWER)
        except FetchNotAllowed as error:
            raise SourceFailure("misconfigured", error.message) from None
        except FetchError as error:
            raise SourceFailure("upstream_unavailable", error.message) from None
        if answer.status not in (200, 204):
            raise _failure(self._name, answer.status, answer.headers)
        return answer.body


class ListGuard:
    """Guard against lists that never end, or that repeat a page."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._seen: set[str] = set()

    def check(self, place: str) -> None:
        """Raise SourceFailure if the cursor of the next page was already used, or if the list is too long."""
        if place in self._seen or len(self._seen) >= _LONGEST_LIST:
            raise SourceFailure(
                "upstream_unavailable",
                f"{self._name} returned an endless or repeating list. Try again later.",
            )
        self._seen.add(place)


def _failure(name: str, status: int, headers: Mapping[str, str]) -> SourceFailure:
    reason: FailureReason = "unknown"
    if status == 429 or (status == 403 and headers.get("x-ratelimit-remaining") == "0"):
        reason, text = (
            "rate_limited",
            f"{name} reached its rate limit. The next sync will pick up where this one stopped.",
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
            f"{name} isn't available right now (status {status}). The next sync will pick up where this one stopped.",
        )
    else:
        text = f"{name} responded with status {status}."
    return SourceFailure(reason, text)


def _unreadable(name: str) -> SourceFailure:
    return SourceFailure("upstream_unavailable", f"{name} returned an invalid response. Try again later.")


def _as_object(found: object, name: str) -> JsonObject:
    if not isinstance(found, dict):
        raise _unreadable(name)
    return found


def read_text(value: object) -> str:
    """Return a value from a response if it is a string; otherwise, return an empty string."""
    return value if isinstance(value, str) else ""


def read_list(value: object) -> list[JsonObject]:
    """Return the objects in a list from a response."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def read_object(value: object) -> JsonObject:
    """Return a value from a response if it is an object; otherwise, return an empty object."""
    return value if isinstance(value, dict) else {}


def read_names(value: object) -> str:
    """Return the names in a list from a response, such as labels, separated by commas. Each item of the list is a
    string or an object with a ``name``."""
    names = [
        read_text(read_object(each).get("name")) or read_text(each)
        for each in (value if isinstance(value, list) else [])
    ]
    return ", ".join(name for name in names if name)


def read_time(value: object) -> int | None:
    """Convert a time in a response to milliseconds. Return None if the value isn't a time."""
    try:
        return milliseconds(datetime.fromisoformat(read_text(value)))
    except ValueError:
        return None


def read_seconds(value: object) -> int | None:
    """Convert a time in seconds from a response to milliseconds; return None if it isn't a time."""
    return int(value * 1000) if isinstance(value, int | float) and 0 < value < 10**10 else None


def basic_login(user: str, secret: str) -> dict[str, str]:
    """Return the header that signs in with a username and a secret."""
    return {"Authorization": f"Basic {base64.b64encode(f'{user}:{secret}'.encode()).decode()}"}


def text_of_html(html: str) -> str:
    """Return the text of an HTML fragment, with each block on its own line."""
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
