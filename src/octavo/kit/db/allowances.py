"""Limits on how often an action is allowed within a period of time. The counters are in the database, so that limits
apply across all processes."""

from __future__ import annotations

import hashlib

from octavo.errors import TooManyRequests
from octavo.kit.clock import DAY, now

from .database import Transaction


def key_of(*parts: str) -> str:
    """Return the key of a counter. The parts themselves aren't stored."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def count_more(tx: Transaction, key: str, window: int, number: int = 1) -> int:
    """Add ``number`` to a counter, and return the counter's total in the current window. ``window``: the length of a
    window in milliseconds."""
    used: int = tx.value(
        """INSERT INTO attempts (key, window_start, count) VALUES (:key, :window, :number)
           ON CONFLICT (key, window_start) DO UPDATE SET count = attempts.count + :number RETURNING count""",
        key=key,
        window=now() // window * window,
        number=number,
    )
    return used


def spend(tx: Transaction, what: str, who: str, allowed: int, message: str, number: int = 1) -> None:
    """Count ``number`` uses against a daily limit of ``allowed``. Days start at midnight UTC.

    Raises TooManyRequests with the message if the limit is exceeded. The transaction, including the count, is then
    rolled back.
    """
    if count_more(tx, key_of("day", what, who), DAY, number) > allowed:
        left = max(1, (DAY - now() % DAY) // 1000)
        raise TooManyRequests(message, **{"retry-after": str(left)})
