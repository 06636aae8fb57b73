"""Certificate authorities that outgoing connections trust."""

from __future__ import annotations

import os
import socket
import ssl
import time
from functools import cache

import certifi

from octavo.errors import Unavailable

_DAY = 86_400

FILE, FOLDER = "SSL_CERT_FILE", "SSL_CERT_DIR"


@cache
def outgoing_tls() -> ssl.SSLContext:
    """Return the TLS context for all kinds of outgoing connections. Raises Unavailable if a certificate file can't
    be read."""
    return trust_outgoing()


def trust_outgoing() -> ssl.SSLContext:
    """Return a new TLS context that trusts the same certificate authorities as browsers, and those in
    ``SSL_CERT_FILE`` and ``SSL_CERT_DIR``, such as a company's own authority. This is for libraries that modify the
    context that they get.

    Raises Unavailable if the file can't be read.
    """
    context = ssl.create_default_context(cafile=certifi.where())
    file, folder = os.environ.get(FILE), os.environ.get(FOLDER)
    try:
        if file:
            context.load_verify_locations(cafile=file)
        # Certificates of a folder are read on demand, by the name of their hash.
        for path in filter(None, (folder or "").split(os.pathsep)):
            context.load_verify_locations(capath=path)
    except (OSError, ssl.SSLError) as error:
        raise Unavailable(f"{FILE}: {file} doesn't contain valid certificates ({error})") from None
    return context


def certificate_days(host: str, port: int, seconds: float) -> float:
    """Return the number of days until a server's certificate expires.

    Raises OSError if the server doesn't respond within ``seconds``, and SSLCertVerificationError, a subclass of
    OSError, if the certificate isn't trusted.
    """
    with (
        socket.create_connection((host, port), timeout=seconds) as plain,
        outgoing_tls().wrap_socket(plain, server_hostname=host) as secure,
    ):
        ends = (secure.getpeercert() or {})["notAfter"]
    return (ssl.cert_time_to_seconds(str(ends)) - time.time()) / _DAY
