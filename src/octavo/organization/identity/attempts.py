"""Limits on guessing: counted in the database, so that they hold for all processes together.

What is counted does not depend on whether the account exists, so neither does the refusal. A stranger can use up the
counter of an account; so tries from a device that its owner has signed in from before are counted apart.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from octavo.errors import TooManyRequests
from octavo.kit.clock import now
from octavo.kit.db.allowances import count_more, key_of
from octavo.kit.db.database import Transaction
from octavo.kit.secrets.signing import Signer

WINDOW = 15 * 60_000
PER_ACCOUNT_AND_ADDRESS = 10
PER_ACCOUNT = 50
PER_ADDRESS = 100
PER_DEVICE = 10
_DEVICE_LIFETIME = 365 * 24 * 3_600_000
_DEVICE = "device"


def counters(
    kind: str, account: str, address: str, *, per_account: int = PER_ACCOUNT, device: str | None = None
) -> dict[str, int]:
    """The counters that one try of ``kind`` falls under, by key, each with its limit.

    ``device``: what ``read_device`` gave; None: a device that nobody is known to have signed in from.
    """
    if device is not None:
        return {key_of(kind, "device", device): PER_DEVICE}
    return {
        key_of(kind, "both", account, address): PER_ACCOUNT_AND_ADDRESS,
        key_of(kind, "account", account): per_account,
        **client_counter(kind, address),
    }


def client_counter(kind: str, address: str, limit: int | None = None) -> dict[str, int]:
    """The counter of one client address alone."""
    return {key_of(kind, "address", address): PER_ADDRESS if limit is None else limit}


def account_counter(kind: str, account: str, limit: int) -> dict[str, int]:
    """The counter of one account alone, whoever asks."""
    return {key_of(kind, "account", account): limit}


def take(tx: Transaction, keys: Mapping[str, int]) -> None:
    """Counts a try. Raises TooManyRequests when one of the counters is used up in this window.

    Take it in a transaction that commits before the try is made: tries at the same time are then counted.
    """
    if not count(tx, keys):
        window = now() // WINDOW * WINDOW
        seconds = max(1, (window + WINDOW - now()) // 1000)
        raise TooManyRequests("Too many tries. Wait, then try again.", **{"retry-after": str(seconds)})


def count(tx: Transaction, keys: Mapping[str, int]) -> bool:
    """Counts a try; False when one of the counters is used up in this window."""
    return all(count_more(tx, key, WINDOW) <= keys[key] for key in sorted(keys))


def give_back(tx: Transaction, keys: Mapping[str, int]) -> None:
    """A try that succeeded was no guess."""
    tx.run(
        "UPDATE attempts SET count = count - 1 WHERE key IN :keys AND window_start = :window AND count > 0",
        keys=sorted(keys),
        window=now() // WINDOW * WINDOW,
    )


# --- known devices ------------------------------------------------------------------------------------


def make_device(signer: Signer, account: str) -> str:
    """What proves later that somebody has signed in to the account from the device that keeps it."""
    payload = f"{secrets.token_hex(16)} {key_of(_DEVICE, account)}"
    return signer.sign(_DEVICE, payload, now() + _DEVICE_LIFETIME)


def read_device(signer: Signer, device: str | None, account: str) -> str | None:
    """The id of a device that knows this account; None for one that does not."""
    payload = signer.verify(_DEVICE, device) if device else None
    if payload is None:
        return None
    id, _, known = payload.partition(" ")
    return id if known == key_of(_DEVICE, account) else None
