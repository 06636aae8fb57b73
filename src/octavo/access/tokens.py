"""Personal access tokens: prefixed, random, stored as a hash only."""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from ..errors import BadRequest, Unauthorized
from ..kit.clock import now
from ..kit.db import Database, Transaction
from ..kit.operation import Call
from . import store

PREFIX = "oct_"
_TOUCH_EVERY = 60_000


class Actor(Struct, frozen=True):
    """Who calls: a person through one of their tokens. ``scopes`` None: all that the person may do."""

    user_id: str
    token_id: str
    scopes: frozenset[str] | None = None


def hash_token(token: str) -> str:
    """Tokens hold 256 random bits, so a plain SHA-256 cannot be turned back."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def create_token(
    tx: Transaction,
    user_id: str,
    *,
    name: str,
    scopes: Sequence[str] | None = None,
    expires_at: int | None = None,
    token: str | None = None,
) -> str:
    """A new token of a user; the secret is returned and cannot be had again."""
    if expires_at is not None and expires_at <= now():
        raise BadRequest("expires: expected a time to come")
    secret = token or PREFIX + secrets.token_urlsafe(32)
    store.insert_token(
        tx,
        user_id,
        name=name,
        hash=hash_token(secret),
        hint=secret[: len(PREFIX) + 4],
        scopes=None if scopes is None else msgspec.json.encode(sorted(scopes)).decode(),
        expires_at=expires_at,
    )
    return secret


class LastUse:
    """Remembers which tokens were used and writes it down now and then, away from the requests."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._used: dict[str, int] = {}

    def note(self, owner: store.TokenOwner, at: int) -> None:
        if at - (owner.last_used_at or 0) >= _TOUCH_EVERY:
            with self._lock:
                self._used[owner.token_id] = at

    def write(self, db: Database) -> None:
        with self._lock:
            used, self._used = self._used, {}
        if used:
            with db.write() as tx:
                store.touch_tokens(tx, used)


def _find_owner(db: Database, digest: str) -> store.TokenOwner | None:
    with db.read() as tx:
        return store.find_token_owner(tx, digest)


def authenticate(call: Call, last_use: LastUse) -> str | None:
    """Sets ``call.actor`` from the Authorization header; the actor's key for rate limits, None for nobody.

    Raises Unauthorized for a header that proves nothing: a wrong token is an error, no token is not.
    """
    header = call.headers.get(b"authorization")
    if header is None:
        return None
    kind, _, token = header.decode("latin-1").partition(" ")
    if kind.lower() != "bearer" or not token.strip():
        raise Unauthorized("Authorization: expected `Bearer <token>`")
    digest = hash_token(token.strip())
    owner = call.context.fresh.get(("token", digest), lambda: _find_owner(call.db, digest))
    moment = now()
    if owner is None or (owner.expires_at is not None and owner.expires_at <= moment):
        raise Unauthorized("Authorization: this token is unknown, expired or revoked")
    last_use.note(owner, moment)
    scopes = None if owner.scopes is None else frozenset(msgspec.json.decode(owner.scopes))
    call.actor = Actor(owner.user_id, owner.token_id, scopes)
    return owner.token_id
