"""Git sync as the command line has it."""

from __future__ import annotations

from typing import Any

import msgspec

from ..errors import Conflict, NotFound
from ..gitsync import (
    First,
    ProjectRow,
    SyncRow,
    decide,
    find_project,
    find_sync,
    list_members,
    list_runs,
    run_here,
    run_project_here,
    set_first,
)
from ..kit.clock import iso
from ..kit.context import Context
from .naming import Named


def describe_sync(context: Context, named: Named) -> dict[str, Any]:
    """How a space is synced, or a collection or a site with ``spaces``. Raises NotFound."""
    return _describe_space(context, named.id) if named.kind == "space" else _describe_project(context, named)


def _describe_project(context: Context, named: Named) -> dict[str, Any]:
    with context.db.read() as tx:
        row = find_project(tx, named.id)
        members = list_members(tx, named.id)
    if row is None:
        raise NotFound(f"the {named.kind} {named.id} is not synced with a Git repository")
    said = {
        named.kind: row.id,
        **_said(row),
        "spaces": [
            {"space": one.space_id, "folder": one.folder, "status": one.status, "message": one.error or ""}
            for one in members
        ],
        "problems": msgspec.json.decode(row.problems) or None,
    }
    return {name: value for name, value in said.items() if value is not None}


def _said(row: SyncRow | ProjectRow) -> dict[str, Any]:
    return {
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
    }


def _describe_space(context: Context, space_id: str) -> dict[str, Any]:
    with context.db.read() as tx:
        row = find_sync(tx, space_id)
    if row is None:
        raise NotFound(f"the space {space_id} is not synced with a Git repository")
    said = {"space": row.space_id, **_said(row), "revision": row.revision, "project": row.project}
    return {name: value for name, value in said.items() if value is not None}


def sync_now(context: Context, named: Named, first: First | None) -> dict[str, Any]:
    """Syncs a space, a collection or a site in this process and says how it is then. ``first``: the side to go on from,
    where the sync waits for that decision. Raises NotFound, and Conflict where a server is at it."""
    describe_sync(context, named)
    if first is not None:
        with context.db.write() as tx:
            if named.kind == "space":
                set_first(tx, named.id, first)
            else:
                decide(tx, named.id, first)
    run = run_here if named.kind == "space" else run_project_here
    if run(context, named.id) is None:
        raise Conflict(
            f"the {named.kind} {named.id} is being synced just now; `octavo git status` says what came of it"
        )
    return describe_sync(context, named)


def list_syncs(context: Context, space: Named, limit: int) -> list[dict[str, Any]]:
    """What the last syncs did, newest first. Raises NotFound."""
    describe_sync(context, space)
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
