"""Identity providers' signing certificates."""

from __future__ import annotations

import base64
import binascii
import re

from octavo.errors import BadRequest

_PEM = re.compile(r"-----BEGIN CERTIFICATE-----(.*?)-----END CERTIFICATE-----", re.S)
_MIN_RSA_BITS = 2048


def parse_certificates(text: str) -> list[str]:
    """Return the certificates in ``text`` as base64 without line breaks.

    The text consists of PEM blocks (more than one during a key rotation) or of the plain base64 that identity providers
    display. Raises BadRequest for the field ``certificate`` if the text is invalid."""
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec, rsa

    blocks = _PEM.findall(text) or ([text] if text.strip() else [])
    found = []
    for block in blocks:
        plain = "".join(block.split())
        try:
            key = x509.load_der_x509_certificate(base64.b64decode(plain, validate=True)).public_key()
        except (binascii.Error, ValueError):
            raise BadRequest("certificate: must be an X.509 certificate in PEM or Base64") from None
        if isinstance(key, rsa.RSAPublicKey):
            if key.key_size < _MIN_RSA_BITS:
                raise BadRequest(f"certificate: must have an RSA key of at least {_MIN_RSA_BITS} bits")
        elif not isinstance(key, ec.EllipticCurvePublicKey):
            raise BadRequest("certificate: must contain an RSA or elliptic curve key")
        found.append(plain)
    return found
