"""Whom outgoing connections trust."""

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
    """What every kind of outgoing connection trusts. Raises Unavailable where a file cannot be read."""
    return trust_outgoing()


def trust_outgoing() -> ssl.SSLContext:
    """A context of its own that trusts the authorities which browsers trust, and those of ``SSL_CERT_FILE`` and
    ``SSL_CERT_DIR``, such as a company's own. For libraries that change the one they are given. Raises Unavailable
    where the file cannot be read."""
    context = ssl.create_default_context(cafile=certifi.where())
    file, folder = os.environ.get(FILE), os.environ.get(FOLDER)
    try:
        if file:
            context.load_verify_locations(cafile=file)
        # Certificates of a folder are read when one is asked for, under the name of their hash.
        for path in filter(None, (folder or "").split(os.pathsep)):
            context.load_verify_locations(capath=path)
    except (OSError, ssl.SSLError) as error:
        raise Unavailable(f"{FILE}: {file} cannot be read as certificates: {error}") from None
    return context


def certificate_days(host: str, port: int, seconds: float) -> float:
    """For how many days the certificate of a server is good. Raises OSError where it does not answer within so many
    seconds, and SSLCertVerificationError, which is one, where nobody has to trust it."""
    with (
        socket.create_connection((host, port), timeout=seconds) as plain,
        outgoing_tls().wrap_socket(plain, server_hostname=host) as secure,
    ):
        ends = (secure.getpeercert() or {})["notAfter"]
    return (ssl.cert_time_to_seconds(str(ends)) - time.time()) / _DAY
