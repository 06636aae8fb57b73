"""Sites: making, reading, publishing."""

from __future__ import annotations

from ..access import Can, OrgAccess, SiteAccess, audit, find_space_access
from ..kit.db import Transaction
from ..kit.operation import Area, Call
from ..kit.pagination import Listing, present_slice
from ..orgs import get_organization
from . import organization_routes, publishing, store
from .creating import create_site as create
from .publishing import require_publishable
from .wire import CreateSite, Site, SitesQuery, present_site

operation = Area("sites").operation

__all__ = ["organization_routes"]


def _site(call: Call, tx: Transaction, organization_id: str, site_id: str) -> Site:
    return present_site(call, get_organization(tx, organization_id), store.get_site(tx, site_id))


@operation("listSites", "GET", "/orgs/{organizationId}/sites", needs=Can.LIST_TEAMS, returns=Listing[Site])
def list_sites(call: Call, org: OrgAccess, query: SitesQuery) -> Listing[Site]:
    """The sites of an organization, newest first; with ``space`` those that show a space that the caller sees."""
    with call.db.read() as tx:
        row = get_organization(tx, org.organization_id)
        if query.space is not None and find_space_access(tx, org.actor, Can.VIEW, query.space) is None:
            return Listing([], 0)
        found = store.list_sites(
            tx,
            org.organization_id,
            query.limit,
            query.page,
            space=query.space,
            title=query.title,
            published=query.published,
            types=list(query.type or []),
        )
    return present_slice(found, lambda site: present_site(call, row, site))


@operation(
    "createSite",
    "POST",
    "/orgs/{organizationId}/sites",
    needs=Can.CREATE_CONTENT,
    returns=Site,
    status=201,
)
def create_site(call: Call, org: OrgAccess, body: CreateSite | None) -> Site:
    """A new site, not yet published, over spaces of the organization that the caller administers."""
    given = body or CreateSite()
    with call.db.write() as tx:
        require_publishable(tx, org, given.spaces)
        site_id = create(
            tx,
            organization_id=org.organization_id,
            title=given.title,
            type=given.type,
            visibility=given.visibility,
            spaces=given.spaces,
        )
        return _site(call, tx, org.organization_id, site_id)


@operation(
    "getSiteById",
    "GET",
    "/orgs/{organizationId}/sites/{siteId}",
    needs=Can.VIEW,
    returns=Site,
    errors=(404,),
)
def get_site(call: Call, site: SiteAccess) -> Site:
    """One site."""
    with call.db.read() as tx:
        return _site(call, tx, site.organization_id, site.site_id)


@operation(
    "publishSite", "POST", "/orgs/{organizationId}/sites/{siteId}/publish", needs=Can.ADMIN, returns=Site
)
def publish_site(call: Call, site: SiteAccess) -> Site:
    """Opens the site to the audience its visibility sets. For those who administer each space that it shows."""
    with call.db.write() as tx:
        publishing.publish_site(tx, site)
        audit(tx, call, "site.published", site.organization_id, ("site", site.site_id))
        return _site(call, tx, site.organization_id, site.site_id)


@operation(
    "unpublishSite", "POST", "/orgs/{organizationId}/sites/{siteId}/unpublish", needs=Can.ADMIN, returns=Site
)
def unpublish_site(call: Call, site: SiteAccess) -> Site:
    """Closes the site; nobody reaches it until it is published again."""
    with call.db.write() as tx:
        store.set_published(tx, site.site_id, False)
        audit(tx, call, "site.unpublished", site.organization_id, ("site", site.site_id))
        return _site(call, tx, site.organization_id, site.site_id)
