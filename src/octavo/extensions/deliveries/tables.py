"""Declare the tables for deliveries."""

from __future__ import annotations

from typing import get_args

from octavo.kit.db.tables import Table, declare

from .store import Status

_STAYS = "is in delivery to recipients of this server"

declare(
    Table(
        name="deliveries",
        stays=_STAYS,
        values={"place_kind": ("space", "site", ""), "status": get_args(Status)},
        json={"event": dict, "logs": list},
        long=("error",),
    ),
    Table(name="delivery_queues", stays=_STAYS),
)
