"""Invitations to organizations: by email address, and by links that anyone can use."""

from . import tables as tables
