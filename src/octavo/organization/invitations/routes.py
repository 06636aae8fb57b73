"""Invite people to an organization, and join it."""

from __future__ import annotations

from msgspec import UNSET

from octavo.errors import NotFound, PreconditionFailed
from octavo.kit.db.pagination import Listing, PageQuery, Slice, present_slice
from octavo.kit.http.operation import PUBLIC, Area, Call, Reply
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import OrgAccess, SignedIn, actor_or_stranger
from octavo.organization.access.roles import Can
from octavo.organization.access.tokens import require_same_origin
from octavo.organization.identity.routes import browser_of, session_cookie
from octavo.organization.identity.saml.store import list_active_providers
from octavo.organization.identity.sessions import begin as begin_session
from octavo.organization.identity.wire import SignedInResult, present_new_session
from octavo.organization.orgs.store import get_organization

from . import invite_links, inviting, store
from .invitation_presenting import present_by_secret, present_link
from .wire import (
    AcceptInvitation,
    CreateInvite,
    Invitation,
    InvitedUsers,
    InviteLink,
    InviteUsers,
    Joined,
    OwnInvitation,
    ReadInvitation,
    ShownInvitation,
    UpdateInvite,
    present_invitation,
    present_invited,
    present_own_invitation,
    role_of,
    target_of,
)

operation = Area("invitations").operation

_INVITES = "/orgs/{organizationId}/invites"
_LINKS = "/orgs/{organizationId}/link-invites"
_LINK = _LINKS + "/{inviteId}"


@operation("inviteUsersToOrganization", "POST", _INVITES, needs=Can.ADMIN, errors=(400, 412))
def invite_users(call: Call, org: OrgAccess, body: InviteUsers) -> InvitedUsers:
    """Add people who have accounts as members, and invite all other people by email. An invitation expires after a week
    and can be accepted only once. If the server doesn't send email, the response contains links to pass on. Existing
    members aren't changed."""
    with call.db.write() as tx:
        if body.sso and not list_active_providers(tx, org.organization_id):
            raise PreconditionFailed("sso: this organization has no active SAML provider. Set one up first.")
        default = body.role
        if default is UNSET:
            default = get_organization(tx, org.organization_id).default_role  # type: ignore[assignment]
        people: dict[str, str | None] = {}
        for given in body.emails:
            email, role = (given, default) if isinstance(given, str) else (given.email, given.role)
            people[email.strip().lower()] = role  # type: ignore[assignment]
        invited = inviting.invite(
            tx,
            call.context,
            org.actor,
            org.organization_id,
            list(people.items()),
            sso=body.sso,
            invited_by=org.user_id,
        )
    return present_invited(invited)


@operation("listInvitations", "GET", _INVITES, needs=Can.ADMIN)
def list_invitations(call: Call, org: OrgAccess, query: PageQuery) -> Listing[Invitation]:
    """List the pending invitations, newest first."""
    with call.db.read() as tx:
        found = store.list_invitations(tx, org.organization_id, query.limit, query.page)
    return present_slice(found, present_invitation)


@operation("deleteInvitation", "DELETE", _INVITES + "/{inviteId}", needs=Can.ADMIN)
def delete_invitation(call: Call, org: OrgAccess, invite_id: str) -> bool:
    """Revoke an invitation. Its link stops working."""
    with call.db.write() as tx:
        gone = store.delete_invitation(tx, org.organization_id, invite_id)
        if gone is not None:
            state = {"email": gone.email, "role": gone.role}
            target = ("invitation", gone.id)
            audit(tx, call.actor, "invitation.deleted", org.organization_id, target, before=state)
    return gone is not None


@operation(
    "joinOrganizationWithInvite", "POST", _INVITES + "/{inviteId}", needs=Can.OWN_ACCOUNT, errors=(404,)
)
def join_with_invite(call: Call, caller: SignedIn, organization_id: str, invite_id: str) -> Joined:
    """Join an organization with an invite link, or with the secret of an invitation for the caller's email
    address. If the address is verified, the ID of the invitation is enough; see `listOwnInvitations`.

    A link grants its role unless the caller already has a higher one. Returns 404 if the invitation doesn't
    exist, has expired, was used, belongs to another organization, or is for someone else."""
    with call.db.write() as tx:
        joined = invite_links.join(
            tx, call.context, caller.actor, organization_id, invite_id, caller.user_id
        ) or inviting.join_with_invitation(tx, caller.actor, organization_id, invite_id, caller.user_id)
    if not joined:
        raise NotFound(
            "This invitation doesn't exist, has expired, or is for someone else. Ask for a new one."
        )
    return Joined()


