"""How often something may be done within a time: counted in the database, so that all processes count together."""

from __future__ import annotations

import hashlib

from octavo.errors import TooManyRequests
from octavo.kit.clock import now

from .database import Transaction

DAY = 24 * 3_600_000


def key_of(*parts: str) -> str:
    """What is counted together; the parts themselves are not kept."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def count_more(tx: Transaction, key: str, window: int, number: int = 1) -> int:
    """Counts ``number`` more and gives the sum within this window of so many milliseconds."""
    used: int = tx.value(
        """INSERT INTO attempts (key, window_start, count) VALUES (:key, :window, :number)
           ON CONFLICT (key, window_start) DO UPDATE SET count = attempts.count + :number RETURNING count""",
        key=key,
        window=now() // window * window,
        number=number,
    )
    return used


def spend(tx: Transaction, what: str, who: str, allowed: int, message: str, number: int = 1) -> None:
    """Counts ``number`` more of what somebody may do ``allowed`` times a day, from midnight to midnight UTC. Raises
    TooManyRequests with the message; what the transaction did is then undone, the count too."""
    if count_more(tx, key_of("day", what, who), DAY, number) > allowed:
        left = max(1, (DAY - now() % DAY) // 1000)
        raise TooManyRequests(message, **{"retry-after": str(left)})
