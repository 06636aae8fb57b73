"""Inviting addresses, and taking an invitation.

Somebody is added at once only when they have proved that the address is theirs; otherwise an account that
somebody else made with it would be let in. That is a membership which they have not accepted: it lets them in, and
gives the organization's identity provider and directory no power over the account. An invitation is taken by the
account with its address, once, and is its maker's word: it is void when they no longer administer the organization.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..access import (
    Stranger,
    accept_membership,
    audit,
    find_membership,
    find_user,
    find_user_by_email,
    has_verified_email,
    hash_token,
    insert_user,
    joined,
    role_of_member,
    set_sso,
    update_user,
    upsert_member,
)
from ..errors import Conflict, NotFound
from ..identity import hash_password, require_good, set_password, verify_address
from ..kit import jobs, mail
from ..kit.allowances import spend
from ..kit.clock import now
from ..kit.context import Context
from ..kit.db import Transaction
from ..kit.operation import Actor
from ..orgs import get_organization
from . import store


@dataclass
class Invited:
    """``users``: who had an account and are members now. ``not_sso``: addresses that the identity provider does not vouch
    for, as their accounts belong to others too. ``links``: addresses with what to hand on, where no mail is sent."""

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
    """Adds those with an account, invites the others. ``people``: addresses with the role for each. Raises
    TooManyRequests past what ``invited_by`` may invite, or an address may be sent, within a day."""
    most = context.settings.invitations_per_day
    message = f"emails: more than the {most} addresses that one person may invite within a day."
    spend(tx, "invitations", invited_by, most, message, len(people))
    answer = Invited()
    mailing = bool(context.settings.smtp_url)
    for email, role in people:
        user = find_user_by_email(tx, email)
        if user is not None and has_verified_email(tx, user.id):
            if find_membership(tx, organization_id, user.id) is not None:
                continue  # a member already, or one whom somebody disabled
            as_sso = sso and not _is_member_elsewhere(tx, user.id)
            if sso and not as_sso:
                answer.not_sso.append(email)
            _add(tx, actor, organization_id, user.id, role, sso=as_sso)
            answer.users.append(user.id)
        else:
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
    joined(tx, organization_id, user_id)
    if sso:
        set_sso(tx, organization_id, user_id)
    state = {"role": role, "by": "invitation"}
    audit(tx, by, "member.joined", organization_id, ("user", user_id), after=state)


@jobs.job("mailInvitation", bound="one mail", attempts=3)
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
    who = inviter.display_name if inviter else "Somebody"
    where = _url(context, org.id, secret)
    how = f"Join within a week:\n\n{where}"
    if invitation.standing:
        how = f"Sign in to your account to join:\n\n{context.settings.url}/invitation"
    mail.send(
        context.settings,
        to=invitation.email,
        subject=f"{who} invites you to {org.title}".replace("\n", " ").replace("\r", " "),
        text=f"{who} invites you to {org.title}. {how}\n\nIf you do not know what this is about, ignore it.\n",
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
    """Invites the account with this address, until it is taken back: it joins by being signed in. Nothing is said of
    the account, not even whether there is one."""
    invitation_id = store.put_invitation(
        tx, organization_id, email, role, sso=False, invited_by=invited_by, hash=None, standing=True
    )
    if context.settings.smtp_url:
        mail.allow(tx, context.settings, email)
        jobs.enqueue(tx, "mailInvitation", organization=organization_id, invitation_id=invitation_id)
    state = {"email": email, "role": role}
    audit(tx, actor, "invitation.created", organization_id, ("invitation", invitation_id), after=state)


def withdraw(tx: Transaction, actor: Actor, organization_id: str, email: str) -> None:
    """Takes back what ``invite_account`` did, if it is there still."""
    invitation = store.find_invitation_of(tx, organization_id, email)
    if invitation is not None and invitation.standing:
        _delete(tx, actor, invitation)


def _delete(tx: Transaction, actor: Actor, invitation: store.InvitationRow) -> None:
    store.delete_invitation(tx, invitation.organization_id, invitation.id)
    state = {"email": invitation.email, "role": invitation.role}
    target = ("invitation", invitation.id)
    audit(tx, actor, "invitation.deleted", invitation.organization_id, target, before=state)


# --- taking it ----------------------------------------------------------------------------------------


def take(tx: Transaction, actor: Actor, organization_id: str, key: str, user_id: str) -> bool:
    """Makes the caller a member by an invitation of their address, which is used up by this; False when there is no
    such invitation for them. ``key``: its secret, or, for an account whose address is proved, its id."""
    user = find_user(tx, user_id)
    invitation = _find_good(tx, key) or _find_own(tx, user_id, key)
    if invitation is None or user is None or invitation.organization_id != organization_id:
        return False
    membership = find_membership(tx, organization_id, user_id)
    if user.email != invitation.email or (membership is not None and membership.disabled):
        return False
    return _use(tx, actor, invitation, user_id, member=membership is not None)


def decline(tx: Transaction, actor: Actor, invitation_id: str, user_id: str) -> bool:
    """Refuses an invitation of the caller's own, proved address; False when there is none."""
    invitation = store.find_invitation(tx, invitation_id)
    user = find_user(tx, user_id)
    if invitation is None or user is None or user.email != invitation.email:
        return False
    if not has_verified_email(tx, user_id):
        return False
    _delete(tx, actor, invitation)
    return True


