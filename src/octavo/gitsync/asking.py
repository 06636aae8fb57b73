"""Asking for a sync: once, however often it is asked for while it waits."""

from __future__ import annotations

from typing import Literal

from ..kit.clock import now
from ..kit.db import Transaction
from ..kit.jobs import enqueue
from . import store

Cause = Literal["asked", "connected", "edited", "hook", "poll", "api"]
SYNC = "syncGit"
SYNC_PROJECT = "syncGitProject"
AFTER_EDIT = 2_000
"""Milliseconds: edits follow each other, and one commit may have several."""


def ask(tx: Transaction, organization_id: str, space_id: str, cause: Cause, after: int = 0) -> None:
    """A sync of a space, once however often it is asked for while it waits."""
    enqueue(
        tx,
        SYNC,
        organization=organization_id,
        key=f"{SYNC}:{space_id}",
        run_at=now() + after if after else None,
        space=space_id,
        cause=cause,
    )


def ask_project(tx: Transaction, organization_id: str, project_id: str, cause: Cause, after: int = 0) -> None:
    """As ``ask``, of a collection or a site."""
    enqueue(
        tx,
        SYNC_PROJECT,
        organization=organization_id,
        key=f"{SYNC_PROJECT}:{project_id}",
        run_at=now() + after if after else None,
        project=project_id,
        cause=cause,
    )


def notice_project(tx: Transaction, project_id: str) -> None:
    """A collection may have other spaces than before, or a site another structure, which its repository is to hear of."""
    found = store.find_project(tx, project_id)
    if found is not None and found.status != "stopped" and (found.commit_id or found.credential != "ssh-key"):
        ask_project(tx, found.organization_id, project_id, "edited", after=AFTER_EDIT)
