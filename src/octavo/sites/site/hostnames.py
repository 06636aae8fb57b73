"""Whose a host name is: what proves that it is a site's, whether it leads here, and giving it up.

A name or a path that a site is given counts once it is proved: then the site is there, and nobody else may be. Until
then the site claims it, and keeps nobody from it. Names of the first organization, which is the operator's own, count
at once, and so do those of all where the operator says so.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any, Literal

from msgspec.structs import replace

from octavo.core.hosts import host_name
from octavo.errors import Conflict, NotFound, Unavailable
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.net.names import find_texts
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import SiteAccess
from octavo.organization.orgs.store import get_organization, is_trusted
from octavo.settings import Settings, parse_servers

from . import store
from .domain_verification import record_of
from .locations import read_hostname, read_proxy, require_apart

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


def require_shared_host(context: Context, host: str) -> None:
    """Raises NotFound for a ``Host`` header that names a site: at its own host name there is nothing but that site, and
    what belongs to all of them is at the address of sites alone."""
    name = host_name(host)
    if "." not in name or name == context.settings.sites_address.host:
        return
    with context.db.read() as tx:
        if store.find_site_by_hostname(tx, name) is not None:
            raise NotFound("There is nothing at this address.")


def is_proved(context: Context, organization_id: str, host: str, *, leading_here: bool) -> bool:
    """Whether a host is an organization's: by the operator's word, by a domain above it that is proved to be, by its
    record, or, with ``leading_here``, because its address is that of the sites. Asks the network; not to be called within a
    transaction."""
    settings = context.settings
    with context.db.read() as tx:
        if settings.trust_hosts or is_trusted(tx, organization_id):
            return True
        proved = get_organization(tx, organization_id).proved
        # Its record in DNS may still be there for the organization that gave it up.
        leading_here = leading_here and not store.is_former_hostname(tx, host, but=organization_id)
    if any(host == domain or host.endswith(f".{domain}") for domain in proved):
        return True
    if leading_here and check_hostname(settings, host) == "live":
        return True
    record = record_of(context, organization_id, host)
    try:
        return record.text in find_texts(record.name, parse_servers(settings.dns_servers))
    except Unavailable:
        return False


# --- what was claimed -------------------------------------------------------------------------------------


def hostname_columns(
    tx: Transaction, settings: Settings, site: store.SiteRow, given: str | None, proved: bool
) -> dict[str, Any]:
    """What a site's row says of a host name that it is given: that it has it, or that it claims it. Raises BadRequest,
    Conflict for one that is another's."""
    if given is None:
        return {"hostname": None, "claimed_hostname": None}
    hostname = read_hostname(tx, settings, site.id, given)
    if proved or hostname == site.hostname:
        return {"hostname": hostname, "claimed_hostname": None}
    return {"claimed_hostname": hostname}


def proxy_columns(
    tx: Transaction, settings: Settings, site: store.SiteRow, given: str | None, proved: bool
) -> dict[str, Any]:
    """The same of host and path at which a proxy shows it."""
    if given is None:
        return {"proxy_host": None, "proxy_path": None, "claimed_proxy": None}
    host, path = read_proxy(tx, settings, site.id, site.organization_id, given)
    if proved or f"{host}{path}" == site.proxy:
        return {"proxy_host": host, "proxy_path": path, "claimed_proxy": None}
    return {"claimed_proxy": f"{host}{path}"}


def put_status(
    tx: Transaction, context: Context, site: SiteAccess, hostname: str, status: HostnameStatus, proved: bool
) -> None:
    """Keeps what a check found; a name that is proved now is the site's. Raises Conflict when the site has another
    host name meanwhile, or another site has this one."""
    row = store.get_site(tx, site.site_id)
    if hostname not in (row.hostname, row.claimed_hostname):
        raise Conflict("The host name was changed meanwhile.")
    values: dict[str, Any] = {"settings": replace(row.settings, hostname_status=status)}
    if proved and hostname == row.claimed_hostname:
        values |= hostname_columns(tx, context.settings, row, hostname, True)
        require_apart(hostname, row.proxy_host)
        before, after = {"hostname": row.hostname}, {"hostname": hostname}
        target = ("site", site.site_id)
        audit(tx, site.actor, "site.updated", site.organization_id, target, before=before, after=after)
    store.update_site(tx, site.site_id, **values)


def remove_hostname(tx: Transaction, site: SiteAccess, hostname: str) -> None:
    """The site is below the installation's address again, or claims the name no more. Raises NotFound for a name that it
    has not."""
    row = store.get_site(tx, site.site_id)
    if hostname == row.claimed_hostname:
        store.update_site(tx, site.site_id, claimed_hostname=None)
    elif hostname == row.hostname:
        store.update_site(tx, site.site_id, hostname=None)
    else:
        raise NotFound("The host name was given up meanwhile.")
    target = ("site", site.site_id)
    audit(tx, site.actor, "site.hostnameRemoved", site.organization_id, target, before={"hostname": hostname})
