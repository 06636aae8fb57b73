"""Password rules, hashing, and verification. Passwords are hashed with argon2id, with limited concurrency. Verification
takes the same amount of work whether or not the account has a password."""

from __future__ import annotations

import threading
from functools import cache

from argon2 import PasswordHasher, Type
from argon2.exceptions import InvalidHashError, VerificationError

from octavo.errors import BadRequest, TooManyRequests
from octavo.kit.db.database import Transaction

MIN_LENGTH = 10
MAX_LENGTH = 1000
_HASHER = PasswordHasher(time_cost=3, memory_cost=65_536, parallelism=1, type=Type.ID)
# Each hash takes 64 MiB, and a core for a tenth of a second, so a flood of sign-ins is queued and then
# rejected.
_SLOTS = threading.BoundedSemaphore(2)
_WAIT = 10.0


def _with_slot(work: str, *arguments: str) -> str | bool:
    if not _SLOTS.acquire(timeout=_WAIT):
        raise TooManyRequests(
            "Too many people are signing in right now. Try again in a moment.", **{"retry-after": "5"}
        )
    try:
        done: str | bool = getattr(_HASHER, work)(*arguments)
        return done
    finally:
        _SLOTS.release()


@cache
def _dummy_hash() -> str:
    """Return a hash that doesn't match any password. Verifying a password against it takes as long as against a real
    hash."""
    return _HASHER.hash("no password has this text \0")


def require_acceptable_password(password: str, email: str) -> None:
    """Raise BadRequest if the password is too short, too long, too simple, or equal to the email address."""
    if not MIN_LENGTH <= len(password) <= MAX_LENGTH:
        raise BadRequest(f"password: must be {MIN_LENGTH} to {MAX_LENGTH:,} characters")
    if password.strip().lower() in (email, email.partition("@")[0]) or len(set(password)) < 4:
        raise BadRequest(
            "password: is too easy to guess. Use a wider variety of characters, and don't use your email"
            " address."
        )


def hash_password(password: str) -> str:
    return str(_with_slot("hash", password))


def verify_password(stored: str | None, password: str) -> bool:
    """Return whether the password matches. If there is no stored hash, the check takes the same time and returns
    False."""
    try:
        fits = bool(_with_slot("verify", stored or _dummy_hash(), password[:MAX_LENGTH]))
    except (VerificationError, InvalidHashError):
        return False
    return fits and stored is not None and len(password) <= MAX_LENGTH


def find_password(tx: Transaction, user_id: str) -> str | None:
    """Return the stored hash of a user's password."""
    found = tx.value("SELECT password_hash FROM users WHERE id = :id", id=user_id)
    return None if found is None else str(found)
