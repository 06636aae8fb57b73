"""Look up TXT records in DNS."""

from __future__ import annotations

import logging

from octavo.errors import Unavailable
from octavo.kit.scheduling.deadlines import remaining

log = logging.getLogger(__name__)

_SECONDS = 5.0


def find_texts(name: str, servers: list[tuple[str, int]]) -> list[str]:
    """Return the values of the TXT records of a domain name; empty if the name doesn't exist. This takes at most
    five seconds.

    ``servers``: the IP addresses and ports of the name servers to use; by default, the system's name servers. Don't
    call this within a transaction. Raises Unavailable if no server responds.
    """
    import dns.exception
    import dns.name
    import dns.nameserver
    import dns.resolver

    try:
        resolver = dns.resolver.Resolver(configure=not servers)
        if servers:
            resolver.nameservers = [dns.nameserver.Do53Nameserver(*server) for server in servers]
        answer = resolver.resolve(name, "TXT", search=False, lifetime=remaining(_SECONDS))
    except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer, dns.name.LabelTooLong, dns.name.NameTooLong):
        return []
    except (dns.exception.DNSException, OSError) as error:
        log.warning("the name servers didn't respond", extra={"detail": f"{name}: {error}"})
        raise Unavailable(
            f"The DNS records of {name} couldn't be looked up. Try again in a moment."
        ) from None
    return [b"".join(record.strings).decode(errors="replace") for record in answer]
