"""Operations on the members of an organization."""

from __future__ import annotations

from msgspec import UNSET

from octavo.errors import Forbidden
from octavo.kit.db.pagination import Listing, present_slice
from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import OrgAccess
from octavo.organization.access.members import note_seen
from octavo.organization.access.roles import ORGANIZATION, Can, at_least

from . import editing, store
from .wire import Member, MembersQuery, Ping, UpdateMember, present_member

operation = Area("orgs").operation

_MEMBERS = "/orgs/{organizationId}/members"
_MEMBER = _MEMBERS + "/{userId}"


@operation(
    "listMembersInOrganizationById",
    "GET",
    _MEMBERS,
    needs=Can.LIST_MEMBERS,
    cached=True,
    agents="docs:read",
)
def list_members(call: Call, org: OrgAccess, query: MembersQuery) -> Listing[Member]:
    """List the members of an organization. `search` matches names and email addresses; `role` can be `guest`."""
    with call.db.read() as tx:
        found = store.list_members(
            tx,
            org.organization_id,
            query.limit,
            query.page,
            sort=query.sort,
            ascending=query.order == "asc",
            role=query.role,
            search=query.search,
        )
    return present_slice(found, lambda member: present_member(call, member))


@operation("getMemberInOrganizationById", "GET", _MEMBER, needs=Can.LIST_MEMBERS)
def get_member(call: Call, org: OrgAccess, user_id: str) -> Member:
    """Get a member."""
    with call.db.read() as tx:
        return present_member(call, store.get_member(tx, org.organization_id, user_id))


@operation("updateMemberInOrganizationById", "PATCH", _MEMBER, needs=Can.ADMIN, errors=(404, 409))
def update_member(call: Call, org: OrgAccess, user_id: str, body: UpdateMember) -> Member:
    """Update a member's role. `null` makes the member a guest. Returns 409 if the member is the last administrator."""
    with call.db.write() as tx:
        if body.role is not UNSET:
            editing.set_role(tx, org, user_id, body.role)
        return present_member(call, store.get_member(tx, org.organization_id, user_id))


@operation("removeMemberFromOrganizationById", "DELETE", _MEMBER, needs=Can.VIEW, errors=(409,))
def delete_member(call: Call, org: OrgAccess, user_id: str) -> bool:
    """Remove a member, including sessions, tokens, team memberships, and grants. Administrators can remove anyone;
    members can remove themselves. Returns 409 if the member is the last administrator."""
    if user_id != org.user_id and not at_least(org.role, ORGANIZATION[Can.ADMIN]):
        raise Forbidden(
            "Only administrators can remove other members. To leave the organization, use your own user ID."
        )
    with call.db.write() as tx:
        return editing.remove_member(tx, org, user_id)


@operation("setUserAsSSOMemberForOrganization", "POST", _MEMBER + "/sso", needs=Can.ADMIN, errors=(404, 412))
def set_sso(call: Call, org: OrgAccess, user_id: str) -> Member:
    """Record that a member signs in through the organization's identity provider. Returns 412 if there is
    no active provider."""
    with call.db.write() as tx:
        editing.mark_sso(tx, org, user_id)
        return present_member(call, store.get_member(tx, org.organization_id, user_id))


@operation("updateOrganizationMemberLastSeenAt", "POST", "/orgs/{organizationId}/ping", needs=Can.VIEW)
def ping(call: Call, org: OrgAccess) -> Ping:
    """Record that the caller was active just now."""
    with call.db.write() as tx:
        note_seen(tx, org.user_id, org.organization_id)
    return Ping()
