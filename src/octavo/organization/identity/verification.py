"""Verification of email addresses."""

from __future__ import annotations

from octavo.kit.db.database import Transaction
from octavo.organization.access.accounts import hand_over_account
from octavo.organization.access.members import withdraw_acceptance

from . import removal


def verify_address(tx: Transaction, user_id: str) -> bool:
    """Mark the email address of a user as verified. Return False if the user doesn't exist or is
    deactivated.

    Before this, someone else who knew the address may have used the account. All ways in which that person could
    regain access, or lock out the owner, are removed: password, two-factor authentication, passkeys, sessions, tokens,
    and the control that an organization's identity provider or directory has over the account. Memberships are kept,
    but count as not yet accepted."""
    row = tx.one(
        f"SELECT email_verified FROM users WHERE id = :id AND disabled = 0{tx.for_update}", id=user_id
    )
    if row is None:
        return False
    if not row[0]:
        hand_over_account(tx, user_id)
        for table in ("second_factors", "passkeys", "external_identities"):
            tx.run(f"DELETE FROM {table} WHERE user_id = :id", id=user_id)
        withdraw_acceptance(tx, user_id)
        removal.end_all_sign_ins(tx, user_id)
    return True
