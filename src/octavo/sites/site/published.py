"""URLs of published sites."""

from __future__ import annotations

from urllib.parse import quote

from octavo.organization.orgs.store import OrgRow

from .store import SiteRow


def published_url(sites_url: str, org: OrgRow, site: SiteRow) -> str:
    """Return the URL of a site: the URL on its custom domain or, by default, the URL under the sites domain."""
    return (
        own_url(sites_url, site)
        or f"{sites_url.rstrip('/')}/{org.hostname or org.id}/{quote(site.basename)}/"
    )


def own_url(sites_url: str, site: SiteRow) -> str | None:
    """Return a site's URL outside the sites domain: its proxy's URL or its custom domain."""
    place = site.proxy or site.hostname
    return f"{sites_url.partition('://')[0]}://{place}/" if place else None
