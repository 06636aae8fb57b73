"""Declare the table for favorites."""

from __future__ import annotations

from octavo.kit.db.tables import Table, declare, person, row

declare(
    Table(
        name="favorites",
        of_space="space_id IN {spaces}",
        of_organization="space_id IN (SELECT id FROM spaces WHERE organization_id = :org)"
        " OR site_id IN (SELECT id FROM sites WHERE organization_id = :org)",
        membership="user_id",
        columns=(person("user_id"), row("page_id", "page_versions.page_id")),
    )
)
