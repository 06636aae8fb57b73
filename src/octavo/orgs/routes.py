"""Organizations, and what the API says of itself."""

from __future__ import annotations

from importlib.metadata import version

from ..access import Can, OrgAccess, SignedIn
from ..kit.operation import PUBLIC, Call, operation
from ..kit.pagination import Listing, PageQuery, present_slice
from . import store
from .creating import create_organization as create
from .wire import ApiInformation, CreateOrganization, Organization, present_organization


@operation("getApiInformation", "GET", "/", needs=PUBLIC, returns=ApiInformation)
def get_api_information(call: Call) -> ApiInformation:
    """The version of this installation."""
    return ApiInformation(version=version("octavo"), build=version("octavo"))


@operation(
    "listOrganizationsForAuthenticatedUser", "GET", "/orgs", needs=Can.SIGN_IN, returns=Listing[Organization]
)
def list_organizations(call: Call, caller: SignedIn, query: PageQuery) -> Listing[Organization]:
    """The organizations the caller is a member of, newest first."""
    with call.db.read() as tx:
        found = store.list_organizations(
            tx, caller.user_id, query.limit, query.page, only=call.actor.organization_id
        )
    return present_slice(found, lambda item: present_organization(call, *item))


@operation("createOrganization", "POST", "/orgs", needs=Can.OWN_ACCOUNT, returns=Organization, status=201)
def create_organization(call: Call, caller: SignedIn, body: CreateOrganization) -> Organization:
    """A new organization, which the caller administers."""
    with call.db.write() as tx:
        org = create(tx, caller.user_id, body.title.strip(), body.email_domains)
    return present_organization(call, org, "admin")


@operation(
    "getOrganizationById",
    "GET",
    "/orgs/{organizationId}",
    needs=Can.VIEW,
    returns=Organization,
    errors=(404,),
)
def get_organization(call: Call, org: OrgAccess) -> Organization:
    """One organization."""
    with call.db.read() as tx:
        return present_organization(call, store.get_organization(tx, org.organization_id), org.role)
