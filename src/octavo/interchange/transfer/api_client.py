"""Client for the APIs of other platforms. It waits for rate limits to reset, retries failed requests, and reads
paginated lists."""

from __future__ import annotations

import email.utils
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec
from msgspec import UNSET, Struct, UnsetType

from octavo.core.json_types import JsonObject
from octavo.core.paths import MAX_FILE
from octavo.core.sources import MAX_TOTAL, SourceError
from octavo.kit.net.fetch import Fetched, Fetcher, FetchError, Limits
from octavo.kit.scheduling import deadlines

MAX_SPACES = 1_000
"""Maximum number of spaces to list for an import."""
MAX_LIST_PAGES = 10_000
"""Maximum number of pages in a list, which is more than any organization should need."""
_ANSWER = Limits(size=64 * 1024 * 1024, seconds=120)
_ARCHIVE = Limits(size=MAX_TOTAL, seconds=3600)
_FILE = Limits(size=MAX_FILE, seconds=600)
_ATTEMPTS = 6
_LONGEST_WAIT = 300.0
"""Maximum number of seconds to wait before a request, even if the API asks for more."""
_BUSY = frozenset({429, 500, 502, 503, 504})


class TokenRefused(SourceError):
    """Raised if the token is invalid or has expired. Content that has already been imported is complete, and the
    next attempt continues after it."""


class ResourceMissing(SourceError):
    """Raised if the requested resource doesn't exist, or if the API has no resource of this kind."""


class FoundSpace(Struct):
    """Space that a token can access, with the title of its organization."""

    id: str
    title: str
    organization: str
    emoji: str | UnsetType = UNSET


class Api:
    """Client for an API whose paths start at ``base``. ``headers``: headers that authenticate the caller and aren't
    sent to any other URL. ``fetcher``: the HTTP client for all requests, which blocks private addresses. ``tick``: a
    function that is called for each response. ``wait``: a function that waits before a retry; None if there is no
    time to retry. The methods raise SourceError if the API doesn't respond, even after retries."""

    def __init__(
        self,
        base: str,
        headers: Mapping[str, str],
        fetcher: Fetcher,
        wait: Callable[[float], None] | None = time.sleep,
        tick: Callable[[], None] = lambda: None,
    ) -> None:
        self.base = base
        self._headers = dict(headers)
        self._fetcher = fetcher
        self._wait = wait
        self._tick = tick

    def answer(self, path: str, **query: object) -> object:
        """Return the decoded response. Raises TokenRefused, ResourceMissing, or SourceError if the request
        fails."""
        body = self._ask(self._url(path, query), self._headers, _ANSWER).body
        try:
            return msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise SourceError(f"{path}: the response isn't JSON") from None

    def get(self, path: str, **query: object) -> JsonObject:
        """Return the decoded response, which must be an object. Raises TokenRefused, ResourceMissing, or
        SourceError if the request fails."""
        body = self._ask(self._url(path, query), self._headers, _ANSWER).body
        try:
            return msgspec.json.decode(body, type=dict[str, Any])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise SourceError(f"{path}: the response isn't a JSON object") from None

    def _url(self, path: str, query: Mapping[str, object]) -> str:
        asked = {name: value for name, value in query.items() if value is not None}
        return f"{self.base}{path}" + (f"?{urlencode(asked)}" if asked else "")

    def download(self, path: str, place: Path) -> None:
        """Download the archive at a path to a file. Raises ResourceMissing if there is no archive."""
        self._ask(f"{self.base}{path}", self._headers, _ARCHIVE, place)

    def file(self, url: str) -> bytes:
        """Return the bytes at a URL that an API response contained. Only the API itself receives the credentials."""
        inside = url.startswith(f"{self.base}/")
        return self._ask(url, self._headers if inside else {}, _FILE).body

    def _ask(
        self, url: str, headers: Mapping[str, str], limits: Limits, place: Path | None = None
    ) -> Fetched:
        """Send a request. ``place``: the file that the response body is written to, chunk by chunk."""
        failed = ""
        for attempt in range(_ATTEMPTS):
            deadlines.check()
            pause = float(2**attempt)
            try:
                if place is None:
                    answer = self._fetcher.fetch(url, headers=headers, limits=limits)
                else:
                    with self._fetcher.stream(url, headers=headers, limits=limits) as streamed:
                        answer = Fetched(url, streamed.status, streamed.headers, b"")
                        if streamed.status == 200:
                            with place.open("wb") as file:
                                file.writelines(streamed.chunks)
            except FetchError as error:
                failed = error.message
            else:
                if answer.status == 200:
                    self._tick()
                    return answer
                failed = f"{_place(url)}: the server responded with status {answer.status}"
                if answer.status in (401, 403):
                    raise TokenRefused(
                        f"{failed}: the token is invalid or doesn't have permission to read this data. Check the "
                        "token."
                    )
                if answer.status not in _BUSY:
                    raise (ResourceMissing if answer.status in (404, 405, 410) else SourceError)(failed)
                pause = _seconds(answer.headers.get("retry-after")) or pause
            if self._wait is None:
                break
            if attempt + 1 < _ATTEMPTS:
                self._wait(min(pause, _LONGEST_WAIT))
        raise SourceError(failed)


class Ending:
    """Guard against lists that never end, or that lead back to a page that was already read."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._seen: set[str] = set()

    def check(self, place: str) -> None:
        """Raise SourceError if the cursor of the next page (``place``) was already used, or if the list is too
        long."""
        if place in self._seen:
            raise SourceError(f"{self._path}: the server returned the same page of the list twice")
        self._seen.add(place)
        if len(self._seen) >= MAX_LIST_PAGES:
            raise SourceError(f"{self._path}: the list has more than {MAX_LIST_PAGES:,} pages")


def _place(url: str) -> str:
    return url.partition("://")[2].partition("?")[0]


def _seconds(said: str | None) -> float:
    """Return the seconds to wait according to ``Retry-After``. This header contains either a number of seconds or a
    date."""
    if said is None:
        return 0.0
    try:
        return max(0.0, float(int(said)))
    except (ValueError, OverflowError):
        try:
            return max(0.0, email.utils.parsedate_to_datetime(said).timestamp() - time.time())
        except (ValueError, TypeError, OverflowError):
            return 0.0
