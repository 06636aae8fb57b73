"""What a repository is reached with: a token, a name and a password, or an ssh key that is made here.

They are kept sealed, and no answer, log or address holds them.
"""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Struct

from ..kit.sealing import SealedColumn, Sealer, sealed_column

SECRET = sealed_column("git_syncs", "secret", "space_id")
HOOK_SECRET = sealed_column("git_syncs", "hook_secret", "space_id")
PROJECT_SECRET = sealed_column("git_projects", "secret", "id")
PROJECT_HOOK_SECRET = sealed_column("git_projects", "hook_secret", "id")

Kind = Literal["token", "password", "ssh-key"]
_USERS = {"bitbucket.org": "x-token-auth"}


class Credential(Struct, frozen=True, omit_defaults=True):
    """``secret``: the token, the password, or the private key as OpenSSH writes it."""

    kind: Kind
    secret: str
    user: str = ""

    def __repr__(self) -> str:
        return f"Credential({self.kind})"

    def user_at(self, host: str) -> str:
        """Hosters take any name beside a token, but for one that wants its own."""
        return self.user or _USERS.get(host, "x-access-token")


def seal(sealer: Sealer, id: str, credential: Credential | None, column: SealedColumn = SECRET) -> str | None:
    """``id``: of the space, or of what else the column is of."""
    if credential is None:
        return None
    return column.seal(sealer, msgspec.json.encode(credential).decode(), id)


def unseal(sealer: Sealer, id: str, sealed: str | None, column: SealedColumn = SECRET) -> Credential | None:
    """Raises Unavailable."""
    if sealed is None:
        return None
    return msgspec.json.decode(column.open(sealer, sealed, id), type=Credential)


def make_key(comment: str) -> tuple[Credential, str]:
    """A new ssh key: what is kept of it, and the public part as people put it into a hoster's settings."""
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
