"""What the table of prints is."""

from __future__ import annotations

from octavo.kit.db.tables import Table, declare, file, row

declare(
    Table(
        name="prints",
        of_space="space_id IN {spaces}",
        stays="of the moment",
        columns=(file("file"), row("revision_id", "revisions")),
    )
)
