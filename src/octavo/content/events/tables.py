"""What the table of presence is."""

from __future__ import annotations

from typing import get_args

from octavo.kit.db.tables import Table, declare

from .types import Activity

declare(
    Table(name="presence", stays="is over within a minute", values={"activity": get_args(Activity)}),
)
