"""Somebody comes: what an organization's directory has prepared for them becomes theirs."""

from __future__ import annotations

from ..invitations import delete_standing_invitation
from ..kit.db import Transaction
from . import store


def meet_directory(tx: Transaction, organization_id: str, user_id: str, vouched: bool) -> None:
    """The directory finds the user it sent, and they need no invitation by it any more."""
    email = store.adopt_member(tx, organization_id, user_id, vouched=vouched)
    if email is not None:
        delete_standing_invitation(tx, organization_id, email)
