"""Invitations into organizations: of an address, and by links that whoever has them joins by."""

from . import tables as tables
from .inviting import invite_account, withdraw

__all__ = [
    "invite_account", "tables", "withdraw",
]  # fmt: skip
