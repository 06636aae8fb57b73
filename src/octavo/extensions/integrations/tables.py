"""Declare the tables for integrations."""

from __future__ import annotations

from typing import get_args

from octavo.kit.db.tables import Table, declare, file, person

from .manifest import Manifest, Runtime, Status, Target, Visibility

_CODE = "runs code with credentials of this server. Publish and install it again on the other server"

_SELECTION = ("all", "selected")

declare(
    Table(
        name="integrations",
        stays=_CODE,
        values={
            "runtime": get_args(Runtime),
            "visibility": get_args(Visibility),
            "target": get_args(Target),
        },
        json={"manifest": Manifest},
    ),
    Table(name="integration_names", stays=_CODE),
    Table(name="integration_tags", stays=_CODE, values={"kind": ("category", "scope", "domain")}),
    Table(name="integration_files", stays=_CODE, columns=(file("hash"),)),
    Table(
        name="integration_installations",
        stays=_CODE,
        columns=(person("user_id"),),
        values={
            "status": get_args(Status),
            "space_selection": _SELECTION,
            "site_selection": _SELECTION,
        },
        json={"scopes": list[str], "external_ids": list[str]},
    ),
    Table(
        name="integration_places",
        stays=_CODE,
        values={"kind": ("space", "site"), "status": get_args(Status)},
        json={"external_ids": list[str]},
    ),
    Table(name="integration_answers", stays="computed again", long=("answer",)),
    Table(
        name="integration_external_ids",
        stays=_CODE,
        values={"kind": ("installation", "space", "site")},
    ),
)
