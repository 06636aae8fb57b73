"""The job that analyses conversations: a batch at a time, each written in one short transaction."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from ..kit import deadlines, ids
from ..kit.context import Context
from ..kit.db import Transaction
from ..kit.jobs import job
from . import store
from .analysing import Issue, find_issues
from .clustering import Clustering, count_words, decode_vector, encode_vector
from .describing import describe
from .ingesting import JOB
from .naming import name_later
from .store import ConversationRow, NewCluster, NewIssue
from .wire import Part

BATCH = 500
MAX_CLUSTERS = 20_000
"""Clusters that issues are compared with: those that changed last."""
_EXAMPLES = 30
"""Issues that a cluster is described by."""


class Moved(Exception):
    """A conversation, or what is known of all of them, was changed meanwhile: the batch is to be done again."""


class _Batch(Struct):
    conversations: Sequence[ConversationRow]
    issues: list[NewIssue]
    clusters: list[NewCluster]


@job(JOB, seconds=1800)
def analyse_conversations(context: Context, organization_id: str) -> None:
    """Analyses whatever waits in an organization."""
    version, clustering = _load(context, organization_id)
    while True:
        deadlines.check()
        with context.db.read() as tx:
            waiting = store.list_waiting(tx, organization_id, BATCH)
            if not waiting:
                break
            batch = _analyse(tx, clustering, waiting)
        try:
            with context.db.write() as tx:
                _write(tx, organization_id, version, clustering, batch)
            version += 1
        except Moved:
            version, clustering = _load(context, organization_id)
    with context.db.write() as tx:
        name_later(tx, context, organization_id)


def _load(context: Context, organization_id: str) -> tuple[int, Clustering]:
    with context.db.read() as tx:
        version, issues, words = store.read_vocabulary(tx, organization_id)
        clustering = Clustering(issues, words)
        for cluster_id, size, vector in store.read_vectors(tx, organization_id, MAX_CLUSTERS):
            clustering.add_cluster(cluster_id, size, decode_vector(vector))
    return version, clustering


def _analyse(tx: Transaction, clustering: Clustering, conversations: Sequence[ConversationRow]) -> _Batch:
    """The issues of a batch, and the clusters that they join. Writes nothing."""
    kept = store.list_issue_ids(tx, [row.id for row in conversations])
    found: list[tuple[NewIssue, Issue]] = []
    for row in conversations:
        known = iter(kept.get(row.id, ()))
        for issue in find_issues(row.subject, msgspec.json.decode(row.parts, type=list[Part])):
            new = NewIssue(next(known, None) or ids.new_id(), row, "", issue.title, issue.summary)
            found.append((new, issue))
    counted = [count_words(issue.title, issue.summary) for _, issue in found]
    for words in counted:
        clustering.learn(words)
    begun: dict[str, int] = {}
    for at, ((new, _), words) in enumerate(zip(found, counted, strict=True)):
        near = clustering.find(words)
        new.cluster_id = near[0] if near else ids.new_id()
        if near is None:
            begun[new.cluster_id] = at
        clustering.join(new.cluster_id, words)
    # What came before anything like it is looked at once more.
    for cluster_id, at in begun.items():
        if clustering.sizes[cluster_id] == 1:
            vector = clustering.vectors[cluster_id]
            clustering.dissolve(cluster_id)
            near = clustering.find(counted[at])
            found[at][0].cluster_id = near[0] if near else cluster_id
            if near:
                clustering.join(near[0], counted[at])
            else:
                clustering.add_cluster(cluster_id, 1, vector)
    return _Batch(conversations, [new for new, _ in found], _described(tx, clustering, conversations, found))


def _described(
    tx: Transaction,
    clustering: Clustering,
    conversations: Sequence[ConversationRow],
    found: Sequence[tuple[NewIssue, Issue]],
) -> list[NewCluster]:
    """The clusters that the issues of a batch joined, as they are to be stored."""
    joined: dict[str, list[Issue]] = {}
    for new, issue in found:
        joined.setdefault(new.cluster_id, []).append(issue)
    again = {row.id for row in conversations}
    clusters = []
    for cluster_id, issues in joined.items():
        examples = issues[-_EXAMPLES:]
        if len(examples) < _EXAMPLES and clustering.sizes[cluster_id] > len(issues):
            recent = store.list_recent_issues(tx, cluster_id, _EXAMPLES - len(examples))
            examples += [Issue(title, summary) for id, title, summary in recent if id not in again]
        said = describe(clustering, cluster_id, examples)
        vector = encode_vector(clustering.vectors[cluster_id])
        clusters.append(NewCluster(cluster_id, said.label, said.summary, said.icon, vector))
    return clusters


def _write(
    tx: Transaction, organization_id: str, version: int, clustering: Clustering, batch: _Batch
) -> None:
    """Raises Moved."""
    if not store.write_vocabulary(tx, organization_id, version, clustering.issues, clustering.words):
        raise Moved
    if not store.set_processed(tx, batch.conversations):
        raise Moved
    store.put_clusters(tx, organization_id, batch.clusters)
    left = store.replace_issues(tx, batch.conversations, batch.issues)
    store.count_clusters(tx, left | {cluster.id for cluster in batch.clusters})