def accept(tx: Transaction, by: Actor | Stranger, secret: str, display_name: str, hashed: str) -> str:
    """An account for the invited address, a member at once; its id. Raises NotFound, Conflict.

    Somebody may have made an account with the address before, without a proof. A mailed invitation is one: then that
    account is theirs, and what the other had set up ends.
    """
    invitation = get_invitation(tx, secret)
    user = find_user_by_email(tx, invitation.email)
    if user is None:
        user = insert_user(tx, invitation.email, display_name, verified=bool(invitation.mailed))
    elif not invitation.mailed or has_verified_email(tx, user.id) or not verify_address(tx, user.id):
        raise Conflict("There is an account with this address: sign in, then join with the invitation.")
    else:
        update_user(tx, user.id, display_name=display_name, photo_url=None)
    set_password(tx, user.id, hashed)
    membership = find_membership(tx, invitation.organization_id, user.id)
    if membership is not None and membership.disabled:
        raise _missing()
    if not _use(tx, by, invitation, user.id, member=membership is not None):
        raise _missing()
    return user.id


def hashed_password(tx: Transaction, secret: str, password: str) -> str:
    """The hash of a good password, made only for who knows an invitation's secret. Raises NotFound, BadRequest."""
    require_good(password, get_invitation(tx, secret).email)
    return hash_password(password)


def get_invitation(tx: Transaction, secret: str) -> store.InvitationRow:
    invitation = _find_good(tx, secret)
    if invitation is None:
        raise _missing()
    return invitation


def _missing() -> NotFound:
    return NotFound("secret: there is no such invitation, or it was used or is expired.")


def _find_good(tx: Transaction, secret: str) -> store.InvitationRow | None:
    return _if_meant(tx, store.find_invitation_by_hash(tx, hash_token(secret)))


def _find_own(tx: Transaction, user_id: str, invitation_id: str) -> store.InvitationRow | None:
    if not has_verified_email(tx, user_id):
        return None
    found = store.find_invitation(tx, invitation_id)
    return _if_meant(tx, found) if found and found.expires_at > now() else None


def _if_meant(tx: Transaction, found: store.InvitationRow | None) -> store.InvitationRow | None:
    """The invitation while its maker may still invite."""
    if found is None or role_of_member(tx, found.organization_id, found.invited_by)[1] != "admin":
        return None
    return found


def _use(
    tx: Transaction, by: Actor | Stranger, invitation: store.InvitationRow, user_id: str, *, member: bool
) -> bool:
    """False when somebody else used it just now: deleting the row is what uses it up."""
    if store.delete_invitation(tx, invitation.organization_id, invitation.id) is None:
        return False
    organization_id = invitation.organization_id
    if member:
        accept_membership(tx, organization_id, user_id)
    else:
        sso = bool(invitation.sso) and not _is_member_elsewhere(tx, user_id)
        _add(tx, by, organization_id, user_id, invitation.role, sso=sso, accepted=True)
    return True
