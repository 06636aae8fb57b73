"""Declarations of the live editing tables."""

from __future__ import annotations

from typing import get_args

from octavo.kit.db.tables import Table, declare, person, row

from .types import Why

_BRANCHES = "branch_id IN (SELECT id FROM branches WHERE space_id IN {spaces})"
_ON_ONE_SERVER = "last while a page is edited, and are saved as revisions"

declare(
    Table(name="page_live", stays=_ON_ONE_SERVER, columns=(row("revision", "revisions"),)),
    Table(name="page_snapshots", stays=_ON_ONE_SERVER),
    Table(name="page_steps", stays=_ON_ONE_SERVER, columns=(person("user_id"),), long=("steps",)),
    Table(name="page_carets", stays="expire within a minute", columns=(person("user_id"),)),
    Table(
        name="set_aside",
        of_space=_BRANCHES,
        columns=(person("user_id"),),
        values={"why": get_args(Why)},
        long=("markdown",),
        membership="user_id",
    ),
)
