"""Verify the hostnames of sites, check whether they point to this server, and remove them.

A hostname or proxy path is used only after it is verified. From then on, no other site can use it. Before
verification, other sites can claim the same hostname or path. Hostnames of the first organization, which belongs to
the server administrator, are used immediately. If the server's settings allow it, the hostnames of all organizations
are used immediately."""

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
from .domain_verification import verification_record
from .locations import read_hostname, read_proxy, require_apart

HostnameStatus = Literal["live", "dns_no_cname", "dns_wrong_cname"]
Resolve = Callable[[str], set[str]]


def find_addresses(host: str) -> set[str]:
    """Return the IP addresses of a host; empty if there are none."""
    try:
        return {str(found[4][0]) for found in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
    except (OSError, UnicodeError):
        return set()


def check_hostname(settings: Settings, hostname: str, resolve: Resolve = find_addresses) -> HostnameStatus:
    """Return the status of a hostname, based on whether it resolves to an IP address of this server's sites. This
    function makes network requests."""
    found = resolve(hostname)
    if not found:
        return "dns_no_cname"
    return "live" if found & resolve(settings.sites_address.host) else "dns_wrong_cname"


def is_released(tx: Transaction, settings: Settings, name: str) -> bool:
    """Return whether a site no longer uses this hostname. The hostname then shows nothing, although its DNS
    record may still point to this server. This is never true for the sites domain."""
    return "." in name and name != settings.sites_address.host and store.is_given_up(tx, name)


def require_shared_host(context: Context, host: str) -> None:
    """Raise NotFound if the ``Host`` header is or was the hostname of a site. A site's own hostname serves only
    that site. Paths shared by all sites exist only on the sites domain."""
    name = host_name(host)
    if "." not in name or name == context.settings.sites_address.host:
        return
    with context.db.read() as tx:
        if store.find_site_by_hostname(tx, name) is not None or is_released(tx, context.settings, name):
            raise NotFound("There is no page at this URL.")


def is_verified(context: Context, organization_id: str, host: str, *, points_here: bool) -> bool:
    """Return whether a host belongs to an organization: the server administrator trusts the organization, a parent
    domain is verified, a DNS record verifies the host, or, with ``points_here``, the host resolves to the IP address of
    the sites. This function makes network requests, so don't call it within a transaction."""
    settings = context.settings
    with context.db.read() as tx:
        if settings.trust_hosts or is_trusted(tx, organization_id):
            return True
        proved = get_organization(tx, organization_id).proved
        # The DNS record may still exist for the organization that removed the name.
        points_here = points_here and not store.is_former_hostname(tx, host, but=organization_id)
    if any(host == domain or host.endswith(f".{domain}") for domain in proved):
        return True
    if points_here and check_hostname(settings, host) == "live":
        return True
    record = verification_record(context, organization_id, host)
    try:
        return record.text in find_texts(record.name, parse_servers(settings.dns_servers))
    except Unavailable:
        return False


# --- claims -------------------------------------------------------------------------------------------


def hostname_columns(
    tx: Transaction, settings: Settings, site: store.SiteRow, given: str | None, proved: bool
) -> dict[str, object]:
    """Return the columns to update for a site's new hostname, which is either verified or claimed. Raises
    BadRequest if the hostname is invalid, and Conflict if it belongs to another site."""
    if given is None:
        return {"hostname": None, "claimed_hostname": None}
    hostname = read_hostname(tx, settings, site.id, given)
    if proved or hostname == site.hostname:
        return {"hostname": hostname, "claimed_hostname": None}
    return {"claimed_hostname": hostname}


def proxy_columns(
    tx: Transaction, settings: Settings, site: store.SiteRow, given: str | None, proved: bool
) -> dict[str, object]:
    """Return the columns to update for the new host and path of a site's proxy, which are either verified or
    claimed. Raises BadRequest if a value is invalid, and Conflict if the location belongs to another site."""
    if given is None:
        return {"proxy_host": None, "proxy_path": None, "claimed_proxy": None}
    host, path = read_proxy(tx, settings, site.id, site.organization_id, given)
    if proved or f"{host}{path}" == site.proxy:
        return {"proxy_host": host, "proxy_path": path, "claimed_proxy": None}
    return {"claimed_proxy": f"{host}{path}"}


def put_status(
    tx: Transaction, context: Context, site: SiteAccess, hostname: str, status: HostnameStatus, proved: bool
) -> None:
    """Store the result of a check. A verified hostname is assigned to the site. Raises Conflict if the site's hostname
    changed in the meantime or if this hostname belongs to another site."""
    row = store.get_site(tx, site.site_id)
    if hostname not in (row.hostname, row.claimed_hostname):
        raise Conflict(
            "The site's hostname was changed by another request. Reload the domain settings and try again."
        )
    values: dict[str, Any] = {"settings": replace(row.settings, hostname_status=status)}
    if proved and hostname == row.claimed_hostname:
        values |= hostname_columns(tx, context.settings, row, hostname, True)
        require_apart(hostname, row.proxy_host)
        before, after = {"hostname": row.hostname}, {"hostname": hostname}
        target = ("site", site.site_id)
        audit(tx, site.actor, "site.updated", site.organization_id, target, before=before, after=after)
    store.update_site(tx, site.site_id, **values)


def remove_hostname(tx: Transaction, site: SiteAccess, hostname: str) -> None:
    """Remove a hostname or the claim to it, so that the site is available only under the sites domain. Raises NotFound
    if the site doesn't have this hostname."""
    row = store.get_site(tx, site.site_id)
    if hostname == row.claimed_hostname:
        store.update_site(tx, site.site_id, claimed_hostname=None)
    elif hostname == row.hostname:
        store.update_site(tx, site.site_id, hostname=None)
    else:
        raise NotFound("The hostname has already been removed.")
    target = ("site", site.site_id)
    audit(tx, site.actor, "site.hostnameRemoved", site.organization_id, target, before={"hostname": hostname})
