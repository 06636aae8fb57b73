"""Declare the tables for specifications."""

from __future__ import annotations

from octavo.content.revisions.deriving import Derived, register_derived
from octavo.content.revisions.revising import on_commit
from octavo.kit.db.tables import Table, declare, file, row, text
from octavo.organization.spaces.hooks import on_copy

from . import local
from .problems import Complaint
from .store import ERROR_CODES, STATES, VISIBILITIES

_SPECS = "(SELECT id FROM openapi_specs WHERE organization_id = :org)"

declare(
    Table(
        name="openapi_specs",
        of_organization="organization_id = :org",
        columns=(text("pending"), row("version_id", "openapi_versions")),
        values={"state": STATES, "visibility": VISIBILITIES, "error_code": ERROR_CODES},
        json={"errors": list[Complaint]},
        long=("errors",),
    ),
    Table(
        name="openapi_versions",
        of_organization=f"spec_id IN {_SPECS}",
        columns=(text("document"), file("file")),
    ),
    Table(
        name="openapi_files",
        of_organization=f"version_id IN (SELECT id FROM openapi_versions WHERE spec_id IN {_SPECS})",
        columns=(text("body"),),
    ),
    Table(name="openapi_sources", derived=True, values={"state": local.FILE_STATES}),
)
on_commit(local.queue_files)
register_derived(Derived.queued(local.queue_all_files, local.clear, local.check))
on_copy(local.copy_sources)
