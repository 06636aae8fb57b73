"""Request syncs. A request for a sync that is already pending is combined with that sync."""

from __future__ import annotations

from typing import Literal

from octavo.kit.clock import now
from octavo.kit.db.database import Transaction
from octavo.kit.work.jobs import enqueue

from .store import Connected, ProjectRow, SyncRow, find

SYNCS = ("changes:write", "content:write")
"""Scopes that a sync requires, because it imports and exports content, and updates change requests and branches."""
SYNCS_SPACES = (*SYNCS, "spaces:write")
SYNCS_SITE = (*SYNCS_SPACES, "sites:write")

Cause = Literal["asked", "connected", "edited", "hook", "poll", "api"]
AFTER_EDIT = 2_000
"""Milliseconds between an edit and the sync, so that one commit can contain several edits."""
AGAIN = 5_000
"""Milliseconds to wait before retrying if another sync is in progress."""
SYNC, SYNC_PROJECT = "syncGit", "syncGitProject"


def ask(
    tx: Transaction, organization_id: str, of: type[Connected], id: str, cause: Cause, after: int = 0
) -> None:
    """Request a sync of a space, a collection, or a site. A request for a sync that is already pending is combined
    with that sync."""
    name, argument = (SYNC, "space") if of is SyncRow else (SYNC_PROJECT, "project")
    enqueue(
        tx,
        name,
        organization=organization_id,
        key=f"{name}:{id}",
        run_at=now() + after if after else None,
        cause=cause,
        **{argument: id},
    )


def notice_project(tx: Transaction, project_id: str) -> None:
    """Request a sync of a collection whose spaces changed, or of a site whose structure changed."""
    found = find(tx, ProjectRow, project_id)
    if found is not None and found.status != "stopped" and (found.commit_id or found.credential != "ssh-key"):
        ask(tx, found.organization_id, ProjectRow, project_id, "edited", after=AFTER_EDIT)
