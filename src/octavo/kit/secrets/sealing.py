"""Encrypt secrets that the server stores in the database and has to read again. The encryption key isn't in the
database.

The algorithm is AES-256-GCM. An encrypted secret contains the ID of its key and is bound to its row: if the secret
is changed or moved to another row, it can't be decrypted. There can be more than one key. The first key encrypts
new secrets, and each key can decrypt the secrets that were encrypted with it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from msgspec import Struct

from octavo.errors import Unavailable
from octavo.kit.db.database import Transaction
from octavo.kit.private_files import flush_to_disk

KEY_FILE = "secret-key"
SETTING = "OCTAVO_SECRET_KEY"
_PREFIX = "sealed1"
_NONCE = 12
_KEY = 32
_MIN_PASSPHRASE = 16


class Sealer:
    """Encryption and decryption of secrets. ``keys``: the keys, each of which is 32 bytes long."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        if not keys or any(len(key) != _KEY for key in keys):
            raise ValueError("at least one key of 32 bytes is required")
        self._ciphers = {key_id(key): AESGCM(key) for key in keys}
        self.current = key_id(keys[0])

    @property
    def known(self) -> list[str]:
        """Return the IDs of the keys. The first one is the key that encrypts new secrets."""
        return list(self._ciphers)

    def seal(self, place: str, text: str) -> str:
        """Encrypt ``text`` so that it can be decrypted only in this row and column."""
        nonce = secrets.token_bytes(_NONCE)
        sealed = self._ciphers[self.current].encrypt(nonce, text.encode(), place.encode())
        return f"{_PREFIX}.{self.current}.{base64.urlsafe_b64encode(nonce + sealed).decode()}"

    def open(self, place: str, sealed: str) -> str:
        """Decrypt a secret in this row and column. Raises Unavailable if the key is missing or the secret was
        changed."""
        used = key_of(sealed)
        if used is None:
            raise Unavailable(f"secrets: {place} isn't encrypted")
        cipher = self._ciphers.get(used)
        if cipher is None:
            raise Unavailable(missing_key(used, self.known))
        try:
            data = base64.urlsafe_b64decode(sealed.split(".")[2])
            return cipher.decrypt(data[:_NONCE], data[_NONCE:], place.encode()).decode()
        except (InvalidTag, ValueError, IndexError):
            raise Unavailable(f"secrets: {place} was changed, or belongs to another row") from None


def missing_key(needed: str, known: Sequence[str]) -> str:
    """Return the error message for secrets that are encrypted with an unknown key. Both parameters are key IDs."""
    problem = f"{SETTING}: the secrets in this database are encrypted with the key {needed}"
    if known:
        # A running server needs its own key as well.
        return (
            f"{problem}, but the configured keys are {', '.join(known)}. Add the missing key after these"
            f" keys, either to {SETTING} after a comma, or as the last line of the file {KEY_FILE}."
        )
    return (
        f"{problem}, but no key is configured. Set {SETTING} to that key, or put its file in the data folder"
        f" as {KEY_FILE}."
    )


def key_id(key: bytes) -> str:
    """Return the ID of a key. The ID doesn't reveal the key."""
    return hmac.digest(key, b"octavo: id of a key", "sha256").hex()[:8]


def key_of(text: str) -> str | None:
    """Return the ID of the key that a secret is encrypted with; None for plain text."""
    prefix, _, rest = text.partition(".")
    return rest.partition(".")[0] if prefix == _PREFIX else None


# --- keys ---------------------------------------------------------------------------------------------


def read_keys(setting: str, file: Path) -> list[bytes]:
    """Return the keys in the setting (separated by commas), followed by the keys in the file (one per line).

    Raises Unavailable with the position of an invalid key.
    """
    texts = [(SETTING, part.strip()) for part in setting.split(",") if part.strip()]
    try:
        texts += [(str(file), line.strip()) for line in file.read_text().splitlines() if line.strip()]
    except FileNotFoundError:
        pass
    except (OSError, UnicodeDecodeError) as error:
        raise Unavailable(f"{file}: {error}") from None
    return list(dict.fromkeys(_parse_key(place, text) for place, text in texts))


def _parse_key(place: str, text: str) -> bytes:
    for decode in (bytes.fromhex, _from_base64):
        try:
            if len(found := decode(text)) == _KEY:
                return found
        except (ValueError, binascii.Error):
            continue
    if len(text) < _MIN_PASSPHRASE:
        raise Unavailable(
            f"{place}: must be 32 bytes in hex or Base64, or a passphrase with at least {_MIN_PASSPHRASE}"
            " characters"
        )
    # The salt is fixed, because every process must derive the same key from the passphrase alone.
    return hashlib.scrypt(
        text.encode(), salt=b"octavo secret key", n=2**15, r=8, p=1, maxmem=2**26, dklen=_KEY
    )


