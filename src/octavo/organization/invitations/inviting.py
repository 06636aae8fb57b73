"""Invite email addresses and accept invitations.

An existing account is added immediately only if its email address is verified. If unverified accounts were added,
an account that someone else created with the address would get access. The membership doesn't count as accepted
yet: the person can use it, but the organization's identity provider and directory don't get any control over the
account. An invitation can be accepted only once, by the account with its address, and becomes void if the person
who created it no longer administers the organization."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

from octavo.errors import Conflict, NotFound
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.allowances import spend
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor
from octavo.kit.net import mail
from octavo.kit.work import jobs
from octavo.organization.access.accounts import (
    find_user,
    find_user_by_email,
    has_verified_email,
    insert_user,
    set_password_hash,
    update_user,
)
from octavo.organization.access.auditing import Stranger, audit
from octavo.organization.access.authorization import role_of_member
from octavo.organization.access.limits import require_room
from octavo.organization.access.members import (
    accept_membership,
    find_membership,
    notify_joined,
    set_sso,
    upsert_member,
)
from octavo.organization.access.tokens import hash_token
from octavo.organization.identity.passwords import hash_password, require_acceptable_password
from octavo.organization.identity.verification import verify_address
from octavo.organization.orgs.store import get_organization

from . import store


@dataclass
class Invited:
    """Result of inviting people. ``users``: the IDs of accounts that were added as members. ``not_sso``: the addresses
    whose accounts also belong to other organizations, so the identity provider can't vouch for them. ``links``:
    the links to pass on, by email address, if the server doesn't send email."""

    users: list[str] = field(default_factory=list)
    not_sso: list[str] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)
    count: int = 0


def invite(
    tx: Transaction,
    context: Context,
    actor: Actor,
    organization_id: str,
    people: Sequence[tuple[str, str | None]],
    *,
    sso: bool,
    invited_by: str,
) -> Invited:
    """Add people who have accounts as members, and invite all other people. ``people``: the email addresses with their
    roles.

    Raises LimitReached if the organization can't have more members, and TooManyRequests if ``invited_by``
    invites too many people or an address receives too many emails within a day."""
    most = context.settings.invitations_per_day
    message = f"emails: you can invite at most {most} people per day. Try again tomorrow."
    spend(tx, "invitations", invited_by, most, message, len(people))
    answer = Invited()
    mailing = bool(context.settings.smtp_url)
    for email, role in people:
        user = find_user_by_email(tx, email)
        if user is not None and has_verified_email(tx, user.id):
            if find_membership(tx, organization_id, user.id) is not None:
                continue  # already a member, possibly a disabled one
            as_sso = sso and not _is_member_elsewhere(tx, user.id)
            if sso and not as_sso:
                answer.not_sso.append(email)
            _add(tx, actor, organization_id, user.id, role, sso=as_sso)
            answer.users.append(user.id)
        else:
            # The inviter can fix this, unlike the invited person, who would be rejected later.
            require_room(tx, organization_id, "members")
            secret = "" if mailing else secrets.token_urlsafe(32)
            invitation_id = store.put_invitation(
                tx,
                organization_id,
                email,
                role,
                sso=sso,
                invited_by=invited_by,
                hash=hash_token(secret) if secret else None,
            )
            if mailing:
                mail.allow(tx, context.settings, email)
                jobs.enqueue(tx, "mailInvitation", organization=organization_id, invitation_id=invitation_id)
            else:
                answer.links.append((email, _url(context, organization_id, secret)))
            state = {"email": email, "role": role}
            audit(
                tx, actor, "invitation.created", organization_id, ("invitation", invitation_id), after=state
            )
        answer.count += 1
    return answer


def _url(context: Context, organization_id: str, secret: str) -> str:
    return f"{context.settings.url}/invitation?organization={organization_id}&secret={secret}"


