"""Declare the tables for conversations."""

from __future__ import annotations

from typing import get_args

from octavo.kit.db.tables import Count, Table, declare, person
from octavo.organization.spaces.hooks import on_purge, on_transfer

from .store import remove_tasks_of_space
from .types import TaskStatus

_OF_CLUSTER = "FROM conversation_issues i WHERE i.cluster_id = issue_clusters.id"
_TASKS = "SELECT count(*) FROM agent_tasks t WHERE t.cluster_id = issue_clusters.id"

declare(
    Table(
        name="conversations",
        of_organization="organization_id = :org",
        json={"attributes": dict[str, str], "parts": list[dict[str, str]]},
        long=("parts", "attributes", "url"),
    ),
    Table(name="issue_clusters", of_organization="organization_id = :org", json={"vector": list[list[int]]}),
    # A cluster without a vector gets one from the next issue that joins it.
    Table(name="cluster_embeddings", derived=True),
    Table(
        name="conversation_issues",
        of_organization="organization_id = :org",
        counts=(
            Count("issue_clusters", "issues", f"SELECT count(*) {_OF_CLUSTER}"),
            Count(
                "issue_clusters", "conversations", f"SELECT count(DISTINCT i.conversation_id) {_OF_CLUSTER}"
            ),
        ),
    ),
    Table(
        name="issue_vocabularies",
        of_organization="organization_id = :org",
        json={"words": dict[str, int]},
        long=("words",),
    ),
    Table(
        name="agent_tasks",
        of_space="space_id IN {spaces}",
        columns=(person("created_by"),),
        values={"status": get_args(TaskStatus)},
        json={"instructions": object},
        counts=(
            Count("issue_clusters", "tasks_total", _TASKS),
            *(
                Count("issue_clusters", f"tasks_{status}", f"{_TASKS} AND t.status = '{status}'")
                for status in get_args(TaskStatus)
            ),
        ),
    ),
)
on_transfer(lambda tx, space_id, organization_id: remove_tasks_of_space(tx, space_id))
on_purge(remove_tasks_of_space)
