"""Short-lived secrets that can be used once: sign-in links and the state of a sign-in through a provider."""

from __future__ import annotations

import secrets
from typing import TypeVar

import msgspec

from octavo.kit.clock import now
from octavo.kit.db.database import Transaction
from octavo.kit.secrets.sealing import Sealer, sealed_column
from octavo.organization.access.tokens import hash_token

T = TypeVar("T")
_PAYLOAD = sealed_column("one_time_secrets", "payload", "hash")


def issue(
    tx: Transaction, sealer: Sealer, purpose: str, payload: msgspec.Struct, lifetime: int, secret: str = ""
) -> str:
    """Store a payload under a secret, and return the secret. By default, a new secret is generated.
    ``lifetime``: how long the secret is valid, in milliseconds."""
    secret = secret or secrets.token_urlsafe(32)
    hashed = hash_token(secret)
    tx.insert(
        "one_time_secrets",
        hash=hashed,
        purpose=purpose,
        payload=_PAYLOAD.seal(sealer, msgspec.json.encode(payload).decode(), hashed),
        expires_at=now() + lifetime,
    )
    return secret


def peek(tx: Transaction, sealer: Sealer, purpose: str, secret: str, type: type[T]) -> T | None:
    """Return the payload without using up the secret, or None if the secret is unknown, used, or expired."""
    hashed = hash_token(secret)
    payload = tx.value(
        "SELECT payload FROM one_time_secrets WHERE hash = :hash AND purpose = :purpose AND expires_at > :now",
        hash=hashed,
        purpose=purpose,
        now=now(),
    )
    return _decode(sealer, hashed, payload, type) if payload else None


def redeem(tx: Transaction, sealer: Sealer, purpose: str, secret: str, type: type[T]) -> T | None:
    """Use up the secret, and return its payload. Return None if the secret is unknown, used, or expired."""
    hashed = hash_token(secret)
    row = tx.one(
        "DELETE FROM one_time_secrets WHERE hash = :hash AND purpose = :purpose RETURNING payload, expires_at",
        hash=hashed,
        purpose=purpose,
    )
    return _decode(sealer, hashed, row[0], type) if row and row[1] > now() else None


def _decode(sealer: Sealer, hashed: str, payload: str, type: type[T]) -> T:
    return msgspec.json.decode(_PAYLOAD.open(sealer, payload, hashed), type=type)
