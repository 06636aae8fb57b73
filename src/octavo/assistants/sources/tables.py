"""Declare the tables for sources."""

from __future__ import annotations

from typing import get_args

from octavo.kit.db.tables import Table, declare

from .types import ConnectionStatus, FailureReason, RecordType

declare(
    Table(
        name="context_connections",
        stays="have credentials for other services",
        values={"status": get_args(ConnectionStatus), "failure_reason": get_args(FailureReason)},
        json={"setup": dict[str, str], "usage": dict},
        long=("setup", "filter", "failure_message", "cursor"),
    ),
    Table(
        name="context_records",
        stays="are copies of texts in other services",
        values={"type": get_args(RecordType)},
        json={"metadata": dict},
        long=("text", "url", "metadata"),
    ),
)
