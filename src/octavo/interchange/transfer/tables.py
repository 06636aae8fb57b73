"""Declare the tables for imports."""

from __future__ import annotations

from octavo.kit.db.tables import Table, declare, file, person, row, text

from .store import ImportedContent

declare(
    Table(
        name="import_runs",
        of_space="space_id IN {spaces}",
        stays="of the moment",
        columns=(
            person("user_id"),
            row("change_id", "change_requests"),
            row("revision", "revisions"),
            row("origin", "import_runs"),
        ),
    ),
    Table(
        name="imported_parts",
        of_space="run_id IN (SELECT id FROM import_runs WHERE space_id IN {spaces})",
        stays="of the moment",
        columns=(text("body"), file("file")),
        json={"written": ImportedContent},
        long=("written",),
    ),
)
