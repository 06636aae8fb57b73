"""Database access for conversations, issues, clusters, and tasks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from octavo.content.changes.store import forget_clusters
from octavo.kit import ids
from octavo.kit.clock import WEEK, now
from octavo.kit.db.database import Row, Transaction
from octavo.kit.db.pagination import Slice, list_page
from octavo.kit.db.tables import TABLES
from octavo.organization.access.authorization import OrgAccess
from octavo.organization.access.visibility import select_visible_spaces


class ConversationRow(Struct, frozen=True):
    """Submitted conversation with a customer. ``parts`` and ``attributes`` are JSON; times are in milliseconds."""

    id: str
    organization_id: str
    source: str
    subject: str | None
    url: str | None
    attributes: str
    parts: str
    version: int
    created_at: int
    ingested_at: int
    processed_at: int | None


class IssueRow(Struct, frozen=True):
    """Issue found in a conversation. ``is_clustered``: whether its cluster contains other issues, too."""

    id: str
    organization_id: str
    conversation_id: str
    cluster_id: str
    title: str
    summary: str
    created_at: int
    ingested_at: int
    is_clustered: bool


class ClusterRow(Struct, frozen=True):
    """Cluster of similar issues. ``vector`` is JSON."""

    id: str
    organization_id: str
    label: str
    summary: str
    icon: str
    vector: str
    issues: int
    conversations: int
    tasks_total: int
    tasks_backlog: int
    tasks_started: int
    tasks_completed: int
    tasks_canceled: int
    created_at: int
    updated_at: int


class TaskRow(Struct, frozen=True):
    """Task to improve the content that a cluster is about. ``instructions`` is JSON."""

    id: str
    organization_id: str
    space_id: str
    cluster_id: str | None
    change_id: str | None
    title: str
    description: str
    instructions: str
    status: str
    created_by: str
    created_at: int
    updated_at: int


def _columns(row: type[Struct], table: str, without: Sequence[str] = ()) -> str:
    return ", ".join(f"{table}.{name}" for name in row.__struct_fields__ if name not in without)


_CONVERSATION = _columns(ConversationRow, "c")
_ISSUE = f"{_columns(IssueRow, 'i', ['is_clustered'])}, k.issues > 1"
_CLUSTER = _columns(ClusterRow, "k")
_TASK = _columns(TaskRow, "t")


# --- conversations ------------------------------------------------------------------------------------


def put_conversation(
    tx: Transaction,
    organization_id: str,
    source: str,
    external_id: str,
    *,
    subject: str | None,
    url: str | None,
    attributes: str,
    parts: str,
    fingerprint: str,
    created_at: int | None,
) -> bool:
    """Insert or replace a conversation. Returns False if nothing changed.

    ``created_at``: the time of the conversation; if None, the time at which it was first submitted."""
    moment = now()
    return bool(
        tx.run(
            """INSERT INTO conversations (id, organization_id, source, external_id, subject, url, attributes, parts,
                                          fingerprint, created_at, ingested_at)
               VALUES (:id, :org, :source, :external, :subject, :url, :attributes, :parts, :fingerprint,
                       coalesce(:created, :at), :at)
               ON CONFLICT (organization_id, source, external_id) DO UPDATE SET
                 subject = excluded.subject, url = excluded.url, attributes = excluded.attributes,
                 parts = excluded.parts, fingerprint = excluded.fingerprint,
                 version = conversations.version + 1,
                 created_at = coalesce(:created, conversations.created_at), ingested_at = excluded.ingested_at,
                 processed_at = NULL
               WHERE conversations.fingerprint <> excluded.fingerprint""",
            id=ids.new_id(),
            org=organization_id,
            source=source,
            external=external_id,
            subject=subject,
            url=url,
            attributes=attributes,
            parts=parts,
            fingerprint=fingerprint,
            created=created_at,
            at=moment,
        )
    )


def find_conversation(tx: Transaction, organization_id: str, conversation_id: str) -> ConversationRow | None:
    row = tx.one(
        f"SELECT {_CONVERSATION} FROM conversations c WHERE c.id = :id AND c.organization_id = :org",
        id=conversation_id,
        org=organization_id,
    )
    return ConversationRow(*row) if row else None


def list_conversations(
    tx: Transaction, organization_id: str, source: str | None, limit: int, page: str | None
) -> Slice[ConversationRow]:
    """Return conversations, newest first."""
    where = f"c.organization_id = :org{' AND c.source = :source' if source is not None else ''}"
    return list_page(
        tx,
        limit,
        page,
        _CONVERSATION,
        f"FROM conversations c WHERE {where}",
        lambda row: ConversationRow(*row),
        by="c.created_at, c.id",
        key_types=(int, str),
        descending=True,
        org=organization_id,
        source=source,
    )


def list_waiting(tx: Transaction, organization_id: str, limit: int) -> list[ConversationRow]:
    """Return pending conversations, oldest first."""
    rows = tx.all(
        f"""SELECT {_CONVERSATION} FROM conversations c WHERE c.organization_id = :org AND c.processed_at IS NULL
            ORDER BY c.id LIMIT :limit""",
        org=organization_id,
        limit=limit,
    )
    return [ConversationRow(*row) for row in rows]


def set_processed(tx: Transaction, conversations: Sequence[ConversationRow]) -> bool:
    """Mark conversations as analyzed. Returns False if any of them was changed or deleted in the meantime."""
    found: dict[str, int] = dict(
        tx.all(
            "SELECT id, version FROM conversations WHERE id IN :ids", ids=[row.id for row in conversations]
        )
    )
    if found != {row.id: row.version for row in conversations}:
        return False
    tx.run(
        "UPDATE conversations SET processed_at = :at WHERE id IN :ids",
        at=now(),
        ids=[row.id for row in conversations],
    )
    return True


# --- issues -------------------------------------------------------------------------------------------


class NewIssue(Struct):
    """Issue to store. ``id``: the ID of the issue to replace, if any."""

    id: str
    conversation: ConversationRow
    cluster_id: str
    title: str
    summary: str


def list_issue_ids(tx: Transaction, conversation_ids: Sequence[str]) -> dict[str, list[str]]:
    """Return the IDs of the issues in conversations, oldest first."""
    found: dict[str, list[str]] = defaultdict(list)
    for conversation_id, issue_id in tx.all(
        "SELECT conversation_id, id FROM conversation_issues WHERE conversation_id IN :ids ORDER BY id",
        ids=conversation_ids,
    ):
        found[conversation_id].append(issue_id)
    return found


def replace_issues(
    tx: Transaction, conversations: Sequence[ConversationRow], issues: Sequence[NewIssue]
) -> set[str]:
    """Replace the issues of conversations. Returns the clusters from which issues were removed."""
    where = "conversation_id IN :ids"
    given = {"ids": [row.id for row in conversations]}
    left = {
        cluster
        for (cluster,) in tx.all(
            f"SELECT DISTINCT cluster_id FROM conversation_issues WHERE {where}", **given
        )
    }
    tx.run(f"DELETE FROM conversation_issues WHERE {where}", **given)
    tx.run_many(
        """INSERT INTO conversation_issues (id, organization_id, conversation_id, cluster_id, source, title, summary,
                                            created_at, ingested_at)
           VALUES (:id, :org, :conversation, :cluster, :source, :title, :summary, :created, :ingested)""",
        [
            {
                "id": issue.id,
                "org": issue.conversation.organization_id,
                "conversation": issue.conversation.id,
                "cluster": issue.cluster_id,
                "source": issue.conversation.source,
                "title": issue.title,
                "summary": issue.summary,
                "created": issue.conversation.created_at,
                "ingested": issue.conversation.ingested_at,
            }
            for issue in issues
        ],
    )
    return left


_ISSUES = """FROM conversation_issues i JOIN conversations c ON c.id = i.conversation_id
             JOIN issue_clusters k ON k.id = i.cluster_id"""


def _issue(row: Row) -> tuple[IssueRow, ConversationRow]:
    split = len(IssueRow.__struct_fields__)
    issue = IssueRow(*(*row[: split - 1], bool(row[split - 1])))
    return issue, ConversationRow(*row[split:])


def find_issue(
    tx: Transaction, organization_id: str, issue_id: str
) -> tuple[IssueRow, ConversationRow] | None:
    row = tx.one(
        f"SELECT {_ISSUE}, {_CONVERSATION} {_ISSUES} WHERE i.id = :id AND i.organization_id = :org",
        id=issue_id,
        org=organization_id,
    )
    return _issue(row) if row else None


def list_issues(
    tx: Transaction,
    organization_id: str,
    cluster: str | None,
    conversation: str | None,
    limit: int,
    page: str | None,
) -> Slice[tuple[IssueRow, ConversationRow]]:
    """Return issues, newest first, each with its conversation."""
    where, given = "i.organization_id = :org", {"org": organization_id}
    if cluster is not None:
        where, given = f"{where} AND i.cluster_id = :cluster AND k.issues > 1", {**given, "cluster": cluster}
    if conversation is not None:
        where, given = (
            f"{where} AND i.conversation_id = :conversation",
            {**given, "conversation": conversation},
        )
    joined = "JOIN issue_clusters k ON k.id = i.cluster_id" if cluster is not None else ""
    count = tx.value(f"SELECT count(*) FROM conversation_issues i {joined} WHERE {where}", **given)
    return list_page(
        tx,
        limit,
        page,
        f"{_ISSUE}, {_CONVERSATION}",
        f"{_ISSUES} WHERE {where}",
        _issue,
        by="i.created_at, i.id",
        key_types=(int, str),
        descending=True,
        count=count,
        **given,
    )


def list_recent_issues(tx: Transaction, cluster_id: str, limit: int) -> list[tuple[str, str, str]]:
    """Return the newest issues of a cluster: conversation, title, and summary."""
    return [
        (row[0], row[1], row[2])
        for row in tx.all(
            """SELECT conversation_id, title, summary FROM conversation_issues WHERE cluster_id = :cluster
               ORDER BY created_at DESC, id DESC LIMIT :limit""",
            cluster=cluster_id,
            limit=limit,
        )
    ]


class UnnamedIssue(Struct, frozen=True):
    """Issue that hasn't been named by a model yet. ``parts``: the parts of its conversation, as JSON."""

    id: str
    title: str
    summary: str
    parts: str


