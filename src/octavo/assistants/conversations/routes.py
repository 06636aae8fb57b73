"""Operations on conversations, their issues, and clusters of issues."""

from __future__ import annotations

from octavo.errors import BadRequest, NotFound
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Listing, Slice, present_slice
from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import OrgAccess
from octavo.organization.access.roles import Can

from . import answering, ingesting, jobs, store, task_routes, wire
from .store import ClusterRow, ConversationRow
from .types import ConversationInput

operation = Area("conversations").operation

_CONVERSATIONS = "/orgs/{organizationId}/conversations"
_ISSUES = "/orgs/{organizationId}/conversations-issues"
_CLUSTERS = "/orgs/{organizationId}/conversations-clusters"

__all__ = ["jobs", "task_routes"]


@operation(
    "ingestConversation", "POST", _CONVERSATIONS, needs=Can.INGEST_CONVERSATIONS, status=204, errors=(400,)
)
def ingest_conversations(
    call: Call,
    org: OrgAccess,
    query: wire.IngestQuery,
    body: ConversationInput | list[ConversationInput],
) -> None:
    """Ingest one conversation, or up to 1000, for analysis. A stored conversation with the same ID and source is
    replaced. Submitting an unchanged conversation again has no effect. Personal data is masked before anything is
    stored."""
    given = body if isinstance(body, list) else [body]
    if len(given) > wire.MAX_BATCH:
        raise BadRequest(f"body: must contain at most {wire.MAX_BATCH} conversations")
    with call.db.write() as tx:
        source = ingesting.source_of(tx, org.actor, query.source)
        ingesting.ingest(tx, call.settings, org.organization_id, source, given)


@operation("listConversations", "GET", _CONVERSATIONS, needs=Can.VIEW_CONVERSATIONS)
def list_conversations(
    call: Call, org: OrgAccess, query: wire.ConversationsQuery
) -> Listing[wire.Conversation]:
    """List conversations, optionally from one source, newest first."""
    with call.db.read() as tx:
        found = store.list_conversations(tx, org.organization_id, query.source, query.limit, query.page)
    return present_slice(found, lambda row: wire.present_conversation(call, row))


@operation(
    "getConversationById",
    "GET",
    f"{_CONVERSATIONS}/{{conversationId}}",
    needs=Can.VIEW_CONVERSATIONS,
    errors=(404,),
)
def get_conversation(call: Call, org: OrgAccess, conversation_id: str) -> wire.ConversationDetails:
    """Get a conversation with its messages."""
    with call.db.read() as tx:
        row = _get_conversation(tx, org, conversation_id)
    return wire.present_details(call, row)


def _get_conversation(tx: Transaction, org: OrgAccess, conversation_id: str) -> ConversationRow:
    row = store.find_conversation(tx, org.organization_id, conversation_id)
    if row is None:
        raise NotFound(f"There is no conversation with the ID {conversation_id!r} in this organization.")
    return row


@operation("listConversationsIssues", "GET", _ISSUES, needs=Can.VIEW_CONVERSATIONS)
def list_issues(call: Call, org: OrgAccess, query: wire.IssuesQuery) -> Listing[wire.IssueWithConversation]:
    """List issues with their conversations, optionally from one cluster or conversation."""
    with call.db.read() as tx:
        found = store.list_issues(
            tx, org.organization_id, query.cluster, query.conversation, query.limit, query.page
        )
    return present_slice(found, lambda pair: wire.present_issue(call, *pair))


@operation(
    "getConversationIssueById", "GET", f"{_ISSUES}/{{issueId}}", needs=Can.VIEW_CONVERSATIONS, errors=(404,)
)
def get_issue(call: Call, org: OrgAccess, issue_id: str) -> wire.IssueWithConversation:
    """Get an issue with its conversation."""
    with call.db.read() as tx:
        found = store.find_issue(tx, org.organization_id, issue_id)
    if found is None:
        raise NotFound(f"There is no issue with the ID {issue_id!r} in this organization.")
    return wire.present_issue(call, *found)


def _get_cluster(tx: Transaction, org: OrgAccess, cluster_id: str) -> ClusterRow:
    row = store.find_cluster(tx, org.organization_id, cluster_id)
    if row is None:
        raise NotFound(f"There is no cluster with the ID {cluster_id!r} in this organization.")
    return row


def _present(call: Call, tx: Transaction, rows: list[ClusterRow]) -> list[wire.Cluster]:
    cluster_ids = [row.id for row in rows]
    weeks = store.count_weeks(tx, cluster_ids, wire.WEEKS)
    sources = store.count_sources(tx, cluster_ids)
    return [wire.present_cluster(call, row, weeks[row.id], sources[row.id]) for row in rows]


@operation(
    "listConversationsIssuesClusters",
    "GET",
    _CLUSTERS,
    needs=Can.VIEW_CONVERSATIONS,
    errors=(404,),
    agents="docs:gaps",
)
def list_clusters(call: Call, org: OrgAccess, query: wire.ClustersQuery) -> Listing[wire.Cluster]:
    """List clusters, which are groups of issues that several people raised."""
    if query.status is not None:
        return Listing([], 0)
    with call.db.read() as tx:
        found = store.list_clusters(
            tx, org.organization_id, query.order_by, query.order, query.limit, query.page
        )
        shown = Slice(_present(call, tx, list(found.rows)), found.count, found.next_token)
    return present_slice(shown, lambda cluster: cluster)


@operation(
    "getConversationsIssuesCluster",
    "GET",
    f"{_CLUSTERS}/{{clusterId}}",
    needs=Can.VIEW_CONVERSATIONS,
    errors=(404,),
)
def get_cluster(call: Call, org: OrgAccess, cluster_id: str) -> wire.Cluster:
    """Get a cluster."""
    with call.db.read() as tx:
        return _present(call, tx, [_get_cluster(tx, org, cluster_id)])[0]


@operation(
    "listPagesForConversationsIssuesCluster",
    "GET",
    f"{_CLUSTERS}/{{clusterId}}/pages",
    needs=Can.VIEW_CONVERSATIONS,
    errors=(404,),
    yields=("content:read",),
)
def list_answering_pages(call: Call, org: OrgAccess, cluster_id: str) -> wire.AnsweringPages:
    """List the pages that match a cluster in search, best first. The response also indicates whether one of these
    pages seems to answer the cluster's questions."""
    with call.db.read() as tx:
        found = answering.find_answering(tx, org, _get_cluster(tx, org, cluster_id))
    return wire.AnsweringPages(
        [
            wire.AnsweringPage(
                each.space_id,
                each.page_id,
                each.title,
                each.path,
                wire.ClusterUrls(
                    call.app.page(each.space_id, each.path),
                    call.url(f"/spaces/{each.space_id}/content/page/{each.page_id}"),
                ),
            )
            for each in found
        ],
        any(each.answers for each in found),
    )
