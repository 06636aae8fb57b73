"""Wire format of teams."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.kit.db.pagination import PageQuery
from octavo.kit.http.operation import Recipient
from octavo.kit.texts import NOT_BLANK
from octavo.organization.access.authorization import OrgAccess
from octavo.organization.access.teams import TeamRole, TeamRow
from octavo.organization.access.wire import Team, present_team

from ..members.wire import Member

Title = Annotated[str, Meta(min_length=1, max_length=64, pattern=NOT_BLANK)]
Named = Annotated[list[str], Meta(max_length=1000)]


class TeamsQuery(PageQuery):
    owner: str | None = None
    title: Annotated[str, Meta(max_length=256)] | None = None


class MemberTeamsQuery(PageQuery):
    title: Annotated[str, Meta(max_length=256)] | None = None


class CreateTeam(Struct):
    title: Title
    members: Named = []


class UpdateTeam(Struct):
    title: Title


class TeamMembership(Struct):
    role: TeamRole


class AddTeamMember(Struct):
    role: TeamRole | UnsetType = UNSET


class UpdateTeamMembers(Struct):
    """Request body with IDs or email addresses of members. A person who is in both ``add`` and ``remove`` is
    removed."""

    add: Named = []
    memberships: dict[str, TeamMembership] = {}
    remove: Named = []


class TeamMemberPermissions(Struct, frozen=True):
    view: Literal[True] = True


class TeamMember(Struct):
    organization: Member
    team: TeamMembership
    permissions: TeamMemberPermissions = TeamMemberPermissions()


class MemberTeam(Struct):
    team: Team
    member: TeamMembership


def present_member_team(to: Recipient, org: OrgAccess, team: TeamRow, role: str) -> MemberTeam:
    own = role == "owner" and org.role is not None
    return MemberTeam(
        present_team(to, team, admin=org.role == "admin" or own),
        TeamMembership(role),  # type: ignore[arg-type]
    )
