"""An address is proved to be somebody's."""

from __future__ import annotations

from octavo.kit.db.database import Transaction
from octavo.organization.access.accounts import hand_over_account
from octavo.organization.access.members import withdraw_acceptance

from . import removal


def verify_address(tx: Transaction, user_id: str) -> bool:
    """Marks a user's address as theirs; False for somebody unknown or disabled.

    Whoever had the account before its address was proved may have been somebody else who knew the address. All that
    they set up to come back with, or to keep its owner out, ends here: password, second factor, passkeys, sessions,
    tokens, and what an organization's identity provider or directory may do with the account. Memberships stay, as of somebody
    who has not accepted them.
    """
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
        removal.end_everywhere(tx, user_id)
    return True
