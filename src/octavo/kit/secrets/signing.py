"""Signed tokens, and secrets that the server creates for itself."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets

import msgspec
from msgspec import Struct

from octavo.kit.clock import now
from octavo.kit.db.database import Transaction
from octavo.kit.db.tables import Table, declare

from .sealing import Sealer, sealed_column

declare(Table(name="secrets", stays="secret"))

VALUE = sealed_column("secrets", "value", "name")


def find_secret(tx: Transaction, name: str) -> str | None:
    """Return one of the server's own secrets in its stored form; None if it doesn't exist."""
    found = tx.value("SELECT value FROM secrets WHERE name = :name", name=name)
    return None if found is None else str(found)


def get_or_create_secret(tx: Transaction, sealer: Sealer, name: str) -> bytes:
    """Return 32 random bytes. The first call creates them, and all later calls in every process return the same
    bytes.

    Requires a write transaction. Raises Unavailable if the secret is encrypted with an unknown key.
    """
    tx.run(
        "INSERT INTO secrets (name, value) VALUES (:name, :value) ON CONFLICT (name) DO NOTHING",
        name=name,
        value=VALUE.seal(sealer, secrets.token_hex(32), name),
    )
    stored = find_secret(tx, name)
    assert stored is not None, "it was inserted, or there already"
    return bytes.fromhex(VALUE.open(sealer, stored, name))


class Signed(Struct, frozen=True):
    """Content of a signed token. ``expires``: the token's expiration time in milliseconds; None if it never
    expires."""

    payload: str
    expires: int | None


class Signer:
    """Signer of tokens, which uses HMAC-SHA256 over the purpose, the expiration time, and the payload. Anyone who has a
    token can read its content."""

    def __init__(self, secret: bytes) -> None:
        if len(secret) < 32:
            raise ValueError("a signing secret must have at least 32 bytes")
        self._secret = secret

    def sign(self, purpose: str, payload: str, expires: int | None = None) -> str:
        """Return a URL-safe token that is valid only for ``purpose``, and only until ``expires`` (in milliseconds;
        None if it never expires)."""
        body = _encode(msgspec.json.encode((expires, payload)))
        return f"{body}.{self._mac(purpose, body)}"

    def verify(self, purpose: str, token: str) -> str | None:
        """Return the payload of a token; None if the token is invalid, has expired, or is for another purpose."""
        signed = self.read(purpose, token)
        return signed.payload if signed else None

    def read(self, purpose: str, token: str) -> Signed | None:
        """Return the payload of a token, as ``verify`` does, with the token's expiration time."""
        body, _, mac = token.partition(".")
        if not hmac.compare_digest(mac.encode("utf-8", "surrogatepass"), self._mac(purpose, body).encode()):
            return None
        try:
            expires, payload = msgspec.json.decode(_decode(body), type=tuple[int | None, str])
        except (binascii.Error, msgspec.MsgspecError):
            return None
        return Signed(payload, expires) if expires is None or now() < expires else None

    def derive(self, purpose: str, name: str) -> str:
        """Return a secret of 43 characters. It is always the same for this name and purpose, and doesn't reveal other
        secrets."""
        return self._mac(f"derived {purpose}", name)

    def _mac(self, purpose: str, body: str) -> str:
        # A purpose can't extend into a body, which contains no NUL.
        message = f"{purpose}\0{body}".encode("utf-8", "surrogatepass")
        return _encode(hmac.new(self._secret, message, hashlib.sha256).digest())


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