def list_unnamed_issues(tx: Transaction, organization_id: str, limit: int) -> list[UnnamedIssue]:
    """Return issues that no model has been asked to name yet."""
    rows = tx.all(
        """SELECT i.id, i.title, i.summary, c.parts FROM conversation_issues i
           JOIN conversations c ON c.id = i.conversation_id
           WHERE i.organization_id = :org AND i.named = 0 ORDER BY i.id LIMIT :limit""",
        org=organization_id,
        limit=limit,
    )
    return [UnnamedIssue(*row) for row in rows]


def name_issue(tx: Transaction, issue: UnnamedIssue, title: str, summary: str) -> None:
    """Set the title and summary of an issue, unless analysis has changed it in the meantime."""
    tx.run(
        """UPDATE conversation_issues SET title = :title, summary = :summary, named = 1
           WHERE id = :id AND title = :before AND summary = :summary_before""",
        id=issue.id,
        title=title,
        summary=summary,
        before=issue.title,
        summary_before=issue.summary,
    )


# --- clusters -----------------------------------------------------------------------------------------

_ORDERS = {
    "updatedAt": "updated_at",
    "issues": "issues",
    "conversations": "conversations",
    "tasksTotal": "tasks_total",
    "tasksBacklog": "tasks_backlog",
    "tasksStarted": "tasks_started",
}


