"""Secrets that are good once and for a short time: sign-in links, states of a sign-in through a provider."""

from __future__ import annotations

import secrets
from typing import TypeVar

import msgspec

from ..access import hash_token
from ..kit.clock import now
from ..kit.db import Transaction

T = TypeVar("T")


def issue(tx: Transaction, purpose: str, payload: msgspec.Struct, lifetime: int, secret: str = "") -> str:
    """A new secret (or the given one) that ``take`` turns into the payload; ``lifetime`` in milliseconds."""
    secret = secret or secrets.token_urlsafe(32)
    tx.run(
        "INSERT INTO one_time_secrets (hash, purpose, payload, expires_at) VALUES (:hash, :purpose, :payload, :at)",
        hash=hash_token(secret),
        purpose=purpose,
        payload=msgspec.json.encode(payload).decode(),
        at=now() + lifetime,
    )
    return secret


def take(tx: Transaction, purpose: str, secret: str, type: type[T]) -> T | None:
    """What was issued under the secret, used up by this; None when unknown, used or expired."""
    row = tx.one(
        "DELETE FROM one_time_secrets WHERE hash = :hash AND purpose = :purpose RETURNING payload, expires_at",
        hash=hash_token(secret),
        purpose=purpose,
    )
    return msgspec.json.decode(row[0], type=type) if row and row[1] > now() else None
