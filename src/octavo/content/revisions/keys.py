"""Keys of document nodes across edits.

When a source is parsed, its nodes get keys derived from their content. If an edit carried a key over from an earlier
source, that key is stored for the new source and its owner (a page or reusable content).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec
from msgspec import Struct

from octavo.core.document.blocks import ChangedBlocks, Index, changed_blocks, index_blocks
from octavo.core.document.keys import Digests, assign_keys, carry_keys, keyed_nodes
from octavo.core.document.node_positions import restore_keys
from octavo.core.document.nodes import Document
from octavo.core.document.page import split_page
from octavo.core.free_names import free_name
from octavo.kit.db.cache import OwnCache
from octavo.kit.db.database import Transaction

from .bodies import body_hash, get_body, parse_source


class IndexedSource(NamedTuple):
    """Source with the index of its blocks."""

    text: str
    blocks: Index


_indexes: OwnCache[IndexedSource] = OwnCache("block keys", 8)
_edits: OwnCache[tuple[IndexedSource, IndexedSource]] = OwnCache("block edits", 4)


class KeptKeys(Struct, frozen=True):
    """Keys carried over to a source. ``keys``: a map from the keys that nodes get when the source is parsed to their
    kept keys. Nodes whose two keys are equal are omitted."""

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
    """Return the stored document of a source, with the keys of all nodes. ``source``: its text, if known.
    ``keys``: its kept keys, if known."""
    if body is None:
        return Document(nodes=[], gaps=[""])
    document = assign_keys(parse_source(body, lambda: get_body(tx, body) if source is None else source))
    if keys is not None:
        return _replace_keys(document, keys)
    return _replace_keys(document, *_load_stored(tx, owner_id, body))


class _Stored(NamedTuple):
    """Stored data of a source: the kept keys, and the positions of nodes (see ``node_positions``)."""

    keys: dict[str, str]
    places: dict[str, str]


def _load_stored(tx: Transaction, owner_id: str, body: str) -> _Stored:
    row = tx.one(
        """SELECT (SELECT keys FROM node_keys WHERE owner_id = :owner AND body = :body),
             (SELECT places FROM node_whereabouts WHERE owner_id = :owner AND body = :body)""",
        owner=owner_id,
        body=body,
    )
    assert row is not None
    return _Stored(_decoded(row[0]), _decoded(row[1]))


def _decoded(kept: str | None) -> dict[str, str]:
    return msgspec.json.decode(kept, type=dict[str, str]) if kept else {}


def _encoded(keys: Mapping[str, str]) -> str:
    return msgspec.json.encode(keys).decode() if keys else ""


def find_kept_keys(tx: Transaction, owner_id: str, body: str) -> dict[str, str]:
    """Return a map from the keys that nodes get when this source is parsed to their kept keys. Nodes whose two keys are
    equal are omitted."""
    stored = _load_stored(tx, owner_id, body)
    if not stored.places:
        return stored.keys
    document = assign_keys(parse_source(body, lambda: get_body(tx, body)))
    given = [node.key for node in keyed_nodes(document)]
    return _diff_keys(given, [node.key for node in keyed_nodes(_replace_keys(document, *stored))])


def block_index(
    tx: Transaction, owner_id: str, body: str, text: str | None = None, keys: Mapping[str, str] | None = None
) -> IndexedSource:
    """Return a source with its blocks and their keys.

    The page is parsed only once; each block edit then provides the index of its result. ``text``: the source, if known.
    ``keys``: the kept keys, if known.
    """
    stored = _load_stored(tx, owner_id, body) if keys is None else _Stored(dict(keys), {})
    found = _indexes.of(tx).get((owner_id, body, _encoded(stored.keys)))
    if found is None:
        source = get_body(tx, body) if text is None else text
        document = _replace_keys(assign_keys(parse_source(body, lambda: source)), *stored)
        found = cache_index(tx, owner_id, body, source, index_blocks(document))
    return found


def cache_index(tx: Transaction, owner_id: str, body: str, text: str, index: Index) -> IndexedSource:
    """Cache the blocks of a source for its next edit."""
    size = len(text) + 700 * len(index.entries) + 200 * len(index.kept)
    found = IndexedSource(text, index)
    _indexes.of(tx).put((owner_id, body, _encoded(index.kept)), found, size)
    return found


def remember_edit(tx: Transaction, owner_id: str, was: IndexedSource, body: str, now: IndexedSource) -> None:
    """Record for ``find_edit`` that a source was changed to ``body``."""
    size = len(was.text) + len(now.text)
    _edits.of(tx).put((owner_id, body_hash(was.text), body), (was, now), size)


def find_edit(tx: Transaction, owner_id: str, was: str, now: str) -> ChangedBlocks | None:
    """Return the blocks of a source that an edit changed. The result is empty if the edit changed only the front
    matter, and None if the edit is unknown."""
    known = _edits.of(tx).get((owner_id, was, now))
    if known is not None:
        before, after = known
        return changed_blocks(
            split_page(before.text)[2], before.blocks, split_page(after.text)[2], after.blocks
        )
    if split_page(get_body(tx, was))[2] == split_page(get_body(tx, now))[2]:
        return ChangedBlocks(0, [], [], False)
    return None


def _replace_keys(
    document: Document, keys: Mapping[str, str], places: Mapping[str, str] | None = None
) -> Document:
    for node in keyed_nodes(document):
        if node.key is not None and node.key in keys:
            node.key = keys[node.key]
    if places:
        restore_keys(document, places, set(keys.values()))
    return document


def carried_keys(olds: Iterable[Document], text: str) -> dict[str, str]:
    """Return the keys to keep for a source that is an edited version of these documents.

    A node gets the key of an identical node rather than the key of a similar node. Earlier documents take precedence.
    """
    digest = body_hash(text)

    def parsed() -> Document:
        return parse_source(digest, lambda: text)

    plain = assign_keys(parsed())
    keyed = keyed_nodes(plain)
    given = [node.key for node in keyed]
    first, *others = olds
    if not others:
        for node in keyed:
            node.key = None
        carry_keys(first, plain)
        return _diff_keys(given, [node.key for node in keyed])
    digests = Digests(plain)
    kept: list[str | None] = [None] * len(given)
    known: set[str] = set()
    claimed: set[str] = set()
    alike: list[tuple[int, str]] = []
    for old in (first, *others):
        now = keyed_nodes(carry_keys(old, parsed()))
        was = Digests(old)
        there = {node.key: was.of(node) for node in keyed_nodes(old) if node.key}
        known |= there.keys()
        for at, node in enumerate(now):
            key = node.key
            if key is None or key not in there:
                continue
            if there[key] != digests.of(keyed[at]):
                alike.append((at, key))
            elif kept[at] is None and key not in claimed:
                kept[at] = key
                claimed.add(key)
    for at, key in alike:
        if kept[at] is None and key not in claimed:
            kept[at] = key
            claimed.add(key)
    known |= claimed
    for at, key in enumerate(given):
        if kept[at] is None and key is not None:
            name = kept[at] = free_name(key, known.__contains__)
            known.add(name)
    return _diff_keys(given, kept)


def _diff_keys(given: Iterable[str | None], kept: Iterable[str | None]) -> dict[str, str]:
    return {
        was: now
        for was, now in zip(given, kept, strict=True)
        if was is not None and now is not None and was != now
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
