"""Determine which client sent a request that came through trusted proxies."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv6Address, ip_address, ip_network

from octavo.settings import Network


def client_address(peer: str, forwarded: str, trusted: list[Network]) -> str:
    """Return the IP address that a request comes from: the peer or, if the peer is trusted, the address in
    X-Forwarded-For. IPv4 addresses are never returned in IPv6 notation.

    Each proxy appends its client, so the list is read from the end, as long as the proxy that added an entry is
    trusted. Entries that clients added themselves are ignored.

    >>> from octavo.settings import parse_networks
    >>> client_address("10.0.0.2", "6.6.6.6, 203.0.113.7", parse_networks("10.0.0.0/8"))
    '203.0.113.7'
    >>> client_address("203.0.113.7", "6.6.6.6", parse_networks("10.0.0.0/8"))
    '203.0.113.7'
    """
    found = _plain(peer)
    if not forwarded:
        return found
    for named in reversed(forwarded.split(",")):
        if not is_within(found, trusted):
            break
        try:
            found = _plain(str(ip_address(named.strip())))
        except ValueError:
            break
    return found


def address_key(address: str) -> str:
    """Return the key that limits use for an IP address. For IPv6, the whole /64 network counts as one client.

    >>> address_key("2001:db8::1") == address_key("2001:db8::ffff:2")
    True
    >>> address_key("203.0.113.7")
    '203.0.113.7'
    """
    if ":" not in address:
        return address
    try:
        return str(ip_network((address, 64), strict=False))
    except ValueError:
        return address


def _plain(address: str) -> str:
    """Return an IPv4 address in its usual notation. A socket that listens on both protocols returns
    `::ffff:203.0.113.7`. All addresses with this prefix are in one /64 network, so one client could otherwise use
    up the limits of all IPv4 clients."""
    if ":" not in address:
        return address
    try:
        known = ip_address(address)
    except ValueError:
        return address
    mapped = known.ipv4_mapped if isinstance(known, IPv6Address) else None
    return str(mapped) if mapped is not None else address


def is_within(address: str, networks: Sequence[Network]) -> bool:
    """Return whether an IP address is in one of these networks; False if the text isn't an IP address."""
    try:
        known = ip_address(_plain(address))
    except ValueError:
        return False
    return any(known in network for network in networks)
