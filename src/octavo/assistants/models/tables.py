"""What the tables of models are."""

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
        stays="what the provider of this installation was asked",
        of_organization="organization_id = :org",
        columns=(person("user_id"),),
        values={"status": ("ok", "failed", "abandoned")},
    ),
    # Whoever needs a vector asks for it again.
    Table(name="embeddings", derived=True),
)
