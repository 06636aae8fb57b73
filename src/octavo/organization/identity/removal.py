"""Somebody goes: what ends with it, in the same transaction."""

from __future__ import annotations

from octavo.errors import Conflict
from octavo.kit.db.database import Transaction
from octavo.kit.db.tables import end_membership
from octavo.organization.access.members import delete_membership, disable_membership
from octavo.organization.access.tokens import revoke_tokens


def require_another_admin(tx: Transaction, organization_id: str, user_id: str) -> None:
    """Raises Conflict when the user is the last enabled person who administers the organization."""
    admins = tx.all(
        f"""SELECT m.user_id FROM members m JOIN users u ON u.id = m.user_id
            WHERE m.organization_id = :org AND m.role = 'admin' AND m.disabled = 0
              AND u.disabled = 0 AND u.kind = 'person'{tx.for_update}""",
        org=organization_id,
    )
    if [admin for (admin,) in admins] == [user_id]:
        raise Conflict("This is the last administrator of the organization.")


def _end_in_organization(tx: Transaction, organization_id: str, user_id: str, *, accepted: bool) -> None:
    """Ends the sessions and takes back the tokens that somebody has in an organization they leave.

    Called by whatever disables or removes a member, after it did. Without any organization left, all sessions
    and tokens of the person end; otherwise those that are not bound to this organization stay, and reach it no
    more, since each request asks for the membership. Who never accepted the membership keeps them in any case: an
    organization must not sign people out by adding and removing them.
    """
    elsewhere = not accepted or tx.one(
        "SELECT 1 FROM members WHERE user_id = :user AND organization_id <> :org AND disabled = 0",
        user=user_id,
        org=organization_id,
    )
    if not elsewhere:
        end_everywhere(tx, user_id)
        return
    tx.run(
        "DELETE FROM sessions WHERE user_id = :user AND organization_id = :org",
        user=user_id,
        org=organization_id,
    )
    revoke_tokens(tx, user_id, only=organization_id)


def end_everywhere(tx: Transaction, user_id: str) -> None:
    """Ends every session and takes back every token of a user."""
    tx.run("DELETE FROM sessions WHERE user_id = :user", user=user_id)
    revoke_tokens(tx, user_id)


def disable_member(tx: Transaction, organization_id: str, user_id: str) -> bool:
    """Disables a member and ends what they have there; False when that was so already. Raises Conflict."""
    require_another_admin(tx, organization_id, user_id)
    accepted = disable_membership(tx, organization_id, user_id)
    if accepted is not None:
        _end_in_organization(tx, organization_id, user_id, accepted=accepted)
    return accepted is not None


def remove_member(tx: Transaction, organization_id: str, user_id: str) -> bool:
    """Ends a membership and what hangs on it: what tables declare as such (places in teams, grants, what a directory
    and identity providers call them), sessions, tokens. False when there was none. Raises Conflict for the last
    administrator."""
    require_another_admin(tx, organization_id, user_id)
    accepted = delete_membership(tx, organization_id, user_id)
    if accepted is None:
        return False
    end_membership(tx, organization_id, user_id)
    _end_in_organization(tx, organization_id, user_id, accepted=accepted)
    return True
