"""Declare the tables for invitations."""

from __future__ import annotations

from octavo.kit.db.tables import Table, declare, person, row
from octavo.organization.spaces.hooks import on_leaving

from .store import delete_links_to

declare(
    Table(name="invitations", stays="secret", columns=(person("invited_by"),), secrets=("hash",)),
    Table(
        name="invite_links",
        stays="gives access to this server",
        columns=(
            row("target_id", "organizations", target_type=("organization",)),
            row("target_id", "spaces", target_type=("space",)),
            row("target_id", "collections", target_type=("collection",)),
            person("created_by"),
        ),
        values={"target_type": ("organization", "space", "collection")},
    ),
)

on_leaving(delete_links_to)
