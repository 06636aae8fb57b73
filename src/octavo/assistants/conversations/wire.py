"""Wire format of conversations, issues, clusters, and agent tasks."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from octavo.core.document.description import DocumentNodes, DocumentObject
from octavo.kit.clock import iso
from octavo.kit.db.pagination import Order, PageQuery
from octavo.kit.http.operation import Recipient
from octavo.kit.texts import NOT_BLANK, pattern

from .store import ClusterRow, ConversationRow, IssueRow, TaskRow
from .types import Part, TaskStatus

MAX_BATCH = 1000
"""Maximum number of conversations in one request."""
WEEKS = 13

SOURCE = pattern(
    r"^(email|integration:[^:\s]{1,100}:[^:\s]{1,100})\Z", "be `email` or `integration:NAME:INSTALLATION`"
)

Source = Annotated[str, Meta(pattern=SOURCE)]


class IngestQuery(Struct):
    """Query parameters for submitting conversations. ``source``: the source of the conversations. An integration can
    specify only itself."""

    source: Source | UnsetType = UNSET


class ConversationsQuery(PageQuery, kw_only=True):
    source: str | None = None


class IssuesQuery(PageQuery, kw_only=True):
    cluster: str | None = None
    conversation: str | None = None


ClusterOrder = Literal["updatedAt", "issues", "conversations", "tasksTotal", "tasksBacklog", "tasksStarted"]


class ClustersQuery(PageQuery, kw_only=True):
    """Query parameters for listing clusters. ``status``: the status to filter by. `pending` and `running` never
    match, because clusters appear only after the analysis."""

    order: Order = "desc"
    order_by: ClusterOrder = "updatedAt"
    status: Literal["pending", "analysing"] | None = None


class ConversationUrls(Struct):
    location: str
    source: str | UnsetType = UNSET


class Conversation(Struct, rename="camel", kw_only=True):
    object: Literal["conversation"] = "conversation"
    id: str
    subject: str | UnsetType = UNSET
    created_at: str
    processed_at: str | UnsetType = UNSET
    source: str
    urls: ConversationUrls


class ShownMetadata(Struct, rename="camel"):
    attributes: dict[str, str]
    created_at: str
    url: str | UnsetType = UNSET


class ConversationDetails(Struct):
    conversation: Conversation
    parts: list[Part]
    metadata: ShownMetadata


class ConversationLocation(Struct):
    location: str


class ConversationIssue(Struct, rename="camel", kw_only=True):
    object: Literal["conversation-issue"] = "conversation-issue"
    id: str
    title: str
    summary: str
    created_at: str
    ingested_at: str
    conversation: str
    cluster: str | UnsetType = UNSET
    urls: ConversationLocation


class IssueWithConversation(Struct):
    issue: ConversationIssue
    conversation: Conversation


class ClusterStats(Struct, rename="camel", kw_only=True):
    issues: int
    conversations: int
    tasks_total: int
    tasks_backlog: int
    tasks_started: int
    tasks_completed: int
    tasks_cancelled: int


class ClusterUrls(Struct):
    app: str
    location: str


class Cluster(Struct, rename="camel", kw_only=True):
    """Cluster of issues. ``weekly_pulse``: the number of issues in each of the last 13 weeks, oldest
    first."""

    object: Literal["issues-cluster"] = "issues-cluster"
    id: str
    label: str
    summary: str
    icon: str
    created_at: str
    updated_at: str
    weekly_pulse: list[int]
    sources: dict[str, int]
    stats: ClusterStats
    urls: ClusterUrls


class AnsweringPage(Struct):
    """Page that matches a cluster in search."""

    space: str
    page: str
    title: str
    path: str
    urls: ClusterUrls


class AnsweringPages(Struct):
    """Pages that may answer a cluster's questions. ``answered``: whether any page contains at least half of the
    words in the cluster's issues."""

    items: list[AnsweringPage]
    answered: bool


# --- agent tasks --------------------------------------------------------------------------------------


class TasksQuery(PageQuery, kw_only=True):
    cluster: str | None = None
    space: str | None = None
    status: list[TaskStatus] | None = None


