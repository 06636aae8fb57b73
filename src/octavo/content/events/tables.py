"""Declare the presence table."""

from __future__ import annotations

from typing import get_args

from octavo.kit.db.tables import Table, declare

from .types import Activity

declare(
    Table(name="presence", stays="expires within a minute", values={"activity": get_args(Activity)}),
)
