"""What the table of SCIM is."""

from __future__ import annotations

from ..kit.tables import Table, declare, member, row

declare(
    Table(
        name="scim_resources",
        of_organization="organization_id = :org",
        columns=(member("id", kind=("user",)), row("id", "teams", kind=("group",))),
        membership="id",
        values={"kind": ("user", "group")},
    )
)
