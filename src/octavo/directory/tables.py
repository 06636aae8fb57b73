"""What the tables of SCIM are."""

from __future__ import annotations

from ..kit.tables import Table, declare, member, row

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
