"""What the tables of sites are."""

from __future__ import annotations

from typing import get_args

from ..kit.tables import Table, declare
from .wire import SiteType, Visibility

declare(
    Table(
        name="sites",
        of_organization="organization_id = :org",
        values={
            "type": get_args(SiteType),
            "visibility": get_args(Visibility),
            "agents_context": ("included", "excluded"),
        },
        json={"settings": dict},
    ),
    Table(
        name="site_spaces",
        of_organization="site_id IN (SELECT id FROM sites WHERE organization_id = :org)",
        long=("condition",),
    ),
)
