"""Teams: administrators make them, their owners manage who is in them."""

from __future__ import annotations

from msgspec import UNSET

from ...access import Can, OrgAccess, Team, TeamRow, audit, find_team, present_team
from ...errors import Forbidden, NotFound
from ...kit.db import Transaction
from ...kit.operation import Area, Call, Deletion
from ...kit.pagination import Listing, PageQuery, present_slice
from ..members.store import get_member, list_members_by_id
from ..members.wire import present_member
from . import store
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


def _get(tx: Transaction, org: OrgAccess, team_id: str) -> TeamRow:
    found = find_team(tx, org.organization_id, team_id)
    if found is None:
        raise NotFound(f"There is no team {team_id!r} in this organization.")
    return found


def _require_manager(tx: Transaction, org: OrgAccess, team_id: str) -> None:
    _get(tx, org, team_id)
    if org.role != "admin" and not store.owns(tx, team_id, org.user_id):
        raise Forbidden("Who is in a team is for its owners and for administrators to say.")


def _members(tx: Transaction, org: OrgAccess, named: list[str], place: str) -> list[str]:
    """The ids of members named by id or address. Raises NotFound naming who is none."""
    found = store.find_member_ids(tx, org.organization_id, named)
    for name in named:
        if name not in found:
            raise NotFound(f"{place}: {name!r} is no member of this organization.")
    return list(dict.fromkeys(found[name] for name in named))


@operation("listTeamsInOrganizationById", "GET", _TEAMS, needs=Can.LIST_TEAMS, returns=Listing[Team])
def list_teams(call: Call, org: OrgAccess, query: TeamsQuery) -> Listing[Team]:
    """The teams of an organization, newest first. `owner`: those that this member can manage."""
    with call.db.read() as tx:
        found = store.list_teams(
            tx, org.organization_id, query.limit, query.page, owner=query.owner, title=query.title
        )
        own = store.owned_by(tx, org.organization_id, org.user_id)
    return present_slice(found, lambda team: present_team(team, admin=org.role == "admin" or team.id in own))


@operation("createOrganizationTeam", "PUT", _TEAMS, needs=Can.OWN_TEAM, returns=Team, status=201)
def create_team(call: Call, org: OrgAccess, body: CreateTeam) -> Team:
    """A new team with these members, all of them of this organization."""
    with call.db.write() as tx:
        user_ids = _members(tx, org, body.members, "members")
        team_id = store.insert_team(tx, org.organization_id, body.title.strip())
        for user_id in user_ids:
            store.put_member(tx, team_id, user_id, "member")
        state = {"title": body.title.strip(), "members": user_ids}
        audit(tx, call, "team.created", org.organization_id, ("team", team_id), after=state)
        return present_team(_get(tx, org, team_id), admin=True)


@operation("getTeamInOrganizationById", "GET", _TEAM, needs=Can.LIST_TEAMS, returns=Team)
def get_team(call: Call, org: OrgAccess, team_id: str) -> Team:
    """One team."""
    with call.db.read() as tx:
        team = _get(tx, org, team_id)
        return present_team(team, admin=org.role == "admin" or store.owns(tx, team_id, org.user_id))


@operation("updateTeamInOrganizationById", "PATCH", _TEAM, needs=Can.OWN_TEAM, returns=Team)
def update_team(call: Call, org: OrgAccess, team_id: str, body: UpdateTeam) -> Team:
    """Renames a team."""
    with call.db.write() as tx:
        before = _get(tx, org, team_id)
        store.rename_team(tx, team_id, body.title.strip())
        after = _get(tx, org, team_id)
        audit(
            tx,
            call,
            "team.updated",
            org.organization_id,
            ("team", team_id),
            before={"title": before.title},
            after={"title": after.title},
        )
    return present_team(after, admin=True)


@operation("removeTeamFromOrganizationById", "DELETE", _TEAM, needs=Can.OWN_TEAM, returns=Deletion)
def delete_team(call: Call, org: OrgAccess, team_id: str) -> bool:
    """Removes a team, and what was granted to it with it."""
    with call.db.write() as tx:
        before = find_team(tx, org.organization_id, team_id)
        if before is None:
            return False
        store.delete_team(tx, org.organization_id, team_id)
        state = {"title": before.title}
        audit(tx, call, "team.removed", org.organization_id, ("team", team_id), before=state)
    return True


@operation(
    "listTeamMembersInOrganizationById",
    "GET",
    _TEAM + "/members",
    needs=Can.LIST_TEAMS,
    returns=Listing[TeamMember],
)
def list_team_members(call: Call, org: OrgAccess, team_id: str, query: PageQuery) -> Listing[TeamMember]:
    """The people in a team, each with their role in it."""
    with call.db.read() as tx:
        _get(tx, org, team_id)
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
    """Adds people to a team and removes some, by id or address; `memberships` says the role of who is added.

    For the team's owners and for administrators.
    """
    with call.db.write() as tx:
        _require_manager(tx, org, team_id)
        removed = _members(tx, org, body.remove, "remove")
        roles = {id: None for id in _members(tx, org, body.add, "add")} | {
            _members(tx, org, [name], "memberships")[0]: wanted.role
            for name, wanted in body.memberships.items()
        }
        for user_id in removed:
            roles.pop(user_id, None)
        for user_id, role in roles.items():
            store.put_member(tx, team_id, user_id, role)
        store.remove_members(tx, team_id, removed)
        if roles or removed:
            state = {"added": roles, "removed": removed}
            audit(tx, call, "team.members-updated", org.organization_id, ("team", team_id), after=state)


@operation("addMemberToOrganizationTeamById", "PUT", _TEAM + "/members/{userId}", needs=Can.LIST_TEAMS)
def add_team_member(
    call: Call, org: OrgAccess, team_id: str, user_id: str, body: AddTeamMember | None
) -> None:
    """Adds a member to a team, or changes their role in it. For the team's owners and for administrators."""
    role = UNSET if body is None else body.role
    with call.db.write() as tx:
        _require_manager(tx, org, team_id)
        found = _members(tx, org, [user_id], "userId")[0]
        store.put_member(tx, team_id, found, None if role is UNSET else role)
        state = {"added": {found: None if role is UNSET else role}}
        audit(tx, call, "team.members-updated", org.organization_id, ("team", team_id), after=state)


@operation(
    "deleteMemberFromOrganizationTeamById",
    "DELETE",
    _TEAM + "/members/{userId}",
    needs=Can.LIST_TEAMS,
    returns=Deletion,
)
def delete_team_member(call: Call, org: OrgAccess, team_id: str, user_id: str) -> bool:
    """Takes somebody out of a team. For the team's owners and for administrators."""
    with call.db.write() as tx:
        _require_manager(tx, org, team_id)
        if not store.remove_members(tx, team_id, [user_id]):
            return False
        state = {"removed": [user_id]}
        audit(tx, call, "team.members-updated", org.organization_id, ("team", team_id), after=state)
    return True


@operation(
    "listTeamsForOrganizationMember",
    "GET",
    "/orgs/{organizationId}/members/{userId}/teams",
    needs=Can.LIST_TEAMS,
    returns=Listing[MemberTeam],
)
def list_member_teams(
    call: Call, org: OrgAccess, user_id: str, query: MemberTeamsQuery
) -> Listing[MemberTeam]:
    """The teams a member is in, each with their role in it."""
    with call.db.read() as tx:
        get_member(tx, org.organization_id, user_id)
        found = store.list_teams_of_member(
            tx, org.organization_id, user_id, query.limit, query.page, title=query.title
        )
    return present_slice(found, lambda item: present_member_team(org, *item))
