"""Git sync as the command line has it."""

from __future__ import annotations

from typing import Any

import msgspec

from ..errors import Conflict, NotFound
from ..gitsync import First, find_sync, list_runs, run_here, set_first
from ..kit.clock import iso
from ..kit.context import Context
from .naming import Named


def describe_sync(context: Context, space: Named) -> dict[str, Any]:
    """How a space is synced. Raises NotFound."""
    with context.db.read() as tx:
        row = find_sync(tx, space.id)
    if row is None:
        raise NotFound(f"the space {space.id} is not synced with a Git repository")
    said = {
        "space": row.space_id,
        "remote": row.remote,
        "branch": row.branch,
        "folder": row.folder or "/",
        "direction": row.direction,
        "status": row.status,
        "reason": row.reason,
        "message": row.error,
        "commit": row.commit_id,
        "revision": row.revision,
        "syncedAt": iso(row.synced_at) if row.synced_at else None,
        "nextAt": iso(row.next_at) if row.next_at else None,
    }
    return {name: value for name, value in said.items() if value is not None}


def sync_now(context: Context, space: Named, first: First | None) -> dict[str, Any]:
    """Syncs a space in this process and says how it is then. ``first``: the side to go on from, where the sync waits for
    that decision. Raises NotFound, and Conflict where a server is at it."""
    describe_sync(context, space)
    if first is not None:
        with context.db.write() as tx:
            set_first(tx, space.id, first)
    if run_here(context, space.id) is None:
        raise Conflict(
            f"the space {space.id} is being synced just now; `octavo git log` says what came of it"
        )
    return describe_sync(context, space)


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
