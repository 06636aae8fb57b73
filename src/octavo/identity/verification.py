"""An address is proved to be somebody's."""

from __future__ import annotations

from ..kit.db import Transaction
from . import removal


def verify_address(tx: Transaction, user_id: str) -> bool:
    """Marks a user's address as theirs; False for somebody unknown or disabled.

    Whoever made the account before that may have been somebody else who knew the address: what they set up to
    come back with (password, sessions, tokens) ends here. A second factor stays: it lets nobody in alone.
    """
    row = tx.one(
        f"SELECT email_verified FROM users WHERE id = :id AND disabled = 0{tx.for_update}", id=user_id
    )
    if row is None:
        return False
    if not row[0]:
        tx.run("UPDATE users SET email_verified = 1, password_hash = NULL WHERE id = :id", id=user_id)
        removal.end_everywhere(tx, user_id)
    return True
