"""Remove and deactivate members. All access that depends on the membership ends in the same transaction."""

from __future__ import annotations

from octavo.errors import Conflict
from octavo.kit.db.database import Transaction
from octavo.kit.db.tables import end_membership
from octavo.organization.access.accounts import disable_account
from octavo.organization.access.members import delete_membership, disable_membership
from octavo.organization.access.tokens import revoke_tokens


def require_another_admin(tx: Transaction, organization_id: str, user_id: str) -> None:
    """Raise Conflict if the user is the last active administrator of the organization."""
    admins = tx.all(
        f"""SELECT m.user_id FROM members m JOIN users u ON u.id = m.user_id
            WHERE m.organization_id = :org AND m.role = 'admin' AND m.disabled = 0
              AND u.disabled = 0 AND u.kind = 'person'
            ORDER BY m.user_id{tx.for_update}""",
        org=organization_id,
    )
    if [admin for (admin,) in admins] == [user_id]:
        raise Conflict(
            "This is the last administrator of the organization. Make another member an administrator first."
        )


def require_other_admins(tx: Transaction, user_id: str) -> None:
    """Raise Conflict if the user is the last active administrator of any organization.

    Call this before locking the user's row, so that rows are locked in the same order if two administrators
    deactivate each other."""
    administered = tx.all(
        "SELECT organization_id FROM members WHERE user_id = :user AND role = 'admin' AND disabled = 0"
        " ORDER BY organization_id",
        user=user_id,
    )
    for (organization_id,) in administered:
        require_another_admin(tx, organization_id, user_id)


def _end_in_organization(tx: Transaction, organization_id: str, user_id: str, *, accepted: bool) -> None:
    """End the sessions and revoke the tokens of a member who leaves an organization.

    Call this after disabling or removing the member. If the person isn't in any other organization, all of the person's
    sessions end and all tokens are revoked. Otherwise, sessions and tokens that aren't bound to this organization stay
    valid, but no longer give access to this organization, because each request checks the membership. People who never
    accepted the membership always keep their sessions and tokens, because an organization must not be able to sign
    people out by adding and removing them."""
    elsewhere = not accepted or tx.one(
        "SELECT 1 FROM members WHERE user_id = :user AND organization_id <> :org AND disabled = 0",
        user=user_id,
        org=organization_id,
    )
    if not elsewhere:
        end_all_sign_ins(tx, user_id)
        return
    tx.run(
        "DELETE FROM sessions WHERE user_id = :user AND organization_id = :org",
        user=user_id,
        org=organization_id,
    )
    revoke_tokens(tx, user_id, only=organization_id)


def end_all_sign_ins(tx: Transaction, user_id: str) -> None:
    """End all sessions and revoke all tokens of a user."""
    tx.run("DELETE FROM sessions WHERE user_id = :user", user=user_id)
    revoke_tokens(tx, user_id)


def deactivate_account(tx: Transaction, user_id: str) -> None:
    """Deactivate an account, end its sessions, and revoke its tokens. Raises Conflict if the user is the last
    administrator of an organization."""
    require_other_admins(tx, user_id)
    disable_account(tx, user_id)
    end_all_sign_ins(tx, user_id)


def disable_member(tx: Transaction, organization_id: str, user_id: str) -> bool:
    """Disable a member, and end the member's access. Return False if the member was already disabled. Raises Conflict
    if the user is the last administrator."""
    require_another_admin(tx, organization_id, user_id)
    accepted = disable_membership(tx, organization_id, user_id)
    if accepted is not None:
        _end_in_organization(tx, organization_id, user_id, accepted=accepted)
    return accepted is not None


def remove_member(tx: Transaction, organization_id: str, user_id: str) -> bool:
    """Remove a member and all data that depends on the membership: sessions, tokens, and rows that tables declare as
    dependent (team memberships, grants, directory and identity provider IDs). Return False if there was no membership.
    Raises Conflict if the user is the last administrator."""
    require_another_admin(tx, organization_id, user_id)
    accepted = delete_membership(tx, organization_id, user_id)
    if accepted is None:
        return False
    end_membership(tx, organization_id, user_id)
    _end_in_organization(tx, organization_id, user_id, accepted=accepted)
    return True
