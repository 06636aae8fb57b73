"""Declarations of the upload tables."""

from __future__ import annotations

from octavo.kit.db.tables import Table, declare, file

declare(
    Table(
        name="uploads",
        of_organization="organization_id = :org",
        stays="temporary",
        columns=(file("hash"),),
    ),
    Table(
        name="upload_parts",
        of_organization="upload_id IN (SELECT id FROM uploads WHERE organization_id = :org)",
        stays="temporary",
        columns=(file("hash"),),
    ),
)
