"""Invitations and invite links on the wire."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.errors import BadRequest
from octavo.kit.clock import iso
from octavo.kit.http.bodies import or_none
from octavo.organization.access.wire import RoleOrGuest
from octavo.organization.spaces.wire import Collection, Space

from .inviting import Invited
from .store import InvitationRow, LinkRow, OpenInvitation, Target

MAX_EMAILS = 100
Email = Annotated[str, Meta(pattern=r"^[^@\s<>\x22',;]+@[^@\s<>\x22',;]+\Z", max_length=254)]
DisplayName = Annotated[str, Meta(min_length=1, max_length=100, pattern=r"\S")]


class Invitee(Struct):
    email: Email
    role: RoleOrGuest


class InviteUsers(Struct):
    """``role``: of those who come without one; when absent the organization's default."""

    emails: Annotated[list[Email | Invitee], Meta(min_length=1, max_length=MAX_EMAILS)]
    role: RoleOrGuest | UnsetType = UNSET
    sso: bool = False


class InvitationLink(Struct):
    email: str
    url: str


class InvitedUsers(Struct, rename={"failed_sso_emails": "failedSSOEmails"}):
    """``users``: who had an account and are members now. ``links``: where no mail is sent, what to hand on."""

    users: list[str]
    invited: int
    failed_sso_emails: list[str]
    links: list[InvitationLink] | UnsetType = UNSET


class Invitation(Struct, rename="camel"):
    id: str
    email: str
    role: str | None
    sso: bool
    created_at: str
    expires_at: str
    object: Literal["invitation"] = "invitation"


class InvitingOrganization(Struct):
    id: str
    title: str


class OwnInvitation(Struct, rename="camel"):
    """An invitation as the invited person sees it: ``POST /orgs/{organizationId}/invites/{id}`` takes it."""

    id: str
    organization: InvitingOrganization
    role: str | None
    created_at: str
    object: Literal["invitation"] = "invitation"


class Joined(Struct):
    """Nothing more to say."""


class ReadInvitation(Struct):
    """``secret``: of an invitation, or the id of an invite link."""

    secret: Annotated[str, Meta(max_length=200)]


class ShownInvitation(Struct, rename="camel"):
    """``email``: the address that an invitation is for; a link is for whoever has it. ``content``: the title of the
    space or collection that a link leads to."""

    organization: InvitingOrganization
    invited_by: str
    email: str | UnsetType = UNSET
    content: str | UnsetType = UNSET


class AcceptInvitation(Struct, rename="camel"):
    secret: Annotated[str, Meta(max_length=200)]
    display_name: DisplayName
    password: Annotated[str, Meta(max_length=1000)]


class CreateInvite(Struct):
    """To the organization (``role``), or to a space or collection of it (``level``)."""

    role: RoleOrGuest | UnsetType = UNSET
    level: RoleOrGuest | UnsetType = UNSET
    space: str | UnsetType = UNSET
    collection: str | UnsetType = UNSET

    def __post_init__(self) -> None:
        content = [self.space is not UNSET, self.collection is not UNSET]
        if sum(content) > 1:
            raise ValueError("expected either `space` or `collection`")
        if any(content) and (self.level is UNSET or self.role is not UNSET):
            raise ValueError("expected `level` beside `space` or `collection`")
        if not any(content) and (self.role is UNSET or self.level is not UNSET):
            raise ValueError("expected `role`, or `level` beside `space` or `collection`")


class UpdateInvite(Struct):
    """``role`` for links into the organization, ``level`` for those to a space or collection."""

    role: RoleOrGuest | UnsetType = UNSET
    level: RoleOrGuest | UnsetType = UNSET

    def __post_init__(self) -> None:
        if (self.role is UNSET) == (self.level is UNSET):
            raise ValueError("expected either `role` or `level`")


class InviteLink(Struct):
    """``redundant``: the caller has as much already."""

    id: str
    redundant: bool
    object: Literal["invite"] = "invite"
    role: RoleOrGuest | UnsetType = UNSET
    level: RoleOrGuest | UnsetType = UNSET
    space: Space | UnsetType = UNSET
    collection: Collection | UnsetType = UNSET


def present_invitation(row: InvitationRow) -> Invitation:
    return Invitation(
        id=row.id,
        email=row.email,
        role=row.role,
        sso=bool(row.sso),
        created_at=iso(row.created_at),
        expires_at=iso(row.expires_at),
    )


def present_own_invitation(row: OpenInvitation) -> OwnInvitation:
    organization = InvitingOrganization(row.organization_id, row.title)
    return OwnInvitation(row.id, organization, row.role, iso(row.created_at))


def present_invited(invited: Invited) -> InvitedUsers:
    answer = InvitedUsers(invited.users, invited.count, invited.not_sso)
    if invited.links:
        answer.links = [InvitationLink(email, url) for email, url in invited.links]
    return answer


def target_of(organization_id: str, body: CreateInvite) -> tuple[tuple[Target, str], str | None]:
    """Where a link is to lead, and the role that it gives there."""
    level = or_none(body.level)
    if body.space is not UNSET:
        return ("space", body.space), level
    if body.collection is not UNSET:
        return ("collection", body.collection), level
    return ("organization", organization_id), or_none(body.role)


def role_of(link: LinkRow, body: UpdateInvite) -> str | None:
    """The role that a link is to give. Raises BadRequest where the body has the other kind."""
    given, expected = (body.role, "role") if link.target_type == "organization" else (body.level, "level")
    if given is UNSET:
        raise BadRequest(f"{expected}: expected for a link to a {link.target_type}.")
    return given
