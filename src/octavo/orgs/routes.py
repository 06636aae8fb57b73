"""Organizations, and what the API says of itself."""

from __future__ import annotations

from importlib.metadata import version

from ..access import Can, OrgAccess, SignedIn, list_reachable_organizations
from ..kit.bodies import given
from ..kit.operation import PUBLIC, Area, Call
from ..kit.pagination import Listing, PageQuery, present_slice
from . import domains, joining, settings, store
from .wire import (
    ApiInformation,
    EmailDomain,
    EmailDomains,
    FoundOrganizations,
    Organization,
    UpdateOrganization,
    present_domain,
    present_organization,
    present_to_outsider,
)

operation = Area("orgs").operation


@operation("getApiInformation", "GET", "/", needs=PUBLIC, returns=ApiInformation)
def get_api_information(call: Call) -> ApiInformation:
    """The version of this installation."""
    return ApiInformation(version=version("octavo"), build=version("octavo"))


@operation(
    "listOrganizationsForAuthenticatedUser", "GET", "/orgs", needs=Can.SIGN_IN, returns=Listing[Organization]
)
def list_organizations(call: Call, caller: SignedIn, query: PageQuery) -> Listing[Organization]:
    """The organizations that the caller is a member of and reaches as they signed in, newest first."""
    with call.db.read() as tx:
        reached = list_reachable_organizations(tx, caller.actor)
        found = store.list_organizations(tx, caller.user_id, reached, query.limit, query.page)
        owning = store.list_with_own_team(tx, caller.user_id)
    return present_slice(
        found, lambda item: present_organization(call, *item, owns_team=item[0].id in owning)
    )


@operation(
    "getOrganizationById",
    "GET",
    "/orgs/{organizationId}",
    needs=Can.VIEW,
    returns=Organization,
    quick=True,
    errors=(404,),
    scripts=True,
    agents="docs:read",
)
def get_organization(call: Call, org: OrgAccess) -> Organization:
    """One organization."""
    with call.db.read() as tx:
        row = store.get_organization(tx, org.organization_id)
        owns_team = org.role != "admin" and row.id in store.list_with_own_team(tx, org.user_id)
        return present_organization(call, row, org.role, owns_team=owns_team)


@operation(
    "updateOrganizationById",
    "PATCH",
    "/orgs/{organizationId}",
    needs=Can.ADMIN,
    returns=Organization,
    errors=(400,),
)
def update_organization(call: Call, org: OrgAccess, body: UpdateOrganization) -> Organization:
    """Changes the settings of an organization: what is left out stays.

    `emailDomains` may name any domains but those of email providers. One lets people in, and offers the organization's
    identity providers at sign-in, once it is proved to be the organization's by `proveEmailDomain` or by the server
    administrator. `provedEmailDomains` in the answer says which are.
    """
    with call.db.write() as tx:
        after = settings.update(tx, org, given(body))
    return present_organization(call, after, org.role)


@operation(
    "listEmailDomains",
    "GET",
    "/orgs/{organizationId}/email-domains",
    needs=Can.ADMIN,
    returns=EmailDomains,
    extension=True,
)
def list_email_domains(call: Call, org: OrgAccess) -> EmailDomains:
    """The e-mail domains of an organization, whether each is proved, by what, and which DNS record would prove it."""
    with call.db.read() as tx:
        row = store.get_organization(tx, org.organization_id)
    return EmailDomains([present_domain(call, row, domain) for domain in row.email_domains])


@operation(
    "proveEmailDomain",
    "POST",
    "/orgs/{organizationId}/email-domains/{emailDomain}/prove",
    needs=Can.ADMIN,
    returns=EmailDomain,
    errors=(404, 503),
    extension=True,
)
def prove_email_domain(call: Call, org: OrgAccess, email_domain: str) -> EmailDomain:
    """Looks whether a domain is the organization's, and says what was found.

    It is when an administrator has a verified address in it, or when its DNS has the TXT record that `record` names.
    The name servers are asked for five seconds at most; 503 when none answers. A domain once proved stays so until
    it is taken out of `emailDomains`.
    """
    domain = email_domain.lower()
    return present_domain(call, domains.prove(call.context, org.actor, org.organization_id, domain), domain)


@operation(
    "joinOrganization",
    "POST",
    "/orgs/{organizationId}/join",
    needs=Can.OWN_ACCOUNT,
    errors=(400, 404),
)
def join_organization(call: Call, caller: SignedIn, organization_id: str) -> None:
    """Joins an organization that takes people with the domain of one's verified e-mail address.

    The caller gets the organization's default role. 404 alike for an organization that is not there and for one
    that does not take them.
    """
    with call.db.write() as tx:
        joining.join_by_domain(tx, caller.actor, caller.user_id, organization_id)


@operation(
    "getOrganizationsForEmailDomain",
    "GET",
    "/email-domains/{emailDomain}/orgs",
    needs=Can.OWN_ACCOUNT,
    returns=FoundOrganizations,
)
def get_organizations_for_email_domain(call: Call, caller: SignedIn, email_domain: str) -> FoundOrganizations:
    """The organizations that the caller may join by the domain of their verified address.

    For any other domain the answer is empty: nothing is told of who uses it.
    """
    domain = email_domain.lower()
    with call.db.read() as tx:
        found = joining.list_joinable(tx, caller.user_id, domain)
    return FoundOrganizations([present_to_outsider(call, org, domain) for org in found])
