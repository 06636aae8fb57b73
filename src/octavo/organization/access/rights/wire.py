"""Wire format of permissions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.kit.db.pagination import Order, PageQuery

from ..evaluation import EvaluatedRole, Step, StepGrants
from ..roles import Role
from ..wire import RoleOrGuest, Team, User
from .store import Sort

Ids = Annotated[list[str], Meta(min_length=1, max_length=500)]


class Invite(Struct):
    """Body for granting a role to people by user ID, teams by team ID, or both. ``role``: the role; null
    makes them guests, who can't see the object."""

    role: RoleOrGuest
    users: Ids | UnsetType = UNSET
    teams: Ids | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.users is UNSET and self.teams is UNSET:
            raise ValueError("users: provide `users`, `teams`, or both")


class UpdatePermission(Struct):
    role: RoleOrGuest | UnsetType = UNSET


class AggregateQuery(PageQuery, kw_only=True):
    """Query parameters of an aggregate. ``role``: the exact role to filter by; `guest` lists members without
    access. ``search``: part of a name or email address. ``team``: the team to filter by."""

    role: Role | Literal["guest"] | None = None
    search: Annotated[str, Meta(max_length=256)] | None = None
    team: str | None = None
    sort: Sort | None = None
    order: Order = "asc"


class PermissionObject(Struct):
    object: Literal["space", "collection", "site", "organization"]
    id: str


class PermissionSource(Struct):
    """Reason for a role: the kind of source and the object it belongs to.

    ``administrator``: the person is an administrator of the organization. ``user``, ``team``: the person or one of
    these ``teams`` has a grant. ``default``: the role is a default level. ``organization``: the person has the role as
    a member."""

    type: Literal["administrator", "user", "team", "default", "organization"]
    object: PermissionObject
    teams: list[str] | UnsetType = UNSET


class UserPermission(Struct):
    """Permission of a person. ``permission``: the role; null for a guest who is explicitly excluded. ``source``: the
    reason for the role (an Octavo extension); present only in aggregates."""

    permission: str | None
    user: User
    source: PermissionSource | UnsetType = UNSET


class OrganizationOrigin(Struct, tag_field="type", tag="organization"):
    """Role that comes from the person's role in the organization."""

    organization: str


class SiteOrigin(Struct, tag_field="type", tag="site"):
    """Role that the site itself grants: to the ``member``, to their ``team``, or to all members."""

    site: str
    reason: Literal["member", "team", "default"]
    team: str | UnsetType = UNSET


class UserSitePermission(Struct, rename="camel", kw_only=True):
    """Permission of a person on a site. ``disabled``: whether the person's account is deactivated. ``source`` (an
    Octavo extension): the same data as ``origin`` in the format used for spaces and collections, which includes each
    team."""

    permission: str | None
    user: User
    disabled: bool
    origin: OrganizationOrigin | SiteOrigin
    source: PermissionSource
    last_seen_at: str | UnsetType = UNSET


class TeamPermission(Struct):
    permission: str | None
    team: Team


class TeamGrant(Struct):
    """Role granted to a team."""

    team: str
    permission: str | None


class PermissionPlace(Struct, rename="camel", kw_only=True):
    """Possible source of a person's role, and whether it determines the role.

    ``user``: the role granted to the person on the object, if any. ``teams``: the roles granted to their teams on the
    object. ``defaultLevel``: the role that the object gives to every member, or `inherit`. These three fields are
    omitted if the caller can't list the grants on the object. ``role``: the person's role in the organization, only if
    the source is the organization."""

    object: PermissionObject
    decides: bool
    user: str | None | UnsetType = UNSET
    teams: list[TeamGrant] | UnsetType = UNSET
    default_level: str | None | UnsetType = UNSET
    role: str | None | UnsetType = UNSET


class ExplainedPermission(Struct):
    """A person's role on an object, and all possible sources of the role: the object, its collections from the inside
    out, and the organization. The first source with a setting determines the role."""

    permission: str | None
    user: User
    source: PermissionSource
    places: list[PermissionPlace]


def present_places(
    found: EvaluatedRole,
    said: Sequence[StepGrants],
    grants_visible: Sequence[bool],
    organization_id: str,
    role: str | None,
) -> list[PermissionPlace]:
    """Return the possible sources of a member's role. ``grants_visible``: for each source, whether the caller can
    see its grants. ``role``: the role in the organization."""
    places = []
    for index, one in enumerate(said):
        place = PermissionPlace(
            object=PermissionObject(one.step.kind, one.step.id), decides=found.decision.rung == index
        )
        if grants_visible[index]:
            place.user = one.user[0] if one.user else UNSET
            place.teams = [TeamGrant(team, permission) for team, permission in one.teams.items()]
            place.default_level = one.step.default_level
        places.append(place)
    at = PermissionObject("organization", organization_id)
    return [*places, PermissionPlace(object=at, decides=found.decision.rung is None, role=role)]


def present_source(standing: EvaluatedRole, steps: Sequence[Step], organization_id: str) -> PermissionSource:
    by, rung = standing.decision.by, standing.decision.rung
    at = PermissionObject("organization", organization_id)
    if rung is not None:
        at = PermissionObject(steps[rung].kind, steps[rung].id)
    return PermissionSource(by, at, list(standing.teams) or UNSET)


_REASONS: dict[str, Literal["member", "team", "default"]] = {
    "user": "member",
    "team": "team",
    "default": "default",
}


def present_origin(
    standing: EvaluatedRole, steps: Sequence[Step], organization_id: str
) -> OrganizationOrigin | SiteOrigin:
    """Return the origin of a role on a site."""
    by, rung = standing.decision.by, standing.decision.rung
    if rung is None:
        return OrganizationOrigin(organization_id)
    return SiteOrigin(steps[rung].id, _REASONS[by], standing.teams[0] if standing.teams else UNSET)
