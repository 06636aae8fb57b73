"""When spaces are synced: when main changes, when a hoster says that the branch did, when it is time to look, and when
somebody asks."""

from __future__ import annotations

from ..kit import outbox
from ..kit.clock import now
from ..kit.context import Context
from ..kit.db import Transaction
from ..kit.ids import new_id
from ..kit.jobs import job, running, schedule
from . import store
from .asking import AFTER_EDIT, SYNC, SYNC_PROJECT, Cause, ask, ask_project, notice_project

_SECONDS = 2 * 3600.0
_POLL_EVERY = 30.0
_MOST_POLLED = 500
_AGAIN = 5_000


@job(SYNC, attempts=4, seconds=_SECONDS)
def sync(context: Context, space: str, cause: Cause) -> None:
    """Brings a space and its repository into step. What goes wrong there is written down, and tried again in time."""
    # Loaded only where it is used: Git takes long to load.
    from .syncing import run_sync

    current = running.get()
    if run_sync(context, space, cause, current[0] if current else new_id()) is None:
        with context.db.write() as tx:
            organization = store.find_organization(tx, space)
            if organization is not None:
                ask(tx, organization, space, cause, after=_AGAIN)


def run_here(context: Context, space_id: str) -> str | None:
    """A sync in this thread, for whoever waits for it: what became of it, None where another one is at work."""
    from .syncing import run_sync

    return run_sync(context, space_id, "asked", new_id())


@job(SYNC_PROJECT, attempts=4, seconds=_SECONDS)
def sync_project(context: Context, project: str, cause: Cause) -> None:
    """Finds out which spaces a collection or a site is synced in, and syncs them."""
    from .project_running import run_project

    current = running.get()
    run_project(context, project, cause, current[0] if current else new_id())


def run_project_here(context: Context, project_id: str) -> str | None:
    """As ``run_here``, of a collection or a site."""
    from .project_running import run_project

    return run_project(context, project_id, "asked", new_id())


@job("pollGit", attempts=1)
def poll(context: Context) -> None:
    """Asks for a sync of every space, collection and site whose repository is to be looked at by now."""
    with context.db.write() as tx:
        for project_id, organization_id in store.list_due_projects(tx, _MOST_POLLED):
            store.set_project(tx, project_id, next_at=now() + store.HOLD)
            ask_project(tx, organization_id, project_id, "poll")
        for space_id, organization_id in store.list_due(tx, _MOST_POLLED):
            store.set_fields(tx, space_id, next_at=now() + store.HOLD)
            ask(tx, organization_id, space_id, "poll")


schedule("git-poll", _POLL_EVERY, "pollGit")


@job("removeGitCopies", attempts=1)
def remove_copies(context: Context) -> None:
    """Removes what was fetched for spaces that are synced no more."""
    from .repository import remove_copies as remove

    with context.db.read() as tx:
        kept = store.list_synced(tx)
    remove(context.settings.data_folder, kept)


schedule("git-copies", 86_400.0, "removeGitCopies")


@outbox.consumer("gitsync")
def notice_edit(tx: Transaction, event: outbox.Event) -> None:
    """A revision of main is to be committed, and one of a change request that has a branch; what came from a sync finds
    nothing to do."""
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
    found = store.find_sync(tx, event.space_id)
    if found is None or found.first is not None or found.status == "stopped":
        return
    if event.payload.get("revision") in (found.revision, found.pushing_revision):
        return
    ask(tx, event.organization_id, event.space_id, "edited", after=AFTER_EDIT)
