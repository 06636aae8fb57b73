"""Invitations to organizations: by email address, and by links that anyone can use."""

from . import tables as tables
from .inviting import invite_account, revoke_standing_invitation
from .store import delete_standing_invitation

__all__ = ["delete_standing_invitation", "invite_account", "revoke_standing_invitation"]
