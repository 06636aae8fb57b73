"""Permissions on the wire."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.kit.db.pagination import PageQuery

from ..evaluation import Said, Standing, Step
from ..roles import Role
from ..wire import RoleOrGuest, Team, User

Ids = Annotated[list[str], Meta(min_length=1, max_length=500)]


class Invite(Struct):
    """People by user id, teams by team id, or both; ``role`` null makes them guests, who see nothing there."""

    role: RoleOrGuest
    users: Ids | UnsetType = UNSET
    teams: Ids | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.users is UNSET and self.teams is UNSET:
            raise ValueError("users: expected `users` or `teams`")


class UpdatePermission(Struct):
    role: RoleOrGuest | UnsetType = UNSET


class AggregateQuery(PageQuery):
    """``role``: only those who have this very role."""

    role: Role | None = None


class PermissionObject(Struct):
    object: Literal["space", "collection", "organization"]
    id: str


class PermissionSource(Struct):
    """Why somebody has a role: what kind of thing gives it, and at which object.

    ``administrator``: they administer the organization. ``user``, ``team``: it was granted to them, or to these
    ``teams`` of theirs. ``default``: a default level. ``organization``: their role as a member.
    """

    type: Literal["administrator", "user", "team", "default", "organization"]
    object: PermissionObject
    teams: list[str] | UnsetType = UNSET


class UserPermission(Struct):
    """``permission`` null: a guest, closed out by name. ``source`` is ours, and in the aggregate alone."""

    permission: str | None
    user: User
    source: PermissionSource | UnsetType = UNSET


class TeamPermission(Struct):
    permission: str | None
    team: Team


class TeamGrant(Struct):
    """What a team was granted."""

    team: str
    permission: str | None


class PermissionPlace(Struct, rename="camel"):
    """One place that could give somebody a role, and whether it is the one that does.

    ``user``: the role that was granted to them there; left out when none was. ``teams``: what was granted there to
    teams of theirs. ``defaultLevel``: what the place gives to every member, `inherit` for what is above it. Of a place
    whose grants the caller may not list, none of these is there. ``role``: of the organization alone, theirs in it.
    """

    object: PermissionObject
    decides: bool
    user: str | None | UnsetType = UNSET
    teams: list[TeamGrant] | UnsetType = UNSET
    default_level: str | None | UnsetType = UNSET
    role: str | None | UnsetType = UNSET


class ExplainedPermission(Struct):
    """The role that somebody has at an object, and every place where it could come from: the object, the collections
    around it from the inside outwards, and the organization at the end. The first one that says anything decides."""

    permission: str | None
    user: User
    source: PermissionSource
    places: list[PermissionPlace]


def present_places(
    found: Standing, said: Sequence[Said], told: Sequence[bool], organization_id: str, role: str | None
) -> list[PermissionPlace]:
    """``told``: of each place, whether the caller may know what was granted there. ``role``: in the organization."""
    places = []
    for index, one in enumerate(said):
        place = PermissionPlace(
            PermissionObject(one.step.kind, one.step.id), decides=found.decision.rung == index
        )
        if told[index]:
            place.user = one.user[0] if one.user else UNSET
            place.teams = [TeamGrant(team, permission) for team, permission in one.teams.items()]
            place.default_level = one.step.default_level
        places.append(place)
    at = PermissionObject("organization", organization_id)
    return [*places, PermissionPlace(at, decides=found.decision.rung is None, role=role)]


def present_source(standing: Standing, steps: list[Step], organization_id: str) -> PermissionSource:
    by, rung = standing.decision.by, standing.decision.rung
    at = PermissionObject("organization", organization_id)
    if rung is not None:
        at = PermissionObject(steps[rung].kind, steps[rung].id)
    return PermissionSource(by, at, list(standing.teams) or UNSET)
