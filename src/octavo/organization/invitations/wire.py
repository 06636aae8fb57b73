"""Wire format of invitations and invite links."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.errors import BadRequest
from octavo.kit.clock import iso
from octavo.kit.http.bodies import or_none
from octavo.kit.texts import NOT_BLANK, pattern
from octavo.organization.access.wire import RoleOrGuest
from octavo.organization.spaces.wire import Collection, Space

from .inviting import Invited
from .store import InvitationRow, LinkRow, OpenInvitation, Target

MAX_EMAILS = 100
Email = Annotated[
    str, Meta(pattern=pattern(r"^[^@\s<>\x22',;]+@[^@\s<>\x22',;]+\Z", "be an email address"), max_length=254)
]
DisplayName = Annotated[str, Meta(min_length=1, max_length=100, pattern=NOT_BLANK)]


class Invitee(Struct):
    email: Email
    role: RoleOrGuest


class InviteUsers(Struct):
    """Request body for inviting people. ``role``: the role for addresses without one; by default, the
    organization's default role."""

    emails: Annotated[list[Email | Invitee], Meta(min_length=1, max_length=MAX_EMAILS)]
    role: RoleOrGuest | UnsetType = UNSET
    sso: bool = False


class InvitationLink(Struct):
    email: str
    url: str


class InvitedUsers(Struct, rename={"failed_sso_emails": "failedSSOEmails"}):
    """Result of inviting people. ``users``: the people who had accounts, who are now members. ``links``: the
    links to pass on, if the server doesn't send email."""

    users: list[str]
    invited: int
    failed_sso_emails: list[str]
    links: list[InvitationLink] | UnsetType = UNSET


class Invitation(Struct, rename="camel", kw_only=True):
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
    """Invitation as shown to the invited person. Accept it with ``POST /orgs/{organizationId}/invites/{id}``."""

    id: str
    organization: InvitingOrganization
    role: str | None
    created_at: str
    object: Literal["invitation"] = "invitation"


class Joined(Struct):
    """Empty response to joining with a link."""


class ReadInvitation(Struct):
    """Request body for reading an invitation. ``secret``: the secret of an invitation, or the ID of an invite
    link."""

    secret: Annotated[str, Meta(max_length=200)]


class ShownInvitation(Struct, rename="camel"):
    """Invitation for display. ``url``: the URL that the person is redirected to after joining. ``email``: the invited
    email address; invite links don't have one. ``content``: the title of the space or collection that a link grants
    access to."""

    organization: InvitingOrganization
    invited_by: str
    url: str
    email: str | UnsetType = UNSET
    content: str | UnsetType = UNSET


class AcceptInvitation(Struct, rename="camel"):
    """Request body for accepting an invitation. ``cookie``: whether to also keep the session in a cookie."""

    secret: Annotated[str, Meta(max_length=200)]
    display_name: DisplayName
    password: Annotated[str, Meta(max_length=1000)]
    cookie: bool = False


class CreateInvite(Struct):
    """Request body for creating a link to the organization (``role``) or to one of its spaces or collections
    (``level``)."""

    role: RoleOrGuest | UnsetType = UNSET
    level: RoleOrGuest | UnsetType = UNSET
    space: str | UnsetType = UNSET
    collection: str | UnsetType = UNSET

    def __post_init__(self) -> None:
        content = [self.space is not UNSET, self.collection is not UNSET]
        if sum(content) > 1:
            raise ValueError("provide `space` or `collection`, not both")
        if any(content) and (self.level is UNSET or self.role is not UNSET):
            raise ValueError("use `level` instead of `role` with `space` or `collection`")
        if not any(content) and (self.role is UNSET or self.level is not UNSET):
            raise ValueError("provide `role`, or provide `level` with `space` or `collection`")


class UpdateInvite(Struct):
    """Request body for updating a link: ``role`` for links to the organization, ``level`` for links to a
    space or collection."""

    role: RoleOrGuest | UnsetType = UNSET
    level: RoleOrGuest | UnsetType = UNSET

    def __post_init__(self) -> None:
        if (self.role is UNSET) == (self.level is UNSET):
            raise ValueError("provide exactly one of `role` and `level`")


class InviteLink(Struct, kw_only=True):
    """Invite link. ``redundant``: whether the caller already has its role."""

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
    """Return the target of a new link, and the role that it grants."""
    level = or_none(body.level)
    if body.space is not UNSET:
        return ("space", body.space), level
    if body.collection is not UNSET:
        return ("collection", body.collection), level
    return ("organization", organization_id), or_none(body.role)


def role_of(link: LinkRow, body: UpdateInvite) -> str | None:
    """Return the new role of a link. Raises BadRequest if the body has the wrong field for the link's
    target."""
    given, expected = (body.role, "role") if link.target_type == "organization" else (body.level, "level")
    if given is UNSET:
        raise BadRequest(f"{expected}: is required for `{link.target_type}` links")
    return given
