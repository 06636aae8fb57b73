"""Whom outgoing connections trust."""

from __future__ import annotations

import os
import ssl
from functools import cache

import certifi

from ..errors import Unavailable

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
