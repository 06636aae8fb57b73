"""Declare the tables for spaces and collections."""

from __future__ import annotations

from typing import get_args

from octavo.kit.db.tables import Table, declare, person, row
from octavo.organization.access.roles import ORDER

from .types import EditMode, SpaceMergeRules, SpaceType

_LEVELS = (*ORDER, "inherit")

declare(
    Table(name="collections", of_organization="organization_id = :org", values={"default_level": _LEVELS}),
    Table(
        name="spaces",
        of_space="id IN {spaces}",
        columns=(
            row("main_branch", "branches"),
            row("main_revision", "revisions"),
            person("merge_rules", path=("rules", "users")),
            person("created_by"),
        ),
        values={"default_level": _LEVELS, "edit_mode": get_args(EditMode), "type": get_args(SpaceType)},
        json={"merge_rules": SpaceMergeRules},
    ),
    Table(
        name="space_git_states",
        of_space="space_id IN {spaces}",
        stays="describes the sync of this server",
        json={"state": dict},
    ),
    Table(name="unused", stays="temporary", values={"kind": ("text", "file")}),
)
