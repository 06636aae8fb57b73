"""Declarations of the notification tables."""

from __future__ import annotations

from typing import get_args

from octavo.kit.db.tables import Table, declare, person, row

from .types import Channel, Level, Reason, State

declare(
    Table(
        name="notifications",
        of_space="space_id IN {spaces}",
        stays="refer to events on this server",
        many=True,
        membership="user_id",
        columns=(person("user_id"), person("actor_id")),
        values={"reason": get_args(Reason), "state": get_args(State)},
        long=("problem",),
    ),
    Table(
        name="notification_counts",
        of_space="space_id IN {spaces}",
        stays="count rows that remain",
        membership="user_id",
        columns=(person("user_id"),),
    ),
    Table(
        name="watches",
        of_space="space_id IN {spaces}",
        membership="user_id",
        columns=(person("user_id"), row("page_id", "page_versions.page_id")),
        values={"level": get_args(Level)},
    ),
    Table(
        name="notification_settings",
        stays="belong to a person, not to an organization",
        json={"channels": dict[Reason, Channel]},
    ),
)
