"""Limits on guessing: counted in the database, so that they hold for all processes together.

What is counted does not depend on whether the account exists, so neither does the refusal.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from ..errors import TooManyRequests
from ..kit.clock import now
from ..kit.db import Transaction

WINDOW = 15 * 60_000
PER_ACCOUNT_AND_ADDRESS = 10
PER_ACCOUNT = 50
PER_ADDRESS = 100


def _key(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def counters(kind: str, account: str, address: str, per_account: int = PER_ACCOUNT) -> dict[str, int]:
    """The counters that one try of ``kind`` falls under, by key, each with its limit."""
    return {
        _key(kind, "both", account, address): PER_ACCOUNT_AND_ADDRESS,
        _key(kind, "account", account): per_account,
        _key(kind, "address", address): PER_ADDRESS,
    }


def take(tx: Transaction, keys: Mapping[str, int]) -> None:
    """Counts a try. Raises TooManyRequests when one of the counters is used up in this window.

    Take it in a transaction that commits before the try is made: tries at the same time are then counted.
    """
    window = now() // WINDOW * WINDOW
    for key in sorted(keys):
        used = tx.value(
            """INSERT INTO attempts (key, window_start, count) VALUES (:key, :window, 1)
               ON CONFLICT (key, window_start) DO UPDATE SET count = attempts.count + 1 RETURNING count""",
            key=key,
            window=window,
        )
        if used > keys[key]:
            seconds = max(1, (window + WINDOW - now()) // 1000)
            raise TooManyRequests("Too many tries. Wait, then try again.", **{"retry-after": str(seconds)})


def give_back(tx: Transaction, keys: Mapping[str, int]) -> None:
    """A try that succeeded was no guess."""
    tx.run(
        "UPDATE attempts SET count = count - 1 WHERE key IN :keys AND window_start = :window AND count > 0",
        keys=sorted(keys),
        window=now() // WINDOW * WINDOW,
    )
