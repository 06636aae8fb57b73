"""Credentials for repositories: a token, a username and password, or a generated SSH key.

Credentials are stored encrypted, and never appear in responses, logs, or URLs."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Struct

from octavo.kit.secrets.sealing import SealedColumn, Sealer, sealed_column

from .store import Connected, ProjectRow, SyncRow

Column = Literal["secret", "hook_secret", "signing_secret"]
_COLUMNS: dict[tuple[type[Connected], str], SealedColumn] = {
    (of, name): sealed_column(of.TABLE, name, of.KEY)
    for of in (SyncRow, ProjectRow)
    for name in ("secret", "hook_secret", "signing_secret")
}
Kind = Literal["token", "password", "ssh-key", "app", "oauth"]
_USERS = {"bitbucket.org": "x-token-auth"}


class Credential(Struct, frozen=True, omit_defaults=True):
    """Credential for a repository. ``secret``: the token, the password, or the private key in OpenSSH format. For
    access through an app, the kind is `app`, and the secret is the ID of the installation that stores the tokens.
    The kind `oauth` is for a person's GitLab token, and is never stored."""

    kind: Kind
    secret: str
    user: str = ""

    def __repr__(self) -> str:
        return f"Credential({self.kind})"

    def user_at(self, host: str) -> str:
        """Return the username to send with the secret. Most providers accept any username with a token, but one
        provider requires a specific username."""
        return self.user or _USERS.get(host, "x-access-token")


def seal_text(sealer: Sealer, of: type[Connected], id: str, column: Column, text: str) -> str:
    """Encrypt a string for a column of the row with this ID."""
    return _COLUMNS[of, column].seal(sealer, text, id)


def open_text(sealer: Sealer, row: Connected, column: Column) -> str | None:
    """Decrypt a column. Return None if it is empty. Raises Unavailable if the key is missing."""
    sealed = getattr(row, column)
    return None if sealed is None else _COLUMNS[type(row), column].open(sealer, sealed, row.owner_id)


def seal_credential(
    sealer: Sealer, of: type[Connected], id: str, credential: Credential | None
) -> dict[str, str | None]:
    """Return the columns that store a credential."""
    if credential is None:
        return {"secret": None, "credential": None}
    text = msgspec.json.encode(credential).decode()
    return {"secret": seal_text(sealer, of, id, "secret", text), "credential": credential.kind}


def credential_of(sealer: Sealer, row: Connected) -> Credential | None:
    """Return the decrypted credential. Raises Unavailable if the key is missing."""
    text = open_text(sealer, row, "secret")
    return None if text is None else msgspec.json.decode(text, type=Credential)


def make_key(comment: str) -> tuple[Credential, str]:
    """Generate an SSH key. Return the credential to store, and the public part for a provider's settings."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
        PublicFormat,
    )

    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()).decode()
    public = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
    return Credential("ssh-key", private), f"{public} {comment}"
