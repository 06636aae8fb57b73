"""Operations on teams. Administrators create teams, and team owners manage the members."""

from __future__ import annotations

from msgspec import UNSET

from octavo.kit.db.pagination import Listing, PageQuery, present_slice
from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import OrgAccess
from octavo.organization.access.avatars import MAX_AVATAR, read_avatar
from octavo.organization.access.permitting import can_write
from octavo.organization.access.rights.store import list_owned_team_ids
from octavo.organization.access.roles import Can
from octavo.organization.access.wire import SetAvatar, Team, present_team

from ..members.store import get_member, list_members_by_id
from ..members.wire import present_member
from . import editing, store
from .wire import (
    AddTeamMember,
    CreateTeam,
    MemberTeam,
    MemberTeamsQuery,
    TeamMember,
    TeamMembership,
    TeamsQuery,
    UpdateTeam,
    UpdateTeamMembers,
    present_member_team,
)

operation = Area("orgs").operation

_TEAMS = "/orgs/{organizationId}/teams"
_TEAM = _TEAMS + "/{teamId}"


@operation("listTeamsInOrganizationById", "GET", _TEAMS, needs=Can.LIST_TEAMS)
def list_teams(call: Call, org: OrgAccess, query: TeamsQuery) -> Listing[Team]:
    """List the teams of an organization, newest first. `owner` limits the list to teams that this member can
    manage."""
    with call.db.read() as tx:
        found = store.list_teams(
            tx, org.organization_id, query.limit, query.page, owner=query.owner, title=query.title
        )
        own = list_owned_team_ids(tx, org.organization_id, org.user_id)
    may = can_write(org.actor, "orgs")
    return present_slice(
        found, lambda team: present_team(call, team, admin=may and (org.role == "admin" or team.id in own))
    )


@operation("createOrganizationTeam", "PUT", _TEAMS, needs=Can.OWN_TEAM, status=201)
def create_team(call: Call, org: OrgAccess, body: CreateTeam) -> Team:
    """Create a team with the given members of the organization."""
    with call.db.write() as tx:
        return present_team(call, editing.create_team(tx, org, body.title.strip(), body.members), admin=True)


@operation("getTeamInOrganizationById", "GET", _TEAM, needs=Can.LIST_TEAMS)
def get_team(call: Call, org: OrgAccess, team_id: str) -> Team:
    """Get a team."""
    with call.db.read() as tx:
        team = editing.get_team(tx, org, team_id)
        manages = org.role == "admin" or store.is_team_owner(tx, team_id, org.user_id)
        return present_team(call, team, admin=manages and can_write(org.actor, "orgs"))


@operation("updateTeamInOrganizationById", "PATCH", _TEAM, needs=Can.LIST_TEAMS)
def update_team(call: Call, org: OrgAccess, team_id: str, body: UpdateTeam) -> Team:
    """Rename a team. You must be an owner of the team or an administrator."""
    with call.db.write() as tx:
        return present_team(call, editing.rename_team(tx, org, team_id, body.title.strip()), admin=True)


@operation("removeTeamFromOrganizationById", "DELETE", _TEAM, needs=Can.LIST_TEAMS)
def delete_team(call: Call, org: OrgAccess, team_id: str) -> bool:
    """Delete a team and its grants. You must be an owner of the team or an administrator."""
    with call.db.write() as tx:
        return editing.delete_team(tx, org, team_id)


@operation(
    "setTeamPicture",
    "PUT",
    _TEAM + "/picture",
    needs=Can.LIST_TEAMS,
    body_limit=MAX_AVATAR * 2,
    errors=(400,),
)
def set_team_picture(call: Call, org: OrgAccess, team_id: str, body: SetAvatar) -> Team:
    """Set a team's picture. It is scaled to at most 256 pixels and stored as a PNG; metadata is removed.
    Everyone with its URL can load it. You must be an owner of the team or an administrator."""
    image = read_avatar(body.image)
    with call.db.write() as tx:
        return present_team(call, editing.set_picture(tx, org, team_id, image), admin=True)


@operation("removeTeamPicture", "DELETE", _TEAM + "/picture", needs=Can.LIST_TEAMS)
def remove_team_picture(call: Call, org: OrgAccess, team_id: str) -> bool:
    """Remove the picture of a team. Its URL stops working. You must be an owner of the team or an administrator."""
    with call.db.write() as tx:
        return editing.remove_picture(tx, org, team_id)


@operation("listTeamMembersInOrganizationById", "GET", _TEAM + "/members", needs=Can.LIST_TEAMS)
def list_team_members(call: Call, org: OrgAccess, team_id: str, query: PageQuery) -> Listing[TeamMember]:
    """List the members of a team, each with the role in the team."""
    with call.db.read() as tx:
        editing.get_team(tx, org, team_id)
        found = store.list_team_members(tx, team_id, query.limit, query.page)
        members = list_members_by_id(tx, org.organization_id, [row.user_id for row in found.rows])
    return present_slice(
        found,
        lambda row: TeamMember(
            present_member(call, members[row.user_id]),
            TeamMembership(row.role),  # type: ignore[arg-type]
        ),
    )


@operation("updateMembersInOrganizationTeam", "PUT", _TEAM + "/members", needs=Can.LIST_TEAMS)
def update_team_members(call: Call, org: OrgAccess, team_id: str, body: UpdateTeamMembers) -> None:
    """Add and remove members of a team, by ID or email address; `memberships` sets roles.

    You must be an owner of the team or an administrator.
    """
    roles = {name: membership.role for name, membership in body.memberships.items()}
    with call.db.write() as tx:
        editing.update_members(tx, org, team_id, add=body.add, memberships=roles, remove=body.remove)


@operation("addMemberToOrganizationTeamById", "PUT", _TEAM + "/members/{userId}", needs=Can.LIST_TEAMS)
def add_team_member(
    call: Call, org: OrgAccess, team_id: str, user_id: str, body: AddTeamMember | None
) -> None:
    """Add a member to a team, or change a member's role in the team. You must be an owner of the team or an
    administrator."""
    role = None if body is None or body.role is UNSET else body.role
    with call.db.write() as tx:
        editing.put_member(tx, org, team_id, user_id, role)


@operation(
    "deleteMemberFromOrganizationTeamById", "DELETE", _TEAM + "/members/{userId}", needs=Can.LIST_TEAMS
)
def delete_team_member(call: Call, org: OrgAccess, team_id: str, user_id: str) -> bool:
    """Remove a member from a team. You must be an owner of the team or an administrator."""
    with call.db.write() as tx:
        return editing.remove_member(tx, org, team_id, user_id)


@operation(
    "listTeamsForOrganizationMember",
    "GET",
    "/orgs/{organizationId}/members/{userId}/teams",
    needs=Can.LIST_TEAMS,
)
def list_member_teams(
    call: Call, org: OrgAccess, user_id: str, query: MemberTeamsQuery
) -> Listing[MemberTeam]:
    """List the teams of a member, each with the member's role in it."""
    with call.db.read() as tx:
        get_member(tx, org.organization_id, user_id)
        found = store.list_teams_of_member(
            tx, org.organization_id, user_id, query.limit, query.page, title=query.title
        )
    return present_slice(found, lambda item: present_member_team(call, org, *item))
