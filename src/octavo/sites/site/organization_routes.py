"""Create an organization, optionally with its first site."""

from __future__ import annotations

from msgspec import Struct

from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Area, Call
from octavo.kit.urls import FetchUrl
from octavo.organization.access.authorization import OrgAccess, SignedIn, organization_access
from octavo.organization.access.roles import Can
from octavo.organization.orgs.creating import create_organization_for
from octavo.organization.orgs.store import get_organization, set_default_site
from octavo.organization.orgs.wire import CreateOrganization, Organization, present_organization
from octavo.organization.spaces.creating import create_space
from octavo.sites.openapi.publishing import put_first

from .creating import create_site

operation = Area("orgs").operation


class CreateOrganizationQuery(Struct, rename="camel"):
    """Query parameters of a new organization. ``withDefaultSite``: whether to also create a space and a site
    that shows it. ``openapiUrl``: the source of its first API specification."""

    with_default_site: bool = False
    openapi_url: FetchUrl | None = None


@operation("createOrganization", "POST", "/orgs", needs=Can.OWN_ACCOUNT, status=201)
def create(
    call: Call, caller: SignedIn, query: CreateOrganizationQuery, body: CreateOrganization
) -> Organization:
    """Create an organization, with the caller as its administrator. With `withDefaultSite`, the organization gets an
    empty space and an unpublished site for that space. With `openapiUrl`, it gets an API specification named `api`."""
    with call.db.write() as tx:
        made = create_organization_for(tx, caller.actor, caller.user_id, body.title, body.email_domains)
        if query.with_default_site:
            _add_default_site(tx, call, organization_access(tx, caller.actor, Can.ADMIN, made.id), made.title)
        if query.openapi_url is not None:
            put_first(tx, caller.actor, made.id, query.openapi_url)
        return present_organization(call, get_organization(tx, made.id), "admin")


def _add_default_site(tx: Transaction, call: Call, org: OrgAccess, title: str) -> None:
    space = create_space(tx, org, "Documentation")
    site_id = create_site(tx, organization_id=org.organization_id, title=title[:128], spaces=[space.id])
    set_default_site(tx, org.organization_id, site_id)
