"""Operations on organizations, and an operation that returns information about the API."""

from __future__ import annotations

from importlib.metadata import version

from octavo.kit.db.pagination import Listing, PageQuery, present_slice
from octavo.kit.http.bodies import given
from octavo.kit.http.operation import PUBLIC, Area, Call
from octavo.organization.access.authorization import OrgAccess, SignedIn
from octavo.organization.access.reach import list_reachable_organizations
from octavo.organization.access.roles import Can

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


@operation("getApiInformation", "GET", "/", needs=PUBLIC)
def get_api_information(call: Call) -> ApiInformation:
    """Get the version of this server."""
    return ApiInformation(version=version("octavo"), build=version("octavo"))


@operation("listOrganizationsForAuthenticatedUser", "GET", "/orgs", needs=Can.SIGN_IN)
def list_organizations(call: Call, caller: SignedIn, query: PageQuery) -> Listing[Organization]:
    """List the organizations that the caller is a member of and that the current session or token can access, newest
    first."""
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
    quick=True,
    errors=(404,),
    scripts=True,
    agents="docs:read",
)
def get_organization(call: Call, org: OrgAccess) -> Organization:
    """Get an organization."""
    with call.db.read() as tx:
        row = store.get_organization(tx, org.organization_id)
        owns_team = org.role != "admin" and row.id in store.list_with_own_team(tx, org.user_id)
        return present_organization(call, row, org.role, owns_team=owns_team)


@operation("updateOrganizationById", "PATCH", "/orgs/{organizationId}", needs=Can.ADMIN, errors=(400,))
def update_organization(call: Call, org: OrgAccess, body: UpdateOrganization) -> Organization:
    """Update the settings of an organization. Omitted fields stay unchanged.

    `emailDomains` can contain any domains except the domains of public email providers. Once a domain is verified with
    `verifyEmailDomain` or by the server administrator, it lets people join and offers the organization's identity
    providers at sign-in. `verifiedEmailDomains` in the response lists the verified domains."""
    with call.db.write() as tx:
        after = settings.update(tx, org, given(body))
    return present_organization(call, after, org.role)


@operation("listEmailDomains", "GET", "/orgs/{organizationId}/email-domains", needs=Can.ADMIN)
def list_email_domains(call: Call, org: OrgAccess) -> EmailDomains:
    """List the email domains of an organization, each with its verification and the DNS record for verifying
    it."""
    with call.db.read() as tx:
        row = store.get_organization(tx, org.organization_id)
    return EmailDomains([present_domain(call, row, domain) for domain in row.email_domains])


@operation(
    "verifyEmailDomain",
    "POST",
    "/orgs/{organizationId}/email-domains/{emailDomain}/verify",
    needs=Can.ADMIN,
    errors=(404, 503),
)
def verify_email_domain(call: Call, org: OrgAccess, email_domain: str) -> EmailDomain:
    """Verify an email domain, and return the result.

    A domain is verified if its DNS has the TXT record in `record`, or if the server administrator requests it in a
    session. Name servers are queried for at most five seconds. If none respond, the operation returns 503. A domain
    stays verified until it is removed from `emailDomains`."""
    domain = email_domain.lower()
    return present_domain(
        call, domains.verify_domain(call.context, org.actor, org.organization_id, domain), domain
    )


@operation(
    "joinOrganization",
    "POST",
    "/orgs/{organizationId}/join",
    needs=Can.OWN_ACCOUNT,
    errors=(400, 404),
)
def join_organization(call: Call, caller: SignedIn, organization_id: str) -> None:
    """Join an organization that is open to people with the domain of the caller's verified email address.

    The caller gets the organization's default role. Returns 404 both if the organization doesn't exist and if
    it isn't open to the caller.
    """
    with call.db.write() as tx:
        joining.join_by_domain(tx, caller.actor, caller.user_id, organization_id)


@operation(
    "getOrganizationsForEmailDomain", "GET", "/email-domains/{emailDomain}/orgs", needs=Can.OWN_ACCOUNT
)
def get_organizations_for_email_domain(call: Call, caller: SignedIn, email_domain: str) -> FoundOrganizations:
    """List the organizations that the caller can join based on the domain of a verified email address.

    For all other domains, the list is empty, so that the users of a domain aren't revealed."""
    domain = email_domain.lower()
    with call.db.read() as tx:
        found = joining.list_joinable(tx, caller.user_id, domain)
    return FoundOrganizations([present_to_outsider(call, org, domain) for org in found])
