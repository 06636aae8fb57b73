"""Permissions on the wire."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from ...kit.pagination import PageQuery
from ..evaluation import Standing, Step
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


def present_source(standing: Standing, steps: list[Step], organization_id: str) -> PermissionSource:
    by, rung = standing.decision.by, standing.decision.rung
    at = PermissionObject("organization", organization_id)
    if rung is not None:
        at = PermissionObject(steps[rung].kind, steps[rung].id)
    return PermissionSource(by, at, list(standing.teams) or UNSET)
