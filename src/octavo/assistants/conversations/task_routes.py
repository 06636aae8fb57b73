"""Operations on agent tasks, and the setup of agents."""

from __future__ import annotations

from octavo.kit.db.pagination import Listing, present_slice
from octavo.kit.http.bodies import or_none
from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import OrgAccess
from octavo.organization.access.roles import Can

from . import store, tasks, wire

operation = Area("ask").operation

_TASKS = "/orgs/{organizationId}/agent-tasks"
_TASK = _TASKS + "/{agentTaskId}"


@operation("listAgentTasks", "GET", _TASKS, needs=Can.VIEW, errors=(404,))
def list_tasks(call: Call, org: OrgAccess, query: wire.TasksQuery) -> Listing[wire.AgentTask]:
    """List the tasks in spaces that the caller can see, newest first."""
    with call.db.read() as tx:
        found = store.list_tasks(
            tx,
            org,
            cluster=query.cluster,
            space=query.space,
            statuses=query.status,
            limit=query.limit,
            page=query.page,
        )
    return present_slice(found, lambda task: wire.present_task(call, task))


@operation("createAgentTask", "POST", _TASKS, needs=Can.VIEW, status=201, errors=(400, 403, 404))
def create_task(call: Call, org: OrgAccess, body: wire.CreateTask) -> wire.AgentTask:
    """Create a task in a space that the caller can edit, optionally for a cluster."""
    with call.db.write() as tx:
        return wire.present_task(
            call,
            tasks.create(
                tx,
                org,
                body.space,
                cluster_id=or_none(body.cluster),
                title=or_none(body.title),
                description=body.description,
                instructions=or_none(body.instructions),
            ),
        )


@operation("getAgentTask", "GET", _TASK, needs=Can.VIEW, errors=(404,))
def get_task(call: Call, org: OrgAccess, agent_task_id: str) -> wire.AgentTask:
    """Get a task."""
    with call.db.read() as tx:
        return wire.present_task(call, tasks.get_task(tx, org, agent_task_id))


@operation(
    "updateAgentTask", "PATCH", _TASK, needs=Can.VIEW, errors=(400, 403, 404, 409), yields=("changes:write",)
)
def update_task(call: Call, org: OrgAccess, agent_task_id: str, body: wire.UpdateTask) -> wire.AgentTask:
    """Start a task, which creates a change request for it, or reopen or dismiss the task. Merging the change
    request completes the task."""
    with call.db.write() as tx:
        return wire.present_task(call, tasks.set_status(tx, org, agent_task_id, body.status))


@operation("getAgentSetupState", "GET", "/orgs/{organizationId}/agents-setup", needs=Can.VIEW_CONVERSATIONS)
def get_setup(call: Call, org: OrgAccess) -> wire.AgentsSetup:
    """Get the numbers of conversations, issues, clusters, and tasks."""
    with call.db.read() as tx:
        found = store.count_everything(tx, org.organization_id)
    by_status = {
        f"{status}_tasks": found.tasks.get(status, 0)
        for status in ("backlog", "started", "completed", "canceled")
    }
    stats = wire.SetupStats(
        conversations=found.conversations,
        issues=found.issues,
        issues_clusters=found.clusters,
        sources=found.sources,
        **by_status,
    )
    return wire.AgentsSetup("", {}, stats)
