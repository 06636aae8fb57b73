"""Job that analyzes conversations in batches. Each batch is written in one short transaction."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from octavo.assistants.models.embedding import Embedder, decode_vector, encode_vector, find_embedder
from octavo.kit import ids
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.scheduling import deadlines
from octavo.kit.work.jobs import advance, job

from . import store
from .analyzing import Issue, find_issues
from .clustering import Clustering, count_words, decode_words, encode_words
from .describing import describe
from .embeddings import IssueMeaning, Scale, read_meanings, read_scale
from .ingesting import JOB
from .store import ConversationRow, NewCluster, NewIssue
from .titles import schedule_naming
from .types import Part

BATCH = 500
MAX_CLUSTERS = 20_000
"""Maximum number of clusters to compare with issues. The most recently changed clusters are used."""
_EXAMPLES = 30
"""Maximum number of issues to use when describing a cluster."""


class BatchOutdated(Exception):
    """Raised if a conversation or the clusters changed while a batch was being analyzed. The batch must be
    repeated."""


class _Batch(Struct):
    conversations: Sequence[ConversationRow]
    issues: list[NewIssue]
    clusters: list[NewCluster]


@job(JOB, bound=None, seconds=1800, formerly="analyseConversations")
def analyze_conversations(context: Context, organization_id: str) -> None:
    """Analyze the pending conversations of an organization."""
    with context.db.read() as tx:
        embedder = find_embedder(context, tx, organization_id, None)
    scale = read_scale(embedder)
    if scale is None:
        embedder = None
    version, clustering = _load(context, organization_id, embedder, scale)
    while True:
        deadlines.check()
        with context.db.read() as tx:
            waiting = store.list_waiting(tx, organization_id, BATCH)
        if not waiting:
            break
        found = []
        for row in waiting:
            deadlines.check()
            found.append(find_issues(row.subject, msgspec.json.decode(row.parts, type=list[Part])))
        texts = [issue.text for issues in found for issue in issues]
        meanings = read_meanings(embedder, texts)
        if meanings is None:
            # After a failure, process the remaining batches without the model instead of waiting for it
            # again.
            embedder = None
        with context.db.read() as tx:
            batch = _analyze(tx, clustering, waiting, found, meanings or [None] * len(texts))
        try:
            with context.db.write() as tx:
                _write(tx, organization_id, version, clustering, batch, embedder)
                advance(tx)
            version += 1
        except BatchOutdated:
            version, clustering = _load(context, organization_id, embedder, scale)
    with context.db.write() as tx:
        schedule_naming(tx, context, organization_id)


def _load(
    context: Context, organization_id: str, embedder: Embedder | None, scale: Scale | None
) -> tuple[int, Clustering]:
    with context.db.read() as tx:
        version, issues, words = store.read_vocabulary(tx, organization_id)
        clustering = Clustering(issues, words, scale)
        for cluster_id, size, vector in store.read_vectors(tx, organization_id, MAX_CLUSTERS):
            clustering.add_cluster(cluster_id, size, decode_words(vector))
        if embedder is not None:
            latest = list(clustering.sizes)
            for at in range(0, len(latest), BATCH):
                kept = store.read_meanings(tx, embedder.model, latest[at : at + BATCH])
                for cluster_id, total in kept.items():
                    clustering.meanings.put(cluster_id, decode_vector(total))
                if clustering.meanings.is_full:
                    break
    return version, clustering


def _analyze(
    tx: Transaction,
    clustering: Clustering,
    conversations: Sequence[ConversationRow],
    issues: Sequence[Sequence[Issue]],
    meanings: Sequence[IssueMeaning | None],
) -> _Batch:
    """Return a batch's issues with the clusters that they join. ``issues``: the issues of each conversation.
    ``meanings``: the meaning of each issue. This function doesn't write to the database."""
    kept = store.list_issue_ids(tx, [row.id for row in conversations])
    found: list[tuple[NewIssue, Issue]] = []
    for row, own in zip(conversations, issues, strict=True):
        known = iter(kept.get(row.id, ()))
        for issue in own:
            new = NewIssue(next(known, None) or ids.new_id(), row, "", issue.title, issue.summary)
            found.append((new, issue))
    counted = [count_words(issue.title, issue.summary) for _, issue in found]
    for words in counted:
        clustering.learn(words)
    begun: dict[str, int] = {}
    for at, (new, _) in enumerate(found):
        deadlines.check()
        near = clustering.find(counted[at], meanings[at])
        new.cluster_id = near or ids.new_id()
        if near is None:
            begun[new.cluster_id] = at
        clustering.join(new.cluster_id, counted[at], meanings[at])
    # An issue that was processed before any similar issue got its own cluster, so look for a better one now.
    for cluster_id, at in begun.items():
        if clustering.sizes[cluster_id] == 1:
            clustering.dissolve(cluster_id)
            near = clustering.find(counted[at], meanings[at])
            found[at][0].cluster_id = near or cluster_id
            clustering.join(near or cluster_id, counted[at], meanings[at])
    return _Batch(
        conversations, [new for new, _ in found], _describe_clusters(tx, clustering, conversations, found)
    )


def _describe_clusters(
    tx: Transaction,
    clustering: Clustering,
    conversations: Sequence[ConversationRow],
    found: Sequence[tuple[NewIssue, Issue]],
) -> list[NewCluster]:
    """Return the clusters that the issues of a batch have joined, ready to be stored."""
    joined: dict[str, list[Issue]] = {}
    for new, issue in found:
        joined.setdefault(new.cluster_id, []).append(issue)
    again = {row.id for row in conversations}
    clusters = []
    for cluster_id, issues in joined.items():
        deadlines.check()
        examples = issues[-_EXAMPLES:]
        if len(examples) < _EXAMPLES and clustering.sizes[cluster_id] > len(issues):
            recent = store.list_recent_issues(tx, cluster_id, _EXAMPLES - len(examples))
            examples += [Issue(title, summary) for id, title, summary in recent if id not in again]
        description = describe(clustering, cluster_id, examples)
        vector = encode_words(clustering.vectors[cluster_id])
        clusters.append(
            NewCluster(cluster_id, description.label, description.summary, description.icon, vector)
        )
    return clusters


def _write(
    tx: Transaction,
    organization_id: str,
    version: int,
    clustering: Clustering,
    batch: _Batch,
    embedder: Embedder | None,
) -> None:
    """Write the results of a batch. Raises BatchOutdated if the conversations or clusters have changed."""
    if not store.write_vocabulary(tx, organization_id, version, clustering.issues, clustering.words):
        raise BatchOutdated
    if not store.set_processed(tx, batch.conversations):
        raise BatchOutdated
    store.put_clusters(tx, organization_id, batch.clusters)
    if embedder is not None:
        totals = {cluster.id: clustering.meanings.get(cluster.id) for cluster in batch.clusters}
        meant = {id: encode_vector(total) for id, total in totals.items() if total is not None}
        store.put_meanings(tx, embedder.model, meant)
    left = store.replace_issues(tx, batch.conversations, batch.issues)
    store.count_clusters(tx, left | {cluster.id for cluster in batch.clusters})