def find_cluster(tx: Transaction, organization_id: str, cluster_id: str) -> ClusterRow | None:
    """Return a cluster if it is visible; otherwise, return None."""
    row = tx.one(
        f"SELECT {_CLUSTER} FROM issue_clusters k WHERE k.id = :id AND k.organization_id = :org AND k.issues > 1",
        id=cluster_id,
        org=organization_id,
    )
    return ClusterRow(*row) if row else None


def list_clusters(
    tx: Transaction, organization_id: str, order_by: str, order: str, limit: int, page: str | None
) -> Slice[ClusterRow]:
    """Return the visible clusters."""
    column = _ORDERS[order_by]
    source = "FROM issue_clusters k WHERE k.organization_id = :org AND k.issues > 1"
    return list_page(
        tx,
        limit,
        page,
        _CLUSTER,
        source,
        lambda row: ClusterRow(*row),
        by=f"k.{column}, k.id",
        key_types=(int, str),
        descending=order == "desc",
        org=organization_id,
    )


def count_weeks(tx: Transaction, cluster_ids: Sequence[str], weeks: int) -> dict[str, list[int]]:
    """Return, for each cluster, the number of its issues in each of the last weeks, oldest first."""
    this = now() // WEEK
    found = {cluster_id: [0] * weeks for cluster_id in cluster_ids}
    for cluster_id, week, count in tx.all(
        f"""SELECT cluster_id, created_at / {WEEK:d}, count(*) FROM conversation_issues
            WHERE cluster_id IN :ids AND created_at >= :start AND created_at < :finish
            GROUP BY cluster_id, created_at / {WEEK:d}""",
        ids=cluster_ids,
        start=(this - weeks + 1) * WEEK,
        finish=(this + 1) * WEEK,
    ):
        found[cluster_id][week - this + weeks - 1] = count
    return found


