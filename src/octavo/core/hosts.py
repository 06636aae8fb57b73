"""Normalize hostnames, so that different spellings of a hostname are equal."""

from __future__ import annotations

import idna


def spell_host(host: str) -> str:
    """Return a hostname without a port in its stored form: lowercase, without a trailing dot, and with non-ASCII
    letters encoded for DNS. Any other text is returned unchanged and doesn't match any host."""
    name = host.lower().removesuffix(".")
    if name.isascii():
        return name
    try:
        return idna.encode(name, uts46=True).decode()
    except (idna.IDNAError, UnicodeError):
        return name


def host_name(host: str) -> str:
    """Return the name in a Host header, without the port."""
    return spell_host(host.partition(":")[0])
