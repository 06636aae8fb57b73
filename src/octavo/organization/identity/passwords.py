"""Passwords: argon2id, at most so many at a time, and the same work whether or not there is one to compare."""

from __future__ import annotations

import threading
from functools import cache

from argon2 import PasswordHasher, Type
from argon2.exceptions import InvalidHashError, VerificationError

from octavo.errors import BadRequest, TooManyRequests
from octavo.kit.db.database import Transaction
from octavo.organization.access.accounts import set_password_hash

MIN_LENGTH = 10
MAX_LENGTH = 1000
_HASHER = PasswordHasher(time_cost=3, memory_cost=65_536, parallelism=1, type=Type.ID)
# Each hash takes 64 MiB and a core for a tenth of a second: a flood of sign-ins waits, then is refused.
_SLOTS = threading.BoundedSemaphore(2)
_WAIT = 10.0


def _with_slot(work: str, *arguments: str) -> str | bool:
    if not _SLOTS.acquire(timeout=_WAIT):
        raise TooManyRequests(
            "Too many people sign in just now. Try again in a moment.", **{"retry-after": "5"}
        )
    try:
        done: str | bool = getattr(_HASHER, work)(*arguments)
        return done
    finally:
        _SLOTS.release()


@cache
def _nobodys() -> str:
    """A hash that no password fits, for the time its check takes."""
    return _HASHER.hash("no password has this text \0")


def require_good(password: str, email: str) -> None:
    """Raises BadRequest for a password that is too short, too long or the address itself."""
    if not MIN_LENGTH <= len(password) <= MAX_LENGTH:
        raise BadRequest(f"password: expected {MIN_LENGTH} to {MAX_LENGTH} characters")
    if password.strip().lower() in (email, email.partition("@")[0]) or len(set(password)) < 4:
        raise BadRequest("password: too easy to guess")


def hash_password(password: str) -> str:
    return str(_with_slot("hash", password))


def verify_password(stored: str | None, password: str) -> bool:
    """Whether the password fits; without a stored hash it takes as long and is False."""
    try:
        fits = bool(_with_slot("verify", stored or _nobodys(), password[:MAX_LENGTH]))
    except (VerificationError, InvalidHashError):
        return False
    return fits and stored is not None and len(password) <= MAX_LENGTH


def set_password(tx: Transaction, user_id: str, hashed: str) -> None:
    """``hashed`` comes from ``hash_password``, made before the transaction: hashing is slow."""
    set_password_hash(tx, user_id, hashed)


def find_password(tx: Transaction, user_id: str) -> str | None:
    """The stored hash."""
    found = tx.value("SELECT password_hash FROM users WHERE id = :id", id=user_id)
    return None if found is None else str(found)
