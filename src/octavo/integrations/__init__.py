"""Integrations: other people's code, installed in organizations, on spaces and on sites."""

from ..spaces import on_transfer
from . import tables as tables
from .public import public_routes
from .store import forget_space, get_integration_by_id

on_transfer(lambda tx, space_id, organization_id: forget_space(tx, space_id))

__all__ = [
    "forget_space", "get_integration_by_id", "public_routes", "tables",
]  # fmt: skip
