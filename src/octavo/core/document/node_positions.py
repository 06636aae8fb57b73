"""Where the nodes of a text are, said without anything that a reader finds in it: in which block, by the exact text of
that block, and on which way down from there. It finds nodes again when a later reader gives them other keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from hashlib import blake2b
from typing import Any

from .keys import inner_nodes, keyed_nodes
from .nodes import Document


def whereabouts(document: Document) -> dict[str, str]:
    """Of a document as it was read, the place of each node by its key."""
    return {node.key: place for place, node in _placed(document) if node.key is not None}


def restore_keys(document: Document, places: Mapping[str, str], kept: Collection[str]) -> None:
    """Give nodes that are at these places their keys again, in place. ``places``: by key. A key that is there stays where
    it is, and so does one of ``kept``."""
    there = {node.key for node in keyed_nodes(document)}
    lost = {place: key for key, place in places.items() if key not in there}
    if not lost:
        return
    for place, node in _placed(document):
        if place in lost and node.key not in kept:
            node.key = lost[place]


def _placed(document: Document) -> Iterator[tuple[str, Any]]:
    counts: Counter[str] = Counter()
    for block in document.nodes:
        said = (block.source or "").strip().encode("utf-8", "surrogatepass")
        digest = blake2b(said, digest_size=8).hexdigest()
        place = f"{digest}:{counts[digest]}"
        counts[digest] += 1
        waiting: list[tuple[str, Any]] = [(place, block)]
        while waiting:
            here, node = waiting.pop()
            yield here, node
            waiting += ((f"{here}.{n}", inner) for n, inner in enumerate(inner_nodes(node)))
