"""Git sync commands."""

from __future__ import annotations

from typing import Any

import msgspec

from octavo.errors import Conflict, NotFound
from octavo.interchange.gitsync.connecting import decide
from octavo.interchange.gitsync.jobs import run_here
from octavo.interchange.gitsync.store import (
    Connected,
    First,
    ProjectRow,
    SyncRow,
    find,
    list_members,
    list_runs,
)
from octavo.kit.clock import iso
from octavo.kit.context import Context

from .lookup import Named


def _find(context: Context, named: Named) -> Connected:
    with context.db.read() as tx:
        row = find(tx, _rows(named), named.id)
    if row is None:
        raise NotFound(f"The {named.kind} {named.id} isn't synced with a Git repository.")
    return row


def _rows(named: Named) -> type[Connected]:
    return SyncRow if named.kind == "space" else ProjectRow


def describe_sync(context: Context, named: Named) -> dict[str, object]:
    """Return the sync state of a space, or of a collection or site with its ``spaces``. Raises NotFound if there is
    no sync."""
    row = _find(context, named)
    said = {
        named.kind: row.owner_id,
        "remote": row.remote,
        "branch": row.branch,
        "folder": row.folder or "/",
        "direction": row.direction,
        "status": row.status,
        "reason": row.reason,
        "message": row.error,
        "commit": row.commit_id,
        "syncedAt": iso(row.synced_at) if row.synced_at else None,
        "nextAt": iso(row.next_at) if row.next_at else None,
        **(_of_space(row) if isinstance(row, SyncRow) else _of_project(context, row)),
    }
    return {name: value for name, value in said.items() if value is not None}


def _of_space(row: SyncRow) -> dict[str, object]:
    return {"revision": row.revision, "project": row.project}


def _of_project(context: Context, row: Connected) -> dict[str, object]:
    assert isinstance(row, ProjectRow)
    with context.db.read() as tx:
        members = list_members(tx, row.id)
    return {
        "spaces": [
            {"space": one.space_id, "folder": one.folder, "status": one.status, "message": one.error or ""}
            for one in members
        ],
        "problems": msgspec.json.decode(row.problems) or None,
    }


def sync_now(context: Context, named: Named, first: First | None) -> dict[str, object]:
    """Sync a space, collection, or site in this process, and return its state.

    ``first``: the side from which to start, if the sync requires that decision. Raises NotFound if there is no
    sync, and Conflict if a server process is already running the sync.
    """
    row = _find(context, named)
    if first is not None:
        with context.db.write() as tx:
            decide(tx, row, first)
    if run_here(context, type(row), named.id) is None:
        raise Conflict(
            f"The {named.kind} {named.id} is already being synced. See the result with `octavo git status`."
        )
    return describe_sync(context, named)


def list_syncs(context: Context, space: Named, limit: int) -> list[dict[str, Any]]:
    """Return the results of the last syncs, newest first. Raises NotFound if there is no sync."""
    _find(context, space)
    with context.db.read() as tx:
        runs = list_runs(tx, space.id, limit, None).rows
    return [
        {
            "startedAt": iso(run.started_at),
            "status": run.status,
            "cause": run.cause,
            "imported": run.imported,
            "exported": run.exported,
            "conflicts": run.conflicts,
            "commit": run.pushed or run.commit_id or "",
            "changeRequest": run.change_id or "",
            "message": run.error or "",
            "problems": msgspec.json.decode(run.problems),
        }
        for run in runs
    ]
