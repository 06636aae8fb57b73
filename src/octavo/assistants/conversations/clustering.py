"""Cluster issues about the same subject. Each issue joins the most similar cluster or starts a new cluster.

Clustering is incremental: each issue is processed once, and each cluster keeps its ID. For each cluster, the
frequency of each word in its issues is stored. Words are weighted by their rarity among all issues (TF-IDF). If a
model provides embeddings, they are also used to compare issues and clusters. This module does no I/O; callers read
and write the rows."""

from __future__ import annotations

import math
import zlib
from collections import Counter, defaultdict
from collections.abc import Mapping
from heapq import nlargest

import msgspec

from octavo.core.sentences import stems

from .embeddings import ClusterMeanings, IssueMeaning, Scale

SIMILAR = 0.28
"""Minimum cosine similarity for an issue to belong to a cluster."""
_WORDS = 1 << 16
"""Number of buckets into which words are hashed. Words in the same bucket are treated as the same word."""
_KEPT = 80
"""Maximum number of words stored per cluster. The most frequent words are kept."""
_CANDIDATES = 60
"""Maximum number of clusters to compare with an issue: those that share its rarest words."""
_WORD = 3
"""Weight of a single word relative to a pair of adjacent words."""

_NEAREST = 20
"""Number of clusters to preselect by words, and number of clusters to preselect by meaning. Only these clusters are
compared by both words and meaning."""
_ENOUGH = 1.5
"""Upper limit for the similarity of words when it is combined with the similarity of meaning. A similarity of 1
means the same subject."""

Vector = dict[int, float]


def word_number(word: str) -> int:
    return zlib.crc32(word.encode("utf-8", "surrogatepass")) % _WORDS


def count_words(title: str, text: str) -> Counter[int]:
    """Return the frequency of each word and each pair of adjacent words in an issue. Words in the title count twice."""
    found: Counter[int] = Counter()
    for part, times in ((title, 2), (text, 1)):
        words = stems(part)
        for word in words:
            found[word_number(word)] += _WORD * times
        for first, second in zip(words, words[1:], strict=False):
            found[word_number(f"{first} {second}")] += times
    return found


class Clustering:
    """Clusters of an organization in memory. ``scale``: the scale for interpreting the embeddings of issues, if
    there is a model."""

    def __init__(self, issues: int, words: Mapping[int, int], scale: Scale | None = None) -> None:
        self.issues = issues
        self.words: Counter[int] = Counter(words)
        self.vectors: dict[str, Counter[int]] = {}
        self.sizes: dict[str, int] = {}
        self.meanings = ClusterMeanings(scale)
        self._weighted: dict[str, Vector] = {}
        self._with: dict[int, set[str]] = defaultdict(set)

    def add_cluster(self, cluster_id: str, size: int, vector: Counter[int]) -> None:
        self.vectors[cluster_id], self.sizes[cluster_id] = vector, size
        for word in vector:
            self._with[word].add(cluster_id)

    def learn(self, issue: Mapping[int, int]) -> None:
        """Add an issue's words to the word counts of all issues. Call this for all issues of a batch before any of
        them joins a cluster, so that the batch is included when the rarity of words is computed."""
        self.issues += 1
        self.words.update(issue.keys())
        self._weighted.clear()

    def find(self, issue: Mapping[int, int], meaning: IssueMeaning | None = None) -> str | None:
        """Return the cluster that is most similar to an issue; None if no cluster is similar enough."""
        wanted = self._weight_words(issue)
        candidates = {each: _product(wanted, self._weights_of(each)) for each in self._find_sharing(wanted)}
        if meaning is None:
            near = {each: words / SIMILAR for each, words in candidates.items()}
        else:
            compared = set(nlargest(_NEAREST, candidates, key=lambda each: (candidates[each], each)))
            compared.update(self.meanings.find_nearest(meaning, _NEAREST))
            near = {each: self._compare(wanted, meaning, each) for each in compared}
        best = max(near, default=None, key=lambda each: (near[each], each))
        return best if best is not None and near[best] >= 1 else None

    def _find_sharing(self, wanted: Vector) -> set[str]:
        """Return the clusters that share the rarest words of an issue."""
        candidates: set[str] = set()
        for word in sorted(wanted, key=lambda word: (len(self._with.get(word, ())), word)):
            there = self._with.get(word, set())
            if candidates and len(candidates) + len(there) > _CANDIDATES:
                break
            candidates |= there
        return candidates

    def _compare(self, wanted: Vector, meaning: IssueMeaning, cluster_id: str) -> float:
        """Return the similarity between an issue and a cluster; 1 or more means the same subject. The result is the
        similarity of meaning or, if it is higher, the average of the similarities of meaning and of words."""
        words = _product(wanted, self._weights_of(cluster_id)) / SIMILAR
        meant = self.meanings.compare(meaning, cluster_id)
        if meant is None:
            return words
        return max(meant, (meant + min(words, _ENOUGH)) / 2)

    def join(self, cluster_id: str, issue: Mapping[int, int], meaning: IssueMeaning | None = None) -> None:
        """Add an issue to a cluster. The cluster is created if its ID is new."""
        if cluster_id not in self.vectors:
            self.add_cluster(cluster_id, 0, Counter())
        vector = self.vectors[cluster_id]
        vector.update(issue)
        self.sizes[cluster_id] += 1
        self._weighted.pop(cluster_id, None)
        for word in issue:
            self._with[word].add(cluster_id)
        if meaning is not None:
            self.meanings.add(cluster_id, meaning)

    def dissolve(self, cluster_id: str) -> None:
        """Remove a cluster whose only issue has moved to another cluster."""
        for word in self.vectors.pop(cluster_id):
            self._with[word].discard(cluster_id)
        del self.sizes[cluster_id]
        self.meanings.forget(cluster_id)
        self._weighted.pop(cluster_id, None)

    def likeness(self, issue: Mapping[int, int], cluster_id: str) -> float:
        """Return the cosine similarity between an issue and a cluster."""
        return _product(self._weight_words(issue), self._weights_of(cluster_id))

    def _weights_of(self, cluster_id: str) -> Vector:
        found = self._weighted.get(cluster_id)
        if found is None:
            found = self._weighted[cluster_id] = self._weight_words(self.vectors[cluster_id])
        return found

    def _weight_words(self, counts: Mapping[int, int]) -> Vector:
        weights = {word: count**0.5 * self._rareness(word) for word, count in counts.items()}
        length = math.sqrt(sum(weight * weight for weight in weights.values())) or 1.0
        return {word: weight / length for word, weight in weights.items()}

    def _rareness(self, word: int) -> float:
        return math.log((1 + self.issues) / (1 + self.words.get(word, 0))) + 1


def _product(one: Vector, other: Vector) -> float:
    if len(one) > len(other):
        one, other = other, one
    return sum(weight * other[word] for word, weight in one.items() if word in other)


def encode_words(vector: Counter[int]) -> str:
    """Return a cluster's word vector in its stored form, without the rarest words."""
    return msgspec.json.encode(sorted(vector.most_common(_KEPT))).decode()


def decode_words(stored: str) -> Counter[int]:
    return Counter(dict(msgspec.json.decode(stored, type=list[tuple[int, int]])))
