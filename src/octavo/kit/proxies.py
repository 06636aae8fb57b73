"""Whose request it is when it comes through proxies of ours."""

from __future__ import annotations

from ipaddress import ip_address, ip_network

from ..settings import Network


def client_address(peer: str, forwarded: str, trusted: list[Network]) -> str:
    """The address a request comes from: the peer, or what a trusted one says in X-Forwarded-For.

    Each proxy appends whom it heard from, so the list is read from its end, as far as the one who wrote is
    trusted; what a caller put in front counts for nothing.

    >>> from octavo.settings import parse_networks
    >>> client_address("10.0.0.2", "6.6.6.6, 203.0.113.7", parse_networks("10.0.0.0/8"))
    '203.0.113.7'
    >>> client_address("203.0.113.7", "6.6.6.6", parse_networks("10.0.0.0/8"))
    '203.0.113.7'
    """
    found = peer
    for named in reversed(forwarded.split(",")):
        if not _is_in(found, trusted):
            break
        try:
            found = str(ip_address(named.strip()))
        except ValueError:
            break
    return found


def address_key(address: str) -> str:
    """What limits count an address by: an IPv6 caller has a whole /64 network of them.

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


def _is_in(address: str, networks: list[Network]) -> bool:
    try:
        known = ip_address(address)
    except ValueError:
        return False
    known = getattr(known, "ipv4_mapped", None) or known
    return any(known in network for network in networks)
