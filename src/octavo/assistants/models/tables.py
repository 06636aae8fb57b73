"""Declare the tables for models."""

from __future__ import annotations

from octavo.kit.db.tables import Table, declare, person

declare(
    Table(
        name="agent_instructions",
        of_organization="organization_id = :org",
        columns=(person("updated_by"),),
        json={"instructions": object},
    ),
    Table(
        name="model_calls",
        stays="are records of calls to this server's provider",
        of_organization="organization_id = :org",
        columns=(person("user_id"),),
        values={"status": ("ok", "failed", "abandoned")},
    ),
    # Vectors that are no longer cached are requested again.
    Table(name="embeddings", derived=True),
)
