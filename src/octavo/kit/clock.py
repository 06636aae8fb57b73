"""Time: integer milliseconds since 1970 inside, ISO 8601 with milliseconds and Z on the wire."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from functools import lru_cache


def now() -> int:
    return time.time_ns() // 1_000_000


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
