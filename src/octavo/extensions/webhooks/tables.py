"""Declare the table for webhooks."""

from __future__ import annotations

from octavo.kit.db.tables import Table, declare

declare(
    Table(
        name="webhooks",
        stays="has a secret and a URL. A copy would send its events to the same URL",
        json={"events": list[str]},
        long=("description",),
    ),
)
