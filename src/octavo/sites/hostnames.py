"""Host names of sites' own: whether one leads here, and giving it up.

A name serves its site as soon as it is set, so that a proxy can ask for a certificate; the check says whether visitors
reach it.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Literal

from msgspec.structs import replace

from ..access import SiteAccess, audit
from ..errors import Conflict
from ..kit.db import Transaction
from ..kit.operation import Call
from ..settings import Settings
from . import store

HostnameStatus = Literal["live", "dns_no_cname", "dns_wrong_cname"]
Resolve = Callable[[str], set[str]]


def find_addresses(host: str) -> set[str]:
    """The addresses of a host; none where it has none."""
    try:
        return {str(found[4][0]) for found in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
    except (OSError, UnicodeError):
        return set()


def check_hostname(settings: Settings, hostname: str, resolve: Resolve = find_addresses) -> HostnameStatus:
    """Whether a host name has an address of the installation's own sites. Asks the network."""
    found = resolve(hostname)
    if not found:
        return "dns_no_cname"
    return "live" if found & resolve(settings.sites_address.host) else "dns_wrong_cname"


def put_status(tx: Transaction, site: SiteAccess, hostname: str, status: HostnameStatus) -> None:
    """Keeps what a check found. Raises Conflict when the site has another host name meanwhile."""
    row = store.get_site(tx, site.site_id)
    if row.hostname != hostname:
        raise Conflict("The host name was changed meanwhile.")
    store.update_site(tx, site.site_id, settings=replace(row.settings, hostname_status=status))


def remove_hostname(tx: Transaction, call: Call, site: SiteAccess) -> None:
    """The site is below the installation's address again."""
    before = store.get_site(tx, site.site_id).hostname
    store.update_site(tx, site.site_id, hostname=None)
    target = ("site", site.site_id)
    audit(tx, call, "site.hostnameRemoved", site.organization_id, target, before={"hostname": before})