def _from_base64(text: str) -> bytes:
    return base64.b64decode(
        text + "=" * (-len(text) % 4), altchars=b"-_" if set("-_") & set(text) else None, validate=True
    )


def make_key(file: Path) -> bytes:
    """Create a key in a private file. If another process has already created a key, return that key."""
    part = file.with_name(f"{file.name}.{secrets.token_hex(4)}")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
            out.write(f"{secrets.token_hex(_KEY)}\n")
            out.flush()
            os.fsync(out.fileno())
        try:
            os.link(part, file)  # Unlike a rename, this never replaces a key.
        except FileExistsError:
            pass
        finally:
            part.unlink()
        # A remote database may store texts encrypted with it before this folder is on the disk.
        flush_to_disk(file.parent)
    except OSError as error:
        raise Unavailable(f"{file}: {error}. Set {SETTING} if this file can't be created.") from None
    return read_keys("", file)[0]


# --- columns ------------------------------------------------------------------------------------------


class SealedColumn(Struct, frozen=True):
    """Column with encrypted secrets. ``key``: the columns that identify a row. ``sealed_as``: the table name to which
    secrets are bound. This name stays the same when a table is renamed."""

    table: str
    column: str
    key: tuple[str, ...]
    sealed_as: str

    def seal(self, sealer: Sealer, text: str, *key: str) -> str:
        return sealer.seal(self._place(key), text)

    def open(self, sealer: Sealer, sealed: str, *key: str) -> str:
        """Decrypt a secret in this column. Raises Unavailable if that isn't possible."""
        return sealer.open(self._place(key), sealed)

    def _place(self, key: Sequence[str]) -> str:
        assert len(key) == len(self.key), f"{self.table}: must be {self.key}"
        return "\0".join((self.sealed_as, self.column, *key))


SEALED: list[SealedColumn] = []
"""Every column with secrets that can be decrypted. Other secrets are stored only as hashes."""

_BEFORE_SEALING: list[Callable[[Transaction], None]] = []


def sealed_column(table: str, column: str, *key: str, sealed_as: str = "") -> SealedColumn:
    """Declare a column with encrypted secrets. ``sealed_as``: the original name of the table, if the table has been
    renamed."""
    SEALED.append(SealedColumn(table, column, key, sealed_as or table))
    return SEALED[-1]


def before_sealing(prepare: Callable[[Transaction], None]) -> Callable[[Transaction], None]:
    """Register a function that converts rows from a server without encrypted secrets to the current format."""
    _BEFORE_SEALING.append(prepare)
    return prepare


def seal_plain(tx: Transaction, sealer: Sealer) -> int:
    """Encrypt the unencrypted secrets from older versions, and return the number of secrets."""
    for prepare in _BEFORE_SEALING:
        prepare(tx)
    return _rewrite(tx, lambda column, text, key: None if key_of(text) else column.seal(sealer, text, *key))


def rotate(tx: Transaction, sealer: Sealer) -> int:
    """Re-encrypt secrets that aren't encrypted with the first key, and return the number of secrets. Raises
    Unavailable if a key is missing."""

    def renew(column: SealedColumn, text: str, key: tuple[str, ...]) -> str | None:
        if key_of(text) == sealer.current:
            return None
        return column.seal(sealer, column.open(sealer, text, *key), *key)

    return _rewrite(tx, renew)


def _rewrite(tx: Transaction, change: Callable[[SealedColumn, str, tuple[str, ...]], str | None]) -> int:
    count = 0
    for column in SEALED:
        rows = tx.all(
            f"SELECT {column.column}, {', '.join(column.key)} FROM {column.table}"
            f" WHERE {column.column} IS NOT NULL{tx.for_update}"
        )
        where = " AND ".join(f"{name} = :{name}" for name in column.key)
        changed = [
            {"text": text, **dict(zip(column.key, key, strict=True))}
            for old, *key in rows
            if (text := change(column, old, tuple(key))) is not None
        ]
        tx.run_many(f"UPDATE {column.table} SET {column.column} = :text WHERE {where}", changed)
        count += len(changed)
    return count


def count_by_key(tx: Transaction) -> dict[str, int]:
    """Return the number of secrets encrypted with each key, by key ID. The entry ``plain`` counts unencrypted
    secrets."""
    found: dict[str, int] = {}
    for column in SEALED:
        for (text,) in tx.all(
            f"SELECT {column.column} FROM {column.table} WHERE {column.column} IS NOT NULL"
        ):
            used = key_of(text) or "plain"
            found[used] = found.get(used, 0) + 1
    return found
