"""An authenticator in software: it makes passkeys and signs with them, as a browser would hand it on."""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from fido2 import cbor
from fido2.cose import ES256
from fido2.utils import websafe_encode

PRESENT, VERIFIED, HAS_KEY = 0x01, 0x04, 0x40


@dataclass
class Authenticator:
    """``counter``: how often it was used, which it says with each answer; 0 for one that does not count. ``verifies``:
    whether it knows who uses it."""

    origin: str
    counter: int = 0
    verifies: bool = True
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    id: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    user: str = ""

    def _client_data(self, kind: str, options: dict[str, Any]) -> bytes:
        said = {"type": kind, "challenge": options["challenge"], "origin": self.origin}
        return json.dumps(said).encode()

    def _data(self, host: str, flags: int, more: bytes = b"") -> bytes:
        flags |= PRESENT | (VERIFIED if self.verifies else 0)
        return hashlib.sha256(host.encode()).digest() + bytes([flags]) + self.counter.to_bytes(4) + more

    def make(self, options: dict[str, Any]) -> dict[str, Any]:
        """Create a passkey and return the browser's registration response."""
        self.user = options["user"]["id"]
        public = cbor.encode(dict(ES256.from_cryptography_key(self.key.public_key())))
        more = bytes(16) + len(self.id).to_bytes(2) + self.id + public
        data = self._data(options["rp"]["id"], HAS_KEY, more)
        attestation = cbor.encode({"fmt": "none", "attStmt": {}, "authData": data})
        response = {
            "clientDataJSON": websafe_encode(self._client_data("webauthn.create", options)),
            "attestationObject": websafe_encode(attestation),
        }
        return {"id": websafe_encode(self.id), "response": response}

    def sign(self, options: dict[str, Any]) -> dict[str, Any]:
        """Sign with a passkey and return the browser's authentication response."""
        client, data = self._client_data("webauthn.get", options), self._data(options["rpId"], 0)
        signature = self.key.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256()))
        response = {
            "clientDataJSON": websafe_encode(client),
            "authenticatorData": websafe_encode(data),
            "signature": websafe_encode(signature),
            "userHandle": self.user,
        }
        return {"id": websafe_encode(self.id), "response": response}
