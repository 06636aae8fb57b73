"""Host names that mean the same, in one spelling."""

from __future__ import annotations

import idna


def spell_host(host: str) -> str:
    """A host name without a port as it is kept and compared: in lower case, without the dot that may end it, letters
    beyond ASCII as DNS has them. What is no host name stays what it is, and is found nowhere."""
    name = host.lower().removesuffix(".")
    if name.isascii():
        return name
    try:
        return idna.encode(name, uts46=True).decode()
    except (idna.IDNAError, UnicodeError):
        return name


def host_name(host: str) -> str:
    """The name in a Host header, without the port."""
    return spell_host(host.partition(":")[0])
