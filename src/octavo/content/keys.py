"""Node keys over edits. A text that is read gets keys made of its content; where an earlier edit carried a key
over from another text, that is kept beside the text, for its owner (a page or a reusable content) alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
from msgspec import Struct

from ..core.document import Document, assign_keys, carry_keys, keyed_nodes
from ..kit.db import Transaction
from .bodies import body_hash, get_body, parse_source


class KeptKeys(Struct, frozen=True):
    """``keys``: from the key that reading gives to the key that is kept, where they differ."""

    owner_id: str
    body: str
    keys: dict[str, str]


def keyed_document(
    tx: Transaction,
    owner_id: str,
    body: str | None,
    source: str | None = None,
    keys: Mapping[str, str] | None = None,
) -> Document:
    """The document of a source as written, every node with its key; ``source``: its text, and ``keys``: the keys that
    are kept, where they are known."""
    if body is None:
        return Document(nodes=[], gaps=[""])
    document = assign_keys(parse_source(body, lambda: get_body(tx, body) if source is None else source))
    if keys is not None:
        return _rename(document, keys)
    kept = tx.value(
        "SELECT keys FROM node_keys WHERE owner_id = :owner AND body = :body", owner=owner_id, body=body
    )
    return _rename(document, msgspec.json.decode(kept, type=dict[str, str])) if kept else document


def _rename(document: Document, keys: Mapping[str, str]) -> Document:
    for node in keyed_nodes(document):
        if node.key is not None and node.key in keys:
            node.key = keys[node.key]
    return document


def carried_keys(olds: Iterable[Document], text: str) -> dict[str, str]:
    """The keys to keep for a source that was edited from these documents; an earlier one goes before a later."""
    digest = body_hash(text)

    def parsed() -> Document:
        return parse_source(digest, lambda: text)

    plain = assign_keys(parsed())
    first, *others = olds
    nodes = keyed_nodes(plain)
    given = [node.key for node in nodes]
    for node in nodes:
        node.key = None
    carry_keys(first, plain)
    known = {node.key for node in keyed_nodes(first)}
    for other in others:
        # What the documents before do not know may be known to this one.
        again = keyed_nodes(carry_keys(other, parsed()))
        there = {node.key for node in keyed_nodes(other)}
        new = there - {node.key for node in nodes}
        for node, found in zip(nodes, again, strict=True):
            if node.key not in known and found.key in new:
                node.key = found.key
        known |= there
    return {
        was: node.key
        for was, node in zip(given, nodes, strict=True)
        if was is not None and node.key is not None and was != node.key
    }


def put_keys(tx: Transaction, kept: Iterable[KeptKeys]) -> None:
    tx.run_many(
        """INSERT INTO node_keys (owner_id, body, keys) VALUES (:owner, :body, :keys)
           ON CONFLICT (owner_id, body) DO NOTHING""",
        [
            {"owner": k.owner_id, "body": k.body, "keys": msgspec.json.encode(k.keys).decode()}
            for k in kept
            if k.keys
        ],
    )