class CreateTask(Struct):
    """Task to create in a space. ``title``: the title; by default, the title of the task's cluster."""

    space: str
    cluster: str | UnsetType = UNSET
    title: Annotated[str, Meta(min_length=1, max_length=100, pattern=NOT_BLANK)] | UnsetType = UNSET
    description: Annotated[str, Meta(max_length=2000)] = ""
    instructions: DocumentObject | UnsetType = UNSET


class UpdateTask(Struct):
    status: Literal["backlog", "started", "canceled"]


class AgentTask(Struct, rename="camel", kw_only=True):
    object: Literal["agent-task"] = "agent-task"
    id: str
    title: str
    description: str
    instructions: DocumentNodes
    status: TaskStatus
    created_at: str
    updated_at: str
    space: str
    cluster: str | UnsetType = UNSET
    change_request: str | UnsetType = UNSET
    urls: ClusterUrls


class SetupStats(Struct, rename="camel", kw_only=True):
    backlog_tasks: int
    started_tasks: int
    completed_tasks: int
    canceled_tasks: int
    conversations: int
    issues: int
    issues_clusters: int
    sources: dict[str, int]


class AgentsSetup(Struct):
    """Setup of agents. ``email`` is always empty, because conversations can't be forwarded by email."""

    email: str
    settings: dict[str, Any]
    stats: SetupStats


# --- presenting ---------------------------------------------------------------------------------------


def present_conversation(to: Recipient, row: ConversationRow) -> Conversation:
    location = to.url(f"/orgs/{row.organization_id}/conversations/{row.id}")
    return Conversation(
        id=row.id,
        subject=row.subject if row.subject is not None else UNSET,
        created_at=iso(row.created_at),
        processed_at=iso(row.processed_at) if row.processed_at is not None else UNSET,
        source=row.source,
        urls=ConversationUrls(location, row.url or UNSET),
    )


def present_details(to: Recipient, row: ConversationRow) -> ConversationDetails:
    return ConversationDetails(
        present_conversation(to, row),
        msgspec.json.decode(row.parts, type=list[Part]),
        ShownMetadata(
            msgspec.json.decode(row.attributes, type=dict[str, str]), iso(row.created_at), row.url or UNSET
        ),
    )


def present_issue(to: Recipient, issue: IssueRow, conversation: ConversationRow) -> IssueWithConversation:
    shown = ConversationIssue(
        id=issue.id,
        title=issue.title,
        summary=issue.summary,
        created_at=iso(issue.created_at),
        ingested_at=iso(issue.ingested_at),
        conversation=issue.conversation_id,
        cluster=issue.cluster_id if issue.is_clustered else UNSET,
        urls=ConversationLocation(to.url(f"/orgs/{issue.organization_id}/conversations-issues/{issue.id}")),
    )
    return IssueWithConversation(shown, present_conversation(to, conversation))


def present_cluster(
    to: Recipient, row: ClusterRow, weekly_pulse: list[int], sources: dict[str, int]
) -> Cluster:
    return Cluster(
        id=row.id,
        label=row.label,
        summary=row.summary,
        icon=row.icon,
        created_at=iso(row.created_at),
        updated_at=iso(row.updated_at),
        weekly_pulse=weekly_pulse,
        sources=sources,
        stats=ClusterStats(
            issues=row.issues,
            conversations=row.conversations,
            tasks_total=row.tasks_total,
            tasks_backlog=row.tasks_backlog,
            tasks_started=row.tasks_started,
            tasks_completed=row.tasks_completed,
            tasks_cancelled=row.tasks_canceled,
        ),
        urls=ClusterUrls(
            to.app.organization(row.organization_id, f"conversations/{row.id}"),
            to.url(f"/orgs/{row.organization_id}/conversations-clusters/{row.id}"),
        ),
    )


def present_task(to: Recipient, row: TaskRow) -> AgentTask:
    return AgentTask(
        id=row.id,
        title=row.title,
        description=row.description,
        instructions=Raw(row.instructions.encode()),
        status=row.status,  # type: ignore[arg-type]
        created_at=iso(row.created_at),
        updated_at=iso(row.updated_at),
        space=row.space_id,
        cluster=row.cluster_id or UNSET,
        change_request=row.change_id or UNSET,
        urls=ClusterUrls(
            to.app.organization(row.organization_id, f"tasks/{row.id}"),
            to.url(f"/orgs/{row.organization_id}/agent-tasks/{row.id}"),
        ),
    )
