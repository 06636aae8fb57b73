"""Asking the API of another platform for as long as it takes: limits that it sets, answers that do not come, lists."""

from __future__ import annotations

import email.utils
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec
from msgspec import UNSET, Struct, UnsetType

from octavo.content.revisions.files import MAX_FILE
from octavo.kit.net.fetch import Fetched, Fetcher, FetchError, Limits
from octavo.kit.scheduling import deadlines

from .sources import MAX_TOTAL, SourceError

MAX_SPACES = 1_000
"""Spaces that one can choose from."""
MAX_LIST_PAGES = 10_000
"""Pages of one list: a million of anything is more than an organization has."""
_ANSWER = Limits(size=64 * 1024 * 1024, seconds=120)
_ARCHIVE = Limits(size=MAX_TOTAL, seconds=3600)
_FILE = Limits(size=MAX_FILE, seconds=600)
_ATTEMPTS = 6
_LONGEST_WAIT = 300.0
"""Seconds that are waited at a time, whatever an answer asks for."""
_BUSY = frozenset({429, 500, 502, 503, 504})


class Refused(SourceError):
    """The token is not valid, or not any more. What was brought until then is whole, and the same again goes on."""


class Absent(SourceError):
    """What was asked for is not there, or the API has nothing of this kind."""


class FoundSpace(Struct):
    """A space that a token reaches, with the title of the organization that it is in."""

    id: str
    title: str
    organization: str
    emoji: str | UnsetType = UNSET


class Api:
    """An API whose paths begin at ``base``. ``headers`` say who asks, and are sent to no other address. Every request
    goes through ``fetcher``, which lets none come to private addresses. ``tick`` is called for each answer. ``wait``: None
    where nobody has the time to ask twice. Raises SourceError for an API that does not answer, however often it is
    asked."""

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

    def answer(self, path: str, **query: Any) -> Any:
        """The decoded answer. Raises Refused, Absent, SourceError."""
        body = self._ask(self._url(path, query), self._headers, _ANSWER).body
        try:
            return msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise SourceError(f"{path}: the answer is no JSON") from None

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        """The decoded answer, an object. Raises Refused, Absent, SourceError."""
        body = self._ask(self._url(path, query), self._headers, _ANSWER).body
        try:
            return msgspec.json.decode(body, type=dict[str, Any])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise SourceError(f"{path}: the answer is no JSON object") from None

    def _url(self, path: str, query: Mapping[str, Any]) -> str:
        asked = {name: value for name, value in query.items() if value is not None}
        return f"{self.base}{path}" + (f"?{urlencode(asked)}" if asked else "")

    def download(self, path: str, place: Path) -> None:
        """Writes what is at a path, an archive, into a file. Raises Absent where there is no such thing."""
        self._ask(f"{self.base}{path}", self._headers, _ARCHIVE, place)

    def file(self, url: str) -> bytes:
        """The bytes at an address that the API named; only the API itself is told who asks."""
        inside = url.startswith(f"{self.base}/")
        return self._ask(url, self._headers if inside else {}, _FILE).body

    def _ask(
        self, url: str, headers: Mapping[str, str], limits: Limits, place: Path | None = None
    ) -> Fetched:
        """``place``: the file that the body of an answer goes to, piece by piece."""
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
                failed = f"{_place(url)}: it answers {answer.status}"
                if answer.status in (401, 403):
                    raise Refused(f"{failed}: the token is not valid, or may not read this")
                if answer.status not in _BUSY:
                    raise (Absent if answer.status in (404, 405, 410) else SourceError)(failed)
                pause = _seconds(answer.headers.get("retry-after")) or pause
            if self._wait is None:
                break
            if attempt + 1 < _ATTEMPTS:
                self._wait(min(pause, _LONGEST_WAIT))
        raise SourceError(failed)


class Ending:
    """Ends a list that does not end by itself, or goes back to a page that was read already."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._seen: set[str] = set()

    def check(self, place: str) -> None:
        """``place``: what the next page is known by. Raises SourceError."""
        if place in self._seen:
            raise SourceError(f"{self._path}: the list goes back to a page that was read already")
        self._seen.add(place)
        if len(self._seen) >= MAX_LIST_PAGES:
            raise SourceError(f"{self._path}: the list has more than {MAX_LIST_PAGES:,} pages")


def _place(url: str) -> str:
    return url.partition("://")[2].partition("?")[0]


def _seconds(said: str | None) -> float:
    """What ``Retry-After`` asks for: a number of seconds, or a moment."""
    if said is None:
        return 0.0
    try:
        return max(0.0, float(int(said)))
    except (ValueError, OverflowError):
        try:
            return max(0.0, email.utils.parsedate_to_datetime(said).timestamp() - time.time())
        except (ValueError, TypeError, OverflowError):
            return 0.0
