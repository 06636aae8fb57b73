"""Where sites are published."""

from __future__ import annotations

from urllib.parse import quote

from octavo.organization.orgs.store import OrgRow

from .store import SiteRow


def published_url(sites_url: str, org: OrgRow, site: SiteRow) -> str:
    """Where visitors find a site: at an address of its own, or below the installation's address for sites."""
    return (
        own_url(sites_url, site)
        or f"{sites_url.rstrip('/')}/{org.hostname or org.id}/{quote(site.basename)}/"
    )


def own_url(sites_url: str, site: SiteRow) -> str | None:
    """A site's address outside of the installation's: where a proxy shows it, else its own host name."""
    place = site.proxy or site.hostname
    return f"{sites_url.partition('://')[0]}://{place}/" if place else None
