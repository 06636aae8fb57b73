"""The certificates that an identity provider signs with."""

from __future__ import annotations

import base64
import binascii
import re

from octavo.errors import BadRequest

_PEM = re.compile(r"-----BEGIN CERTIFICATE-----(.*?)-----END CERTIFICATE-----", re.S)
_MIN_RSA_BITS = 2048


def parse_certificates(text: str) -> list[str]:
    """The certificates in ``text`` as base64 without line breaks: PEM blocks (several while keys are changed), or
    the bare base64 that identity providers show. Raises BadRequest naming ``certificate``.
    """
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec, rsa

    blocks = _PEM.findall(text) or ([text] if text.strip() else [])
    found = []
    for block in blocks:
        plain = "".join(block.split())
        try:
            key = x509.load_der_x509_certificate(base64.b64decode(plain, validate=True)).public_key()
        except (binascii.Error, ValueError):
            raise BadRequest("certificate: expected an X.509 certificate, as PEM or base64") from None
        if isinstance(key, rsa.RSAPublicKey):
            if key.key_size < _MIN_RSA_BITS:
                raise BadRequest(f"certificate: expected an RSA key of {_MIN_RSA_BITS} bits or more")
        elif not isinstance(key, ec.EllipticCurvePublicKey):
            raise BadRequest("certificate: expected an RSA or elliptic curve key")
        found.append(plain)
    return found