def count_sources(tx: Transaction, cluster_ids: Sequence[str]) -> dict[str, dict[str, int]]:
    """Return, for each cluster, the number of its issues by the source of their conversations."""
    found: dict[str, dict[str, int]] = {cluster_id: {} for cluster_id in cluster_ids}
    for cluster_id, source, count in tx.all(
        """SELECT cluster_id, source, count(*) FROM conversation_issues WHERE cluster_id IN :ids
           GROUP BY cluster_id, source ORDER BY cluster_id, source""",
        ids=cluster_ids,
    ):
        found[cluster_id][source] = count
    return found


def read_vectors(tx: Transaction, organization_id: str, limit: int) -> list[tuple[str, int, str]]:
    """Return the ID, number of issues, and vector of each of the most recently changed clusters."""
    return [
        (row[0], row[1], row[2])
        for row in tx.all(
            """SELECT id, issues, vector FROM issue_clusters WHERE organization_id = :org
               ORDER BY updated_at DESC, id DESC LIMIT :limit""",
            org=organization_id,
            limit=limit,
        )
    ]


def read_meanings(tx: Transaction, model: str, cluster_ids: Sequence[str]) -> dict[str, bytes]:
    """Return the sum of a model's vectors for the issues of each cluster. Clusters without vectors are omitted."""
    rows = tx.all(
        "SELECT cluster_id, vector FROM cluster_embeddings WHERE cluster_id IN :ids AND model = :model",
        ids=cluster_ids,
        model=model,
    )
    return {cluster_id: bytes(vector) for cluster_id, vector in rows}


def put_meanings(tx: Transaction, model: str, vectors: Mapping[str, bytes]) -> None:
    tx.run_many(
        """INSERT INTO cluster_embeddings (cluster_id, model, vector) VALUES (:cluster, :model, :vector)
           ON CONFLICT (cluster_id) DO UPDATE SET model = excluded.model, vector = excluded.vector""",
        [{"cluster": id, "model": model, "vector": vectors[id]} for id in sorted(vectors)],
    )


def read_vocabulary(tx: Transaction, organization_id: str) -> tuple[int, int, dict[int, int]]:
    """Return the version of the vocabulary, the total number of issues, and the number of issues that contain each
    word."""
    row = tx.one(
        "SELECT version, issues, words FROM issue_vocabularies WHERE organization_id = :org",
        org=organization_id,
    )
    if row is None:
        return 0, 0, {}
    return row[0], row[1], msgspec.json.decode(row[2], type=dict[int, int])


def write_vocabulary(
    tx: Transaction, organization_id: str, version: int, issues: int, words: Mapping[int, int]
) -> bool:
    """Write the vocabulary as the version after ``version``. Returns False if another batch was written in
    the meantime."""
    given: dict[str, Any] = {
        "org": organization_id,
        "version": version,
        "issues": issues,
        "words": msgspec.json.encode(words).decode(),
    }
    if version == 0:
        return bool(
            tx.run(
                """INSERT INTO issue_vocabularies (organization_id, version, issues, words)
                   VALUES (:org, :version + 1, :issues, :words) ON CONFLICT (organization_id) DO NOTHING""",
                **given,
            )
        )
    return bool(
        tx.run(
            """UPDATE issue_vocabularies SET version = :version + 1, issues = :issues, words = :words
               WHERE organization_id = :org AND version = :version""",
            **given,
        )
    )


