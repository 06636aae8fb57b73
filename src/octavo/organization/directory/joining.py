"""Link new members to users that an organization's directory sent."""

from __future__ import annotations

from octavo.kit.db.database import Transaction
from octavo.organization.invitations.store import delete_standing_invitation

from . import store


def link_directory_user(tx: Transaction, organization_id: str, user_id: str, vouched: bool) -> None:
    """Link a new member to the user that the directory sent, and delete the directory's invitation."""
    email = store.adopt_member(tx, organization_id, user_id, vouched=vouched)
    if email is not None:
        delete_standing_invitation(tx, organization_id, email)
