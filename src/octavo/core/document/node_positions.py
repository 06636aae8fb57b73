"""Locate nodes by their block, the exact text of the block, and the path within the block, regardless of how the text
is parsed. This way, nodes can be found again if a later version of the parser assigns them different keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from hashlib import blake2b

from .keys import inner_nodes, keyed_nodes
from .nodes import Block, Document, Fragment


def list_node_positions(document: Document) -> dict[str, str]:
    """Return the position of each node of an unedited document, by its key."""
    return {node.key: place for place, node in _placed(document) if node.key is not None}


def restore_keys(document: Document, places: Mapping[str, str], kept: Collection[str]) -> None:
    """Restore the keys of nodes at these positions, in place. ``places``: the positions by key. Keys that the document
    already has are kept, and so are the keys in ``kept``."""
    there = {node.key for node in keyed_nodes(document)}
    lost = {place: key for key, place in places.items() if key not in there}
    if not lost:
        return
    for place, node in _placed(document):
        if place in lost and node.key not in kept:
            node.key = lost[place]


def _placed(document: Document) -> Iterator[tuple[str, Block | Fragment]]:
    counts: Counter[str] = Counter()
    for block in document.nodes:
        source = (block.source or "").strip().encode("utf-8", "surrogatepass")
        digest = blake2b(source, digest_size=8).hexdigest()
        place = f"{digest}:{counts[digest]}"
        counts[digest] += 1
        waiting: list[tuple[str, Block | Fragment]] = [(place, block)]
        while waiting:
            here, node = waiting.pop()
            yield here, node
            waiting += ((f"{here}.{n}", inner) for n, inner in enumerate(inner_nodes(node)))
