"""Declare the tables for fonts."""

from __future__ import annotations

from octavo.kit.db.tables import Table, declare, file

declare(
    Table(name="fonts", of_organization="organization_id = :org"),
    Table(
        name="font_faces",
        of_organization="font_id IN (SELECT id FROM fonts WHERE organization_id = :org)",
        columns=(file("hash"),),
    ),
)