class NewCluster(Struct):
    """Cluster to store, new or existing. ``vector``: the vector in its stored form."""

    id: str
    label: str
    summary: str
    icon: str
    vector: str


def put_clusters(tx: Transaction, organization_id: str, clusters: Iterable[NewCluster]) -> None:
    moment = now()
    tx.run_many(
        """INSERT INTO issue_clusters (id, organization_id, label, summary, icon, vector, created_at, updated_at)
           VALUES (:id, :org, :label, :summary, :icon, :vector, :at, :at)
           ON CONFLICT (id) DO UPDATE SET
             label = CASE WHEN issue_clusters.by_model = 1 THEN issue_clusters.label ELSE excluded.label END,
             summary = CASE WHEN issue_clusters.by_model = 1 THEN issue_clusters.summary ELSE excluded.summary END,
             icon = excluded.icon, vector = excluded.vector, updated_at = excluded.updated_at""",
        [{"org": organization_id, "at": moment, **msgspec.structs.asdict(cluster)} for cluster in clusters],
    )


def list_unnamed_clusters(tx: Transaction, organization_id: str, limit: int) -> list[tuple[str, int]]:
    """Return visible clusters that have at least twice as many issues as when a model was last asked for their
    label, each with its number of issues."""
    return [
        (row[0], row[1])
        for row in tx.all(
            """SELECT id, issues FROM issue_clusters
               WHERE organization_id = :org AND issues > 1 AND issues >= 2 * named_issues
               ORDER BY id LIMIT :limit""",
            org=organization_id,
            limit=limit,
        )
    ]


def name_cluster(tx: Transaction, cluster_id: str, issues: int, named: tuple[str, str] | None) -> None:
    """Set the label and summary that a model returned for a cluster with this number of issues. ``named``: the
    label and summary; None if the model didn't return any."""
    tx.run("UPDATE issue_clusters SET named_issues = :issues WHERE id = :id", id=cluster_id, issues=issues)
    if named is not None:
        tx.run(
            "UPDATE issue_clusters SET label = :label, summary = :summary, by_model = 1 WHERE id = :id",
            id=cluster_id,
            label=named[0],
            summary=named[1],
        )


def count_clusters(tx: Transaction, cluster_ids: Iterable[str]) -> None:
    """Update the numbers of issues and conversations in clusters, and delete empty clusters on which no one has
    worked."""
    given = [{"id": cluster_id} for cluster_id in sorted(cluster_ids)]
    for count in TABLES["conversation_issues"].counts:
        tx.run_many(f"UPDATE issue_clusters SET {count.column} = ({count.query}) WHERE id = :id", given)
    tx.run_many(
        """DELETE FROM issue_clusters WHERE id = :id AND issues = 0 AND tasks_total = 0
             AND NOT EXISTS (SELECT 1 FROM change_requests r WHERE r.issues_cluster = :id)""",
        given,
    )


# --- tasks --------------------------------------------------------------------------------------------


def insert_task(
    tx: Transaction,
    *,
    organization_id: str,
    space_id: str,
    cluster_id: str | None,
    title: str,
    description: str,
    instructions: str,
    created_by: str,
) -> str:
    task_id = ids.new_id()
    moment = now()
    tx.insert(
        "agent_tasks",
        id=task_id,
        organization_id=organization_id,
        space_id=space_id,
        cluster_id=cluster_id,
        title=title,
        description=description,
        instructions=instructions,
        status="backlog",
        created_by=created_by,
        created_at=moment,
        updated_at=moment,
    )
    _count_tasks(tx, [cluster_id])
    return task_id


