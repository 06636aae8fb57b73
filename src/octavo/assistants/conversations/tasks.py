"""Tasks for writers and agents, which can be created for a cluster, and the change requests for these tasks.

Starting a task creates a change request that is linked to the task's cluster. Merging the change request completes
the task."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from octavo.content.changes.saving import create as create_change
from octavo.core.document.json import DocumentError, from_json, to_json
from octavo.core.sentences import shorten
from octavo.errors import BadRequest, Conflict, NotFound, require_found
from octavo.kit.db.database import Transaction
from octavo.kit.work.outbox import Event, consumer
from octavo.organization.access.authorization import OrgAccess, space_access
from octavo.organization.access.roles import Can

from . import store
from .store import TaskRow

_MAX_SUBJECT = 100


def get_task(tx: Transaction, org: OrgAccess, task_id: str) -> TaskRow:
    """Return a task in a space that the caller can see. Raises NotFound if there is none."""
    missing = f"There is no agent task with the ID {task_id!r} in this organization."
    task = require_found(store.find_task(tx, org.organization_id, task_id), missing)
    try:
        space_access(tx, org.actor, Can.VIEW, task.space_id)
    except NotFound:
        raise NotFound(missing) from None
    return task


def create(
    tx: Transaction,
    org: OrgAccess,
    space_id: str,
    *,
    cluster_id: str | None = None,
    title: str | None = None,
    description: str = "",
    instructions: Mapping[str, object] | None = None,
) -> TaskRow:
    """Create a task in a space. Without a title, it gets the title of its cluster. ``instructions``: the
    instructions, as a JSON document. Raises NotFound if the space or cluster doesn't exist, Forbidden if
    the caller doesn't have access to the space, and BadRequest if a value is invalid."""
    space = space_access(tx, org.actor, Can.EDIT, space_id)
    if space.organization_id != org.organization_id:
        raise NotFound(f"space: there is no space with the ID {space_id!r} in this organization")
    if cluster_id is not None:
        cluster = store.find_cluster(tx, org.organization_id, cluster_id)
        if cluster is None:
            raise NotFound(f"cluster: there is no cluster with the ID {cluster_id!r} in this organization")
        title = title if title is not None else shorten(cluster.label, _MAX_SUBJECT)
        description = description or cluster.summary
    if title is None:
        raise BadRequest("title: is required for a task without a cluster")
    task_id = store.insert_task(
        tx,
        organization_id=org.organization_id,
        space_id=space.space_id,
        cluster_id=cluster_id,
        title=title,
        description=description,
        instructions=_read_instructions(instructions if instructions is not None else {"nodes": []}),
        created_by=org.user_id,
    )
    return get_task(tx, org, task_id)


def _read_instructions(given: Mapping[str, object]) -> str:
    try:
        return msgspec.json.encode(to_json(from_json(given))).decode()
    except DocumentError as error:
        raise BadRequest(f"instructions: {error}") from None


def set_status(tx: Transaction, org: OrgAccess, task_id: str, status: str) -> TaskRow:
    """Start a task (which creates its change request), reopen it, or dismiss it. Raises NotFound if the task
    doesn't exist, Forbidden if the caller doesn't have permission, and Conflict if the task is already completed."""
    task = get_task(tx, org, task_id)
    space = space_access(tx, org.actor, Can.EDIT, task.space_id)
    if task.status == "completed":
        raise Conflict(
            "This task was completed when its change request was merged. Create another task instead."
        )
    if task.status == status:
        return task
    change_id = task.change_id
    if status == "started" and change_id is None:
        change_id = create_change(tx, space, task.title, task.cluster_id).id
    store.set_task(tx, task, status, change_id)
    return get_task(tx, org, task_id)


@consumer("agentTasks")
def complete_merged(tx: Transaction, event: Event) -> None:
    """Complete the task of a merged change request."""
    if event.type == "change_request_merged":
        store.complete_tasks(tx, event.payload["change_request"])
