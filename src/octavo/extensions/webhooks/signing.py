"""Standard Webhooks signatures: HMAC-SHA256 of the message ID, the time of sending, and the body."""

from __future__ import annotations

import base64
import hmac
import secrets
from collections.abc import Sequence

_PREFIX = "whsec_"
_BYTES = 32


def new_secret() -> str:
    return _PREFIX + base64.b64encode(secrets.token_bytes(_BYTES)).decode()


def sign(given: Sequence[str], id: str, seconds: int, body: bytes) -> dict[str, str]:
    """Return the signature headers of a message, with one signature for each secret. ``seconds``: the Unix time."""
    signed = f"{id}.{seconds}.".encode() + body
    signatures = [
        base64.b64encode(
            hmac.digest(base64.b64decode(secret.removeprefix(_PREFIX)), signed, "sha256")
        ).decode()
        for secret in given
    ]
    return {
        "webhook-id": id,
        "webhook-timestamp": str(seconds),
        "webhook-signature": " ".join(f"v1,{signature}" for signature in signatures),
    }
