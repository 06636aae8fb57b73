"""Authorize paths that specify an organization by subdomain, or a site by hostname or only by ID."""

from __future__ import annotations

from octavo.core.hosts import spell_host
from octavo.errors import NotFound
from octavo.kit.http.operation import Call, enters
from octavo.organization.access.authorization import OrgAccess, SiteAccess, enter_organization, enter_site
from octavo.organization.access.roles import Can
from octavo.organization.orgs.store import find_organization_by_hostname

from .store import find_site, find_site_by_hostname, list_claiming


@enters(OrgAccess, "subdomain")
def enter_subdomain(call: Call, needs: Can, subdomain: str) -> OrgAccess:
    """Authorize the caller in the organization with this subdomain."""
    missing = NotFound(f"There is no site with the subdomain {subdomain!r}.")
    with call.db.read() as tx:
        found = find_organization_by_hostname(tx, subdomain.lower())
    if found is None:
        # Authenticate first, as always.
        call.actor  # noqa: B018
        raise missing
    try:
        return enter_organization(call, needs, found.id)
    except NotFound:
        raise missing from None


@enters(SiteAccess, "hostname")
def enter_hostname(call: Call, needs: Can, hostname: str) -> SiteAccess:
    """Authorize the caller for the site with this hostname, or for a site that claims this hostname."""
    name = spell_host(hostname)
    with call.db.read() as tx:
        owner = find_site_by_hostname(tx, name)
        found = [*([owner] if owner is not None else []), *list_claiming(tx, name)]
    # Authenticate first, as always.
    call.actor  # noqa: B018
    for site in found:
        try:
            return enter_site(call, needs, site.organization_id, site.id)
        except NotFound:
            continue
    raise NotFound(f"There is no site with the hostname {hostname!r}.")


@enters(SiteAccess, "siteId")
def enter_site_alone(call: Call, needs: Can, site_id: str) -> SiteAccess:
    """Authorize the caller for a site whose organization isn't part of the path."""
    missing = NotFound(f"There is no site with the ID {site_id!r}.")
    with call.db.read() as tx:
        found = find_site(tx, site_id)
    if found is None:
        call.actor  # noqa: B018
        raise missing
    try:
        return enter_site(call, needs, found.organization_id, site_id)
    except NotFound:
        raise missing from None
