"""Declare the table for channels."""

from __future__ import annotations

from typing import get_args

from octavo.kit.db.tables import Table, declare

from .store import ChannelRole, ChannelType

declare(
    Table(
        name="site_channels",
        of_organization="site_id IN (SELECT id FROM sites WHERE organization_id = :org)",
        values={"type": get_args(ChannelType), "role": get_args(ChannelRole)},
        json={"patterns": list[str]},
    )
)
