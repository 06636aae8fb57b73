"""Time: integer milliseconds since 1970 inside, ISO 8601 with milliseconds and Z on the wire."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache


def system_time() -> int:
    return time.time_ns() // 1_000_000


class Clock:
    """What tells the whole process the time. There is one, ``CLOCK``; tests set what it reads."""

    __slots__ = ("read",)

    def __init__(self, read: Callable[[], int]) -> None:
        self.read = read


CLOCK = Clock(system_time)


def now() -> int:
    return CLOCK.read()


def iso(milliseconds: int) -> str:
    """
    >>> iso(1767225600123)
    '2026-01-01T00:00:00.123Z'
    """
    seconds, rest = divmod(milliseconds, 1000)
    return f"{_second(seconds)}.{rest:03d}Z"


@lru_cache(maxsize=4096)
def _second(seconds: int) -> str:
    # Long lists are mostly of a few moments.
    return datetime.fromtimestamp(seconds, UTC).isoformat()[:19]


def parse_iso(text: str) -> int:
    """Milliseconds of an ISO 8601 moment; a moment without a zone is UTC. Raises ValueError."""
    moment = datetime.fromisoformat(text)
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
