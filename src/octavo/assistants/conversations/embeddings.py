"""Embeddings of issues, if an embedding model is configured. They match questions that have the same meaning but
share no words.

The similarity of the vectors of unrelated text varies widely between models. Therefore, each model is calibrated
once with pairs of questions that are known to have the same meaning: two vectors count as similar if their
similarity is closer to that of these pairs than to that of unrelated questions."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from heapq import nsmallest
from itertools import combinations
from operator import add, mul

from msgspec import Struct

from octavo.assistants.models.embedding import Embedder, Vector
from octavo.assistants.models.provider import ModelFailed
from octavo.errors import TooManyRequests

log = logging.getLogger("octavo.conversations")

ALIKE = 0.5
"""Similarity above which two passages are about the same subject, on a scale from 0 (unrelated) to 1 (identical)."""
MAX_BYTES = 64 * 1024 * 1024
"""Maximum memory in bytes for the vectors of clusters. Clusters beyond this limit are compared only by their words."""
_LEAST = 0.1
"""Minimum difference between the similarity of equivalent questions and the similarity of unrelated questions. If the
difference is smaller, a model's vectors aren't used."""
_PAIRS = (
    ("How do I reset my password?", "I forgot my password and cannot log in any more"),
    ("Where can I download my invoices?", "We need the invoices of last year for our accountant"),
    ("How do I invite a colleague to my team?", "Adding new people to the team does not work"),
    ("The pages load very slowly", "Why does it take so long until a page is loaded?"),
    ("How can I use my own domain?", "Connecting a custom domain name to our site"),
    ("Can I export everything as a PDF file?", "I would like to print the whole manual to a PDF"),
    ("How do I cancel my subscription?", "Please end our subscription, we do not want to pay any longer"),
    ("Search does not find anything", "There are no results when I search for a word"),
)


class IssueMeaning(Struct, frozen=True):
    """Meaning of an issue, represented by its vector. ``signs``: one bit for each number in the vector, which is
    set if the number is positive."""

    vector: Vector
    signs: int


class Scale(Struct, frozen=True):
    """Scale of a model's cosine similarities: the similarity between vectors for unrelated questions, and between
    vectors for two wordings of the same question."""

    unrelated: float
    same: float

    def read(self, cosine: float) -> float:
        """Convert the cosine similarity of two passages to a similarity on this scale. 1 or more means the same
        subject."""
        return (cosine - self.unrelated) / (self.same - self.unrelated) / ALIKE


class ClusterMeanings:
    """Meanings of an organization's clusters: for each cluster, the sum of its issues' vectors."""

    def __init__(self, scale: Scale | None) -> None:
        self.scale = scale
        self._sums: dict[str, Vector] = {}
        self._lengths: dict[str, float] = {}
        self._signs: dict[str, int] = {}
        self._bytes = 0

    @property
    def is_full(self) -> bool:
        return self._bytes >= MAX_BYTES

    def put(self, cluster_id: str, total: Vector) -> None:
        """Set the vector of a cluster, unless the memory limit is reached."""
        self.forget(cluster_id)
        length = math.sqrt(_product(total, total))
        if length and not self.is_full:
            self._sums[cluster_id], self._lengths[cluster_id] = total, length
            self._signs[cluster_id] = _signs(total)
            self._bytes += total.itemsize * len(total)

    def add(self, cluster_id: str, meaning: IssueMeaning) -> None:
        """Add an issue to a cluster. If the cluster doesn't have a vector, or its vector has a different length,
        the issue's vector becomes the cluster's vector."""
        known = self._sums.get(cluster_id)
        if known is None or len(known) != len(meaning.vector):
            self.put(cluster_id, meaning.vector)
        else:
            self.put(cluster_id, type(known)("f", map(add, known, meaning.vector)))

    def forget(self, cluster_id: str) -> None:
        total = self._sums.pop(cluster_id, None)
        if total is not None:
            del self._lengths[cluster_id], self._signs[cluster_id]
            self._bytes -= total.itemsize * len(total)

    def get(self, cluster_id: str) -> Vector | None:
        return self._sums.get(cluster_id)

    def find_nearest(self, meaning: IssueMeaning, count: int) -> list[str]:
        """Return the clusters that are probably most similar, according to the signs of the numbers in their
        vectors. The time that this takes is proportional to the number of clusters."""
        signs, wanted = self._signs, meaning.signs
        return nsmallest(count, signs, key=lambda each: ((signs[each] ^ wanted).bit_count(), each))

    def compare(self, meaning: IssueMeaning, cluster_id: str) -> float | None:
        """Return the similarity between an issue and a cluster; None if they can't be compared. 1 or more means the
        same subject."""
        total = self._sums.get(cluster_id)
        if self.scale is None or total is None or len(total) != len(meaning.vector):
            return None
        return self.scale.read(_product(total, meaning.vector) / self._lengths[cluster_id])


def read_meanings(embedder: Embedder | None, texts: Sequence[str]) -> list[IssueMeaning] | None:
    """Return the meanings of these passages; None if there is no model, or if the model fails (the log of model
    calls has the reason). Don't call this inside a transaction."""
    if embedder is None:
        return None
    try:
        vectors = embedder.embed("conversations", texts)
    except (ModelFailed, TooManyRequests) as error:
        log.warning("conversations are compared by words only: %s", error.message)
        return None
    return [IssueMeaning(vector, _signs(vector)) for vector in vectors]


def read_scale(embedder: Embedder | None) -> Scale | None:
    """Return the scale for interpreting a model's vectors; None if there is no model, if the model fails, or if its
    vectors aren't closer for similar passages."""
    meanings = read_meanings(embedder, [text for pair in _PAIRS for text in pair])
    if meanings is None:
        return None
    vectors = [meaning.vector for meaning in meanings]
    if len(set(map(len, vectors))) > 1:
        log.warning("conversations are compared by words only: the model's embeddings changed length")
        return None
    pairs = list(combinations(range(len(vectors)), 2))
    same = [_product(vectors[a], vectors[b]) for a, b in pairs if a // 2 == b // 2]
    unrelated = [_product(vectors[a], vectors[b]) for a, b in pairs if a // 2 != b // 2]
    found = Scale(sum(unrelated) / len(unrelated), sum(same) / len(same))
    if found.same - found.unrelated < _LEAST:
        log.warning(
            "conversations are compared by words only: the model's embeddings don't distinguish related texts"
        )
        return None
    return found


def _signs(vector: Vector) -> int:
    return int("".join("1" if number > 0 else "0" for number in vector), 2)


def _product(one: Vector, other: Vector) -> float:
    return float(sum(map(mul, one, other)))