def _is_member_elsewhere(tx: Transaction, user_id: str) -> bool:
    return tx.one("SELECT 1 FROM members WHERE user_id = :user", user=user_id) is not None


def _add(
    tx: Transaction,
    by: Actor | Stranger,
    organization_id: str,
    user_id: str,
    role: str | None,
    *,
    sso: bool = False,
    accepted: bool = False,
) -> None:
    upsert_member(tx, organization_id, user_id, role, accepted=accepted)
    notify_joined(tx, organization_id, user_id)
    if sso:
        set_sso(tx, organization_id, user_id)
    state = {"role": role, "by": "invitation"}
    audit(tx, by, "member.joined", organization_id, ("user", user_id), after=state)


@jobs.job("mailInvitation", bound="one mail", attempts=3, in_maintenance=True)
def mail_invitation(context: Context, invitation_id: str) -> None:
    secret = secrets.token_urlsafe(32)
    with context.db.write() as tx:
        invitation = store.find_invitation(tx, invitation_id)
        if invitation is None:
            return
        if not invitation.standing:
            store.set_hash(tx, invitation_id, hash_token(secret))
        org = get_organization(tx, invitation.organization_id)
        inviter = find_user(tx, invitation.invited_by)
    who = inviter.display_name if inviter else "Someone"
    where = _url(context, org.id, secret)
    how = f"Accept the invitation within a week:\n\n{where}"
    if invitation.standing:
        how = f"Sign in to your account to accept the invitation:\n\n{context.settings.url}/invitation"
    mail.send(
        context.settings,
        to=invitation.email,
        subject=f"{who} invited you to {org.title}".replace("\n", " ").replace("\r", " "),
        text=f"{who} invited you to join {org.title}. {how}\n\n"
        "If you weren't expecting this invitation, you can ignore this email.\n",
    )


def invite_account(
    tx: Transaction,
    context: Context,
    actor: Actor,
    organization_id: str,
    email: str,
    role: str | None,
    *,
    invited_by: str,
) -> None:
    """Invite the account with this email address. The invitation is valid until it is revoked. The person accepts
    it by signing in.

    The result doesn't reveal any information about the account, not even whether it exists."""
    invitation_id = store.put_invitation(
        tx, organization_id, email, role, sso=False, invited_by=invited_by, hash=None, standing=True
    )
    if context.settings.smtp_url:
        mail.allow(tx, context.settings, email)
        jobs.enqueue(tx, "mailInvitation", organization=organization_id, invitation_id=invitation_id)
    state = {"email": email, "role": role}
    audit(tx, actor, "invitation.created", organization_id, ("invitation", invitation_id), after=state)


def revoke_standing_invitation(tx: Transaction, actor: Actor, organization_id: str, email: str) -> None:
    """Revoke the invitation from ``invite_account``, if it still exists."""
    invitation = store.find_invitation_of(tx, organization_id, email)
    if invitation is not None and invitation.standing:
        _delete(tx, actor, invitation)


def _delete(tx: Transaction, actor: Actor, invitation: store.InvitationRow) -> None:
    store.delete_invitation(tx, invitation.organization_id, invitation.id)
    state = {"email": invitation.email, "role": invitation.role}
    target = ("invitation", invitation.id)
    audit(tx, actor, "invitation.deleted", invitation.organization_id, target, before=state)


# --- accepting ----------------------------------------------------------------------------------------


def join_with_invitation(tx: Transaction, actor: Actor, organization_id: str, key: str, user_id: str) -> bool:
    """Make the caller a member through an invitation for the caller's email address, and use up the invitation. Return
    False if there is no such invitation.

    ``key``: the secret of the invitation, or its ID for an account with a verified address.
    """
    user = find_user(tx, user_id)
    invitation = _find_by_secret(tx, key) or _find_own(tx, user_id, key)
    if invitation is None or user is None or invitation.organization_id != organization_id:
        return False
    membership = find_membership(tx, organization_id, user_id)
    if user.email != invitation.email or (membership is not None and membership.disabled):
        return False
    return _use_up(tx, actor, invitation, user_id, member=membership is not None)