@operation("listOwnInvitations", "GET", "/user/invitations", needs=Can.OWN_ACCOUNT)
def list_own_invitations(call: Call, caller: SignedIn, query: PageQuery) -> Listing[OwnInvitation]:
    """List the invitations for the caller's email address, newest first. The list is empty if the address
    isn't verified."""
    with call.db.read() as tx:
        found = store.list_open_invitations(tx, caller.user_id, query.limit, query.page)
    return present_slice(found, present_own_invitation)


@operation("declineInvitation", "DELETE", "/user/invitations/{invitationId}", needs=Can.OWN_ACCOUNT)
def decline_invitation(call: Call, caller: SignedIn, invitation_id: str) -> bool:
    """Decline an invitation for the caller's verified email address."""
    with call.db.write() as tx:
        return inviting.decline(tx, caller.actor, invitation_id, caller.user_id)


@operation(
    "readInvitation",
    "POST",
    "/invitations/read",
    needs=PUBLIC,
    returns=ShownInvitation,
    body_limit=16_384,
    in_maintenance=True,
)
def read_invitation(call: Call, body: ReadInvitation) -> Reply:
    """Get the organization and inviter of an invitation by its secret, or of an invite link by its ID."""
    with call.db.read() as tx:
        shown = present_by_secret(tx, call.context, body.secret)
    return Reply(shown, headers={"cache-control": "no-store"})


@operation(
    "acceptInvitation",
    "POST",
    "/invitations",
    needs=PUBLIC,
    returns=SignedInResult,
    errors=(400, 403, 404, 409),
    body_limit=16_384,
)
def accept_invitation(call: Call, body: AcceptInvitation) -> Reply:
    """Create an account for an invited email address, and start a session. Returns 403 if another origin
    requests a cookie. Returns 409 if the address already has an account; its owner can sign in and join. An
    emailed invitation takes over an account whose address was never verified."""
    if body.cookie:
        require_same_origin(call)
    with call.db.read() as tx:
        hashed = inviting.hash_new_password(tx, body.secret, body.password)
    by = actor_or_stranger(call)
    with call.db.write() as tx:
        user_id = inviting.accept(tx, by, body.secret, body.display_name.strip(), hashed)
        session = begin_session(tx, user_id, "link", **browser_of(call)._asdict())
    headers = {"cache-control": "no-store"}
    if body.cookie:
        headers["set-cookie"] = session_cookie(call, session)
    return Reply(present_new_session(session), headers=headers)


# --- links --------------------------------------------------------------------------------------------


@operation("listOrganizationInviteLinks", "GET", _LINKS, needs=Can.ADMIN, yields=("invitations:write",))
def list_links(call: Call, org: OrgAccess, query: PageQuery) -> Listing[InviteLink]:
    """List the invite links to the organization, newest first."""
    with call.db.read() as tx:
        found = store.list_links(tx, call.context.sealer, org.organization_id, query.limit, query.page)
        shown = [present_link(call, tx, org, link) for link in found.rows]
    return present_slice(Slice(shown, found.count, found.next_token), lambda link: link)


@operation("createOrganizationInvite", "POST", _LINKS, needs=Can.VIEW, status=201, errors=(400, 403, 404))
def create_link(call: Call, org: OrgAccess, body: CreateInvite) -> InviteLink:
    """Create an invite link to the organization or to one of its spaces or collections. Anyone with the link
    can join.

    Requires an administrator, or a person who can invite people to the space or collection. The role can't be
    above the caller's own."""
    with call.db.write() as tx:
        link = invite_links.create(tx, call.context, org, *target_of(org.organization_id, body))
        shown = present_link(call, tx, org, link)
    call.response_headers["location"] = call.url(f"/orgs/{org.organization_id}/link-invites/{link.secret}")
    return shown


@operation(
    "getOrganizationInviteLink",
    "GET",
    _LINK,
    needs=Can.VIEW,
    yields=("invitations:write",),
    errors=(403, 404),
)
def get_link(call: Call, org: OrgAccess, invite_id: str) -> InviteLink:
    """Get an invite link."""
    with call.db.read() as tx:
        return present_link(call, tx, org, invite_links.get(tx, call.context, org, invite_id))


@operation("updateOrganizationInviteById", "PATCH", _LINK, needs=Can.VIEW, errors=(400, 403, 404))
def update_link(call: Call, org: OrgAccess, invite_id: str, body: UpdateInvite) -> InviteLink:
    """Update the role of an invite link. People who already joined keep their role."""
    with call.db.write() as tx:
        before = invite_links.get(tx, call.context, org, invite_id)
        link = invite_links.update(tx, call.context, org, before, role_of(before, body))
        return present_link(call, tx, org, link)


@operation("deleteOrganizationInviteById", "DELETE", _LINK, needs=Can.VIEW, errors=(403,))
def delete_link(call: Call, org: OrgAccess, invite_id: str) -> bool:
    """Delete an invite link. People who already joined keep their access."""
    with call.db.write() as tx:
        return invite_links.delete(tx, call.context, org, invite_id)
