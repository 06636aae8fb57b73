"""Triggers for syncs: a change to the main version, a provider's webhook, the polling interval, or a person's
request."""

from __future__ import annotations

from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.ids import new_id
from octavo.kit.work import outbox
from octavo.kit.work.jobs import job, running, schedule

from . import store
from .requesting import AFTER_EDIT, AGAIN, SYNC, SYNC_PROJECT, Cause, ask, notice_project
from .store import Connected, ProjectRow, SyncRow

_SECONDS = 2 * 3600.0
_POLL_EVERY = 30.0
_MOST_POLLED = 500


@job(SYNC, bound=None, attempts=4, seconds=_SECONDS)
def sync(context: Context, space: str, cause: Cause) -> None:
    """Sync a space with its repository. Failures are recorded and retried later."""
    _run(context, SyncRow, space, cause)


@job(SYNC_PROJECT, bound=None, attempts=4, seconds=_SECONDS)
def sync_project(context: Context, project: str, cause: Cause) -> None:
    """Match the spaces of a collection or site with folders, and sync them."""
    _run(context, ProjectRow, project, cause)


def _run(context: Context, of: type[Connected], id: str, cause: Cause) -> None:
    current = running.get()
    if run_here(context, of, id, cause, current.id if current else new_id()) is None:
        with context.db.write() as tx:
            row = store.find(tx, of, id)
            organization = store.find_organization(tx, row) if row is not None else None
            if organization is not None:
                ask(tx, organization, of, id, cause, after=AGAIN)


def run_here(
    context: Context, of: type[Connected], id: str, cause: Cause = "asked", holder: str | None = None
) -> str | None:
    """Run a sync in this thread. Return its outcome, or None if another sync is running. Raises LeaseLost if
    another process has taken over the sync."""
    # Imported here because Git is slow to load.
    from .project_running import run_project
    from .syncing import run_sync

    run = run_sync if of is SyncRow else run_project
    return run(context, id, cause, holder or new_id())


@job("pollGit", bound="a batch of spaces", attempts=1)
def poll(context: Context) -> None:
    """Request a sync of every space, collection, and site that is due for polling."""
    with context.db.write() as tx:
        for of in (ProjectRow, SyncRow):
            for id, organization_id in store.take_due(tx, of, _MOST_POLLED):
                ask(tx, organization_id, of, id, "poll")


schedule("git-poll", _POLL_EVERY, "pollGit")


@job("removeGitCopies", bound=None, attempts=1)
def remove_copies(context: Context) -> None:
    """Remove the repository copies of spaces that are no longer synced."""
    from .repository import remove_copies as remove

    with context.db.read() as tx:
        kept = store.list_synced(tx)
    remove(context.settings.data_folder, kept)


schedule("git-copies", 86_400.0, "removeGitCopies")


@outbox.consumer("gitsync")
def notice_edit(tx: Transaction, event: outbox.Event) -> None:
    """Request a sync to commit a revision of the main version, or of a change request that has a branch. If a sync
    created the revision, the requested sync finds no changes."""
    if event.space_id is None or event.organization_id is None:
        return
    if event.type in ("space_deleted", "space_restored"):
        for project_id in store.list_projects_of(tx, event.space_id):
            notice_project(tx, project_id)
        return
    if event.type == "change_request_content_updated":
        link = store.find_branch_of(tx, event.payload["change_request"])
        if link is None or not link.pushes:
            return
    elif event.type != "space_content_updated":
        return
    found = store.find(tx, SyncRow, event.space_id)
    if found is None or found.first is not None or found.status == "stopped":
        return
    if event.payload.get("revision") in (found.revision, found.pushing_revision):
        return
    ask(tx, event.organization_id, SyncRow, event.space_id, "edited", after=AFTER_EDIT)
