"""Commit signatures in OpenSSH's format (SSHSIG), with a generated key."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from functools import partial

from octavo.kit.secrets.sealing import Sealer

from .credentials import make_key, open_text, seal_text
from .store import Connected

_NAMESPACE = b"git"
_HASH = b"sha512"
_LINE = 70


def make_signing_key(sealer: Sealer, of: type[Connected], id: str, wanted: bool) -> dict[str, str | None]:
    """Return the columns that store a new encrypted key and its public part for the Git provider, or empty columns if
    commits aren't signed."""
    if not wanted:
        return {"signing_secret": None, "signing_key": None}
    credential, public = make_key(f"octavo-signing-{id}")
    sealed = seal_text(sealer, of, id, "signing_secret", credential.secret)
    return {"signing_secret": sealed, "signing_key": public}


def signer_of(sealer: Sealer, row: Connected) -> Callable[[bytes], bytes] | None:
    """Return a function that signs commits; None if they aren't signed. Raises Unavailable if the key can't
    be decrypted."""
    private = open_text(sealer, row, "signing_secret")
    return None if private is None else partial(sign, private)


def sign(private: str, data: bytes) -> bytes:
    """Return the signature of a commit for its ``gpgsig`` header. ``private``: the Ed25519 key in OpenSSH
    format."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_ssh_private_key

    key = load_ssh_private_key(private.encode(), None)
    assert isinstance(key, Ed25519PrivateKey)
    raw = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    hashed = hashlib.sha512(data).digest()
    about = _string(_NAMESPACE) + _string(b"") + _string(_HASH)
    signature = key.sign(b"SSHSIG" + about + _string(hashed))
    whole = (
        b"SSHSIG"
        + (1).to_bytes(4, "big")
        + _string(_string(b"ssh-ed25519") + _string(raw))
        + about
        + _string(_string(b"ssh-ed25519") + _string(signature))
    )
    text = base64.b64encode(whole)
    lines = [text[start : start + _LINE] for start in range(0, len(text), _LINE)]
    return b"\n".join([b"-----BEGIN SSH SIGNATURE-----", *lines, b"-----END SSH SIGNATURE-----"])


def _string(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data
