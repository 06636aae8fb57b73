"""What the table of imports is."""

from __future__ import annotations

from ..kit.tables import Table, declare, person, row

declare(
    Table(
        name="import_runs",
        of_space="space_id IN {spaces}",
        stays="of the moment",
        columns=(person("user_id"), row("change_id", "change_requests"), row("revision", "revisions")),
    )
)