def decline(tx: Transaction, actor: Actor, invitation_id: str, user_id: str) -> bool:
    """Decline an invitation for the caller's own verified address. Return False if there is none."""
    invitation = store.find_invitation(tx, invitation_id)
    user = find_user(tx, user_id)
    if invitation is None or user is None or user.email != invitation.email:
        return False
    if not has_verified_email(tx, user_id):
        return False
    _delete(tx, actor, invitation)
    return True


def accept(tx: Transaction, by: Actor | Stranger, secret: str, display_name: str, hashed: str) -> str:
    """Create an account for the invited address, add it as a member, and return its ID. Raises NotFound if
    the invitation is invalid, and Conflict if the address already has an account.

    Someone else may already have created an unverified account with the address. An emailed invitation verifies the
    address, so that account is handed over to the invited person, and all sign-in methods and tokens that the other
    person set up are removed."""
    invitation = get_invitation(tx, secret)
    user = find_user_by_email(tx, invitation.email)
    if user is None:
        user = insert_user(tx, invitation.email, display_name, verified=bool(invitation.mailed))
    elif not invitation.mailed or has_verified_email(tx, user.id) or not verify_address(tx, user.id):
        raise Conflict(
            "An account with this email address already exists. Sign in to it, then accept the invitation."
        )
    else:
        update_user(tx, user.id, display_name=display_name, photo_url=None)
    set_password_hash(tx, user.id, hashed)
    membership = find_membership(tx, invitation.organization_id, user.id)
    if membership is not None and membership.disabled:
        raise _not_found()
    if not _use_up(tx, by, invitation, user.id, member=membership is not None):
        raise _not_found()
    return user.id


def hash_new_password(tx: Transaction, secret: str, password: str) -> str:
    """Return the hash of a new password. The hash is computed only for holders of an invitation's secret. Raises
    NotFound if the secret is invalid, and BadRequest if the password isn't acceptable."""
    require_acceptable_password(password, get_invitation(tx, secret).email)
    return hash_password(password)


def get_invitation(tx: Transaction, secret: str) -> store.InvitationRow:
    invitation = _find_by_secret(tx, secret)
    if invitation is None:
        raise _not_found()
    return invitation


def _not_found() -> NotFound:
    return NotFound("This invitation doesn't exist, was already used, or has expired. Ask for a new one.")


def _find_by_secret(tx: Transaction, secret: str) -> store.InvitationRow | None:
    return _if_still_valid(tx, store.find_invitation_by_hash(tx, hash_token(secret)))


def _find_own(tx: Transaction, user_id: str, invitation_id: str) -> store.InvitationRow | None:
    if not has_verified_email(tx, user_id):
        return None
    found = store.find_invitation(tx, invitation_id)
    return _if_still_valid(tx, found) if found and found.expires_at > now() else None


def _if_still_valid(tx: Transaction, found: store.InvitationRow | None) -> store.InvitationRow | None:
    """Return the invitation if the person who created it can still invite people."""
    if found is None or role_of_member(tx, found.organization_id, found.invited_by)[1] != "admin":
        return None
    return found


def _use_up(
    tx: Transaction, by: Actor | Stranger, invitation: store.InvitationRow, user_id: str, *, member: bool
) -> bool:
    """Use up the invitation by deleting it. Return False if another request used it first."""
    if store.delete_invitation(tx, invitation.organization_id, invitation.id) is None:
        return False
    organization_id = invitation.organization_id
    if member:
        accept_membership(tx, organization_id, user_id)
    else:
        sso = bool(invitation.sso) and not _is_member_elsewhere(tx, user_id)
        _add(tx, by, organization_id, user_id, invitation.role, sso=sso, accepted=True)
    return True
