"""Changes to accounts by server administrators: the email address, activation, and sign-in.

All changes are recorded in the audit logs of the person's organizations. The same functions serve the API and the
command line.
"""

from __future__ import annotations

from octavo.errors import Conflict, NotFound
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor
from octavo.organization.access.accounts import (
    UserRow,
    enable_account,
    get_user_for_update,
    is_operator,
    set_email,
)
from octavo.organization.access.auditing import Source, Stranger, audit, audit_person, source_of
from octavo.organization.access.members import (
    enable_membership,
    find_membership,
    notify_joined,
    upsert_member,
)
from octavo.organization.identity import factors, sessions
from octavo.organization.identity.removal import deactivate_account, require_other_admins
from octavo.organization.identity.signing_in import issue_link
from octavo.organization.identity.verification import verify_address
from octavo.organization.orgs.store import get_organization
from octavo.settings import Settings

By = Actor | Stranger


def set_activation(tx: Transaction, settings: Settings, by: By, user_id: str, *, active: bool) -> None:
    """Activate or deactivate an account. Deactivating an account ends its sessions and revokes its tokens and
    agents. Its memberships and content are kept.

    Raises NotFound if the person doesn't exist, and Conflict if the person is a server administrator or the last
    administrator of an organization.
    """
    if not active:
        _require_not_operator(tx, settings, user_id)
        require_other_admins(tx, user_id)
    user = _lock_person(tx, user_id)
    if bool(user.disabled) is not active:
        return
    if active:
        enable_account(tx, user_id)
    else:
        deactivate_account(tx, user_id)
    record_change(tx, by, "account.activated" if active else "account.deactivated", user_id)


def change_email(tx: Transaction, settings: Settings, by: By, user_id: str, email: str) -> None:
    """Change an account's email address. The new address counts as verified, and sign-in links that were sent to the
    previous address stop working.

    Raises NotFound if the person doesn't exist, and Conflict if the person is a server administrator or if another
    account has the new address.
    """
    user = _lock_person(tx, user_id)
    if user.email == email.strip().lower():
        return
    _require_not_operator(tx, settings, user_id)
    set_email(tx, user_id, email)
    verify_address(tx, user_id)
    record_change(tx, by, "account.email-changed", user_id)


def reset_second_factor(tx: Transaction, by: By, user_id: str) -> bool:
    """Turn off two-factor authentication for an account. Return False if it was already off."""
    if not factors.end(tx, user_id):
        return False
    record_change(tx, by, "second-factor.reset", user_id)
    return True


def end_sessions(tx: Transaction, by: By, user_id: str) -> int:
    """End all of an account's sessions, and return the number of sessions."""
    ended = sessions.end_others(tx, user_id, None)
    if ended:
        record_change(tx, by, "sessions.ended", user_id, after={"sessions": ended})
    return ended


def make_administrator(tx: Transaction, by: By, organization_id: str, user_id: str) -> None:
    """Make a person an administrator of an organization, as a new member if needed. This is for
    organizations whose administrators have left or can't sign in.

    Raises NotFound if the organization or person doesn't exist, and Conflict if the account is deactivated.
    """
    user = _lock_person(tx, user_id)
    if user.disabled:
        raise Conflict("This account is deactivated. Reactivate it first.")
    get_organization(tx, organization_id)
    before = find_membership(tx, organization_id, user_id)
    if before is not None and before.role == "admin" and not before.disabled:
        return
    upsert_member(tx, organization_id, user_id, "admin")
    if before is None:
        notify_joined(tx, organization_id, user_id)
    elif before.disabled:
        enable_membership(tx, organization_id, user_id)
    audit(
        tx,
        by,
        "member.updated" if before else "member.added",
        organization_id,
        ("user", user_id),
        before={"role": before.role} if before else None,
        after={"role": "admin", "by": "server administrator"},
    )


def create_sign_in_link(tx: Transaction, context: Context, by: By, user_id: str) -> str:
    """Return a sign-in link that can be used once. It expires after 15 minutes. Raises NotFound if the person doesn't
    exist, and Conflict if the account is deactivated."""
    user = _lock_person(tx, user_id)
    secret = issue_link(tx, context.sealer, user.email)
    if secret is None:
        raise Conflict("This account is deactivated. Reactivate it first.")
    record_change(tx, by, "sign-in-link.created", user_id)
    return f"{context.settings.url}/sign-in?link={secret}"


def _lock_person(tx: Transaction, user_id: str) -> UserRow:
    if not tx.one("SELECT 1 FROM users WHERE id = :user AND kind = 'person'", user=user_id):
        raise NotFound(f"There is no user with the ID {user_id!r}.")
    return get_user_for_update(tx, user_id)


def _require_not_operator(tx: Transaction, settings: Settings, user_id: str) -> None:
    if is_operator(tx, settings, user_id):
        raise Conflict(
            "This account belongs to a server administrator. Set OCTAVO_ADMIN_EMAIL to other people's email"
            " addresses and restart the server first."
        )


def record_change(tx: Transaction, by: By, action: str, user_id: str, after: object = None) -> None:
    """Record a change to an account in the audit log of each of the person's organizations."""
    # A caller without an account uses the command line.
    actor, token = ("", None) if isinstance(by, Stranger) else (by.user_id, by.token_id)
    source: Source = "script" if isinstance(by, Stranger) else source_of(by)
    audit_person(tx, action, user_id, client=by.client, token=token, actor=actor, source=source, after=after)
