"""Declare the table for PDFs."""

from __future__ import annotations

from octavo.kit.db.tables import Table, declare, file, row

declare(
    Table(
        name="prints",
        of_space="space_id IN {spaces}",
        stays="are temporary",
        columns=(file("file"), row("revision_id", "revisions")),
    )
)
