"""Time: integer milliseconds since 1970 internally; ISO 8601 with milliseconds and ``Z`` in the API."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache

HOUR = 3_600_000
DAY = 24 * HOUR
WEEK = 7 * DAY
"""Duration of a week in milliseconds."""


def system_time() -> int:
    return time.time_ns() // 1_000_000


class Clock:
    """Source of time for the whole process. There is one instance, ``CLOCK``. Tests can set the time that it
    returns."""

    __slots__ = ("read",)

    def __init__(self, read: Callable[[], int]) -> None:
        self.read = read


CLOCK = Clock(system_time)


def now() -> int:
    return CLOCK.read()


def iso(milliseconds: int) -> str:
    """Return a time in milliseconds in ISO 8601 format.

    >>> iso(1767225600123)
    '2026-01-01T00:00:00.123Z'
    """
    seconds, rest = divmod(milliseconds, 1000)
    return f"{_second(seconds)}.{rest:03d}Z"


@lru_cache(maxsize=4096)
def _second(seconds: int) -> str:
    # Most long lists contain few distinct times.
    return datetime.fromtimestamp(seconds, UTC).isoformat()[:19]


_FIRST, _BEHIND_LAST = -62_135_596_800_000, 253_402_300_800_000
"""Earliest time that ``iso`` can format, and the first time beyond its range, in milliseconds. The range covers the
years 1 to 9999."""


def milliseconds(moment: datetime) -> int:
    """Convert a time to milliseconds since 1970. A time without a time zone is treated as UTC.

    Raises ValueError if ``iso`` can't format the time. Near the ends of the range, conversion to UTC may change the
    year.
    """
    seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    found = round(seconds * 1000)
    if not _FIRST <= found < _BEHIND_LAST:
        raise ValueError("must have a year from 1 to 9999")
    return found


def parse_iso(text: str) -> int:
    """Parse an ISO 8601 time, and return it in milliseconds since 1970. Raises ValueError if the text is invalid."""
    return milliseconds(datetime.fromisoformat(text))
