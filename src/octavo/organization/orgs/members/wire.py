"""Wire format of members."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.kit.clock import iso
from octavo.kit.db.pagination import Order, PageQuery
from octavo.kit.http.operation import Recipient
from octavo.organization.access.roles import Role
from octavo.organization.access.wire import RoleOrGuest, User, present_user

from .store import MemberRow, Sort


class Member(Struct, rename="camel", kw_only=True):
    id: str
    role: str | None
    user: User
    disabled: bool
    joined_at: str
    sso: bool
    spaces: int
    sites: int
    teams: int
    object: Literal["member"] = "member"
    last_seen_at: str | UnsetType = UNSET


class MembersQuery(PageQuery, rename="camel", kw_only=True):
    order: Order = "desc"
    role: Role | Literal["guest"] | None = None
    search: Annotated[str, Meta(max_length=256)] | None = None
    sort: Sort = "joinedAt"


class UpdateMember(Struct):
    role: RoleOrGuest | UnsetType = UNSET


class Ping(Struct):
    """Empty response. Members don't have any visitor claims to return."""


def present_member(to: Recipient, member: MemberRow) -> Member:
    return Member(
        id=member.user.id,
        role=member.role,
        user=present_user(to, member.user),
        disabled=member.disabled,
        joined_at=iso(member.joined_at),
        sso=member.sso,
        spaces=member.spaces,
        sites=member.sites,
        teams=member.teams,
        last_seen_at=UNSET if member.last_seen_at is None else iso(member.last_seen_at),
    )
