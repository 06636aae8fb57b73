"""Somebody comes: what an organization's directory has prepared for them becomes theirs."""

from __future__ import annotations

from octavo.kit.db.database import Transaction
from octavo.organization.invitations.store import forget_standing

from . import store


def meet_directory(tx: Transaction, organization_id: str, user_id: str, vouched: bool) -> None:
    """The directory finds the user it sent, and they need no invitation by it any more."""
    email = store.adopt_member(tx, organization_id, user_id, vouched=vouched)
    if email is not None:
        forget_standing(tx, organization_id, email)
