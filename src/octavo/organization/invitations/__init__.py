"""Invitations into organizations: of an address, and by links that whoever has them joins by."""

from . import tables as tables
