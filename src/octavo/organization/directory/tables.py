"""Declare the tables for SCIM."""

from __future__ import annotations

from octavo.kit.db.tables import Table, declare, member, row
from octavo.organization.access.members import on_joined
from octavo.organization.access.teams import on_team_removed

from .joining import link_directory_user
from .store import delete_group_resource

declare(
    Table(
        name="scim_resources",
        of_organization="organization_id = :org",
        columns=(member("user_id"), row("id", "teams", kind=("group",))),
        membership="user_id",
        values={"kind": ("user", "group")},
    ),
    Table(
        name="scim_invited_members",
        of_organization="team_id IN (SELECT id FROM teams WHERE organization_id = :org)",
        columns=(row("resource_id", "scim_resources"),),
    ),
)

on_joined(link_directory_user)
on_team_removed(delete_group_resource)
