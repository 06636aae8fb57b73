"""What the table of webhooks is."""

from __future__ import annotations

from octavo.kit.db.tables import Table, declare

declare(
    Table(
        name="webhooks",
        stays="signs with a secret that a server knows, and would tell that server of a copy as well",
        json={"events": list[str]},
        long=("description",),
    ),
)