def set_task(tx: Transaction, task: TaskRow, status: str, change_id: str | None) -> None:
    tx.run(
        "UPDATE agent_tasks SET status = :status, change_id = :change, updated_at = :at WHERE id = :id",
        id=task.id,
        status=status,
        change=change_id,
        at=now(),
    )
    _count_tasks(tx, [task.cluster_id])


def complete_tasks(tx: Transaction, change_id: str) -> None:
    """Complete the tasks of a change request."""
    clusters = tx.all(
        "SELECT cluster_id FROM agent_tasks WHERE change_id = :change AND status = 'started'",
        change=change_id,
    )
    tx.run(
        """UPDATE agent_tasks SET status = 'completed', updated_at = :at
           WHERE change_id = :change AND status = 'started'""",
        change=change_id,
        at=now(),
    )
    _count_tasks(tx, [cluster for (cluster,) in clusters])


def remove_tasks_of_space(tx: Transaction, space_id: str) -> None:
    """Remove the tasks of a deleted or transferred space, and unlink its change requests from clusters."""
    clusters = tx.all("SELECT cluster_id FROM agent_tasks WHERE space_id = :space", space=space_id)
    tx.run("DELETE FROM agent_tasks WHERE space_id = :space", space=space_id)
    forget_clusters(tx, space_id)
    _count_tasks(tx, [cluster for (cluster,) in clusters])


def _count_tasks(tx: Transaction, cluster_ids: Iterable[str | None]) -> None:
    counted = {cluster_id for cluster_id in cluster_ids if cluster_id is not None}
    if counted:
        columns = ", ".join(f"{count.column} = ({count.query})" for count in TABLES["agent_tasks"].counts)
        tx.run(f"UPDATE issue_clusters SET {columns} WHERE id IN :ids", ids=sorted(counted))


def find_task(tx: Transaction, organization_id: str, task_id: str) -> TaskRow | None:
    row = tx.one(
        f"SELECT {_TASK} FROM agent_tasks t WHERE t.id = :id AND t.organization_id = :org",
        id=task_id,
        org=organization_id,
    )
    return TaskRow(*row) if row else None


def list_tasks(
    tx: Transaction,
    org: OrgAccess,
    *,
    cluster: str | None,
    space: str | None,
    statuses: Sequence[str] | None,
    limit: int,
    page: str | None,
) -> Slice[TaskRow]:
    """Return tasks in spaces that the caller can see, newest first."""
    seen = select_visible_spaces(org, "s.deleted_at IS NULL")
    where = f"t.organization_id = :org AND EXISTS (SELECT 1 FROM {seen.visible} v WHERE v.id = t.space_id)"
    given: dict[str, Any] = {"org": org.organization_id, **seen.parameters}
    for column, value in (("cluster_id", cluster), ("space_id", space)):
        if value is not None:
            where, given = f"{where} AND t.{column} = :{column}", {**given, column: value}
    if statuses is not None:
        where, given = f"{where} AND t.status IN :statuses", {**given, "statuses": list(statuses)}
    return list_page(
        tx,
        limit,
        page,
        _TASK,
        f"FROM agent_tasks t WHERE {where}",
        lambda row: TaskRow(*row),
        by="t.id",
        descending=True,
        before=seen.prefix,
        **given,
    )


class ConversationTotals(Struct, frozen=True):
    """Total numbers for an organization's conversations. ``tasks``: the number of tasks by status."""

    conversations: int
    issues: int
    clusters: int
    sources: dict[str, int]
    tasks: dict[str, int]


def count_everything(tx: Transaction, organization_id: str) -> ConversationTotals:
    org = {"org": organization_id}
    sources: dict[str, int] = dict(
        tx.all(
            "SELECT source, count(*) FROM conversations WHERE organization_id = :org GROUP BY source", **org
        )
    )
    tasks: dict[str, int] = dict(
        tx.all("SELECT status, count(*) FROM agent_tasks WHERE organization_id = :org GROUP BY status", **org)
    )
    return ConversationTotals(
        sum(sources.values()),
        tx.value("SELECT count(*) FROM conversation_issues WHERE organization_id = :org", **org),
        tx.value("SELECT count(*) FROM issue_clusters WHERE organization_id = :org AND issues > 1", **org),
        sources,
        tasks,
    )
