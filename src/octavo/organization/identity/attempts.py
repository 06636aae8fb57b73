"""Limits on guessing secrets, counted in the database so that they apply across all processes.

Counters don't depend on whether the account exists, so a rejection doesn't reveal whether it exists. Because a
stranger can exhaust an account's counter, attempts from a device that the owner has signed in from are counted
separately."""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from octavo.errors import TooManyRequests
from octavo.kit.clock import DAY, now
from octavo.kit.db.allowances import count_more, key_of
from octavo.kit.db.database import Transaction
from octavo.kit.secrets.signing import Signer

WINDOW = 15 * 60_000
PER_ACCOUNT_AND_ADDRESS = 10
PER_ACCOUNT = 50
PER_ADDRESS = 100
PER_DEVICE = 10
_DEVICE_LIFETIME = 365 * DAY
_DEVICE = "device"


def counters(
    kind: str, account: str, address: str, *, per_account: int = PER_ACCOUNT, device: str | None = None
) -> dict[str, int]:
    """Return the keys of the counters that one attempt of ``kind`` increments, each with its limit.

    ``device``: the result of ``read_device``; None if no one has signed in to this account from the device."""
    if device is not None:
        return {key_of(kind, "device", device): PER_DEVICE}
    return {
        key_of(kind, "both", account, address): PER_ACCOUNT_AND_ADDRESS,
        key_of(kind, "account", account): per_account,
        **client_counter(kind, address),
    }


def client_counter(kind: str, address: str, limit: int | None = None) -> dict[str, int]:
    """Return the counter for one client address."""
    return {key_of(kind, "address", address): PER_ADDRESS if limit is None else limit}


def account_counter(kind: str, account: str, limit: int) -> dict[str, int]:
    """Return the counter for one account, regardless of the caller."""
    return {key_of(kind, "account", account): limit}


def record_or_refuse(tx: Transaction, keys: Mapping[str, int]) -> None:
    """Count an attempt. Raises TooManyRequests if a counter is exhausted in the current window.

    Call this in a transaction that commits before the attempt is made, so that concurrent attempts are
    counted.
    """
    if not record(tx, keys):
        window = now() // WINDOW * WINDOW
        seconds = max(1, (window + WINDOW - now()) // 1000)
        raise TooManyRequests(
            "Too many attempts. Wait a few minutes, then try again.", **{"retry-after": str(seconds)}
        )


def record(tx: Transaction, keys: Mapping[str, int]) -> bool:
    """Count an attempt. Return False if a counter is exhausted in the current window."""
    return all(count_more(tx, key, WINDOW) <= keys[key] for key in sorted(keys))


def uncount(tx: Transaction, keys: Mapping[str, int]) -> None:
    """Decrement the counters for an attempt that succeeded."""
    tx.run(
        "UPDATE attempts SET count = count - 1 WHERE key IN :keys AND window_start = :window AND count > 0",
        keys=sorted(keys),
        window=now() // WINDOW * WINDOW,
    )


# --- known devices ------------------------------------------------------------------------------------


def make_device(signer: Signer, account: str) -> str:
    """Return a signed value that proves in later attempts that the device has signed in to the account."""
    payload = f"{secrets.token_hex(16)} {key_of(_DEVICE, account)}"
    return signer.sign(_DEVICE, payload, now() + _DEVICE_LIFETIME)


def read_device(signer: Signer, device: str | None, account: str) -> str | None:
    """Return the ID of a device that has signed in to this account, or None."""
    payload = signer.verify(_DEVICE, device) if device else None
    if payload is None:
        return None
    id, _, known = payload.partition(" ")
    return id if known == key_of(_DEVICE, account) else None
