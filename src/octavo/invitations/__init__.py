"""Invitations into organizations: of an address, and by links that whoever has them joins by."""

from . import tables as tables
from .inviting import invite_account, withdraw
from .store import forget_standing

__all__ = ["forget_standing", "invite_account", "withdraw"]
