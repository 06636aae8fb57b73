"""Node keys over edits. A text that is read gets keys made of its content; where an earlier edit carried a key
over from another text, that is kept beside the text, for its owner (a page or a reusable content) alone."""

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


class Indexed(NamedTuple):
    """A source and its blocks."""

    text: str
    blocks: Index


_indexes: OwnCache[Indexed] = OwnCache("keys of blocks", 8)
_edits: OwnCache[tuple[Indexed, Indexed]] = OwnCache("edits of blocks", 4)


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
    return _rename(document, *_stored(tx, owner_id, body))


class _Stored(NamedTuple):
    """What is stored of a text: the keys that are kept, and where nodes are (see ``noting``)."""

    keys: dict[str, str]
    places: dict[str, str]


def _stored(tx: Transaction, owner_id: str, body: str) -> _Stored:
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
    """From the keys that reading this text gives to those that its nodes have, where they differ."""
    stored = _stored(tx, owner_id, body)
    if not stored.places:
        return stored.keys
    document = assign_keys(parse_source(body, lambda: get_body(tx, body)))
    given = [node.key for node in keyed_nodes(document)]
    return _renamed(given, [node.key for node in keyed_nodes(_rename(document, *stored))])


def block_index(
    tx: Transaction, owner_id: str, body: str, text: str | None = None, keys: Mapping[str, str] | None = None
) -> Indexed:
    """A source with its blocks and their keys. The page is read for it once; then each edit by blocks gives the index
    of what it makes. ``text``: the source, and ``keys``: those that are kept, where they are known."""
    stored = _stored(tx, owner_id, body) if keys is None else _Stored(dict(keys), {})
    found = _indexes.of(tx).get((owner_id, body, _encoded(stored.keys)))
    if found is None:
        source = get_body(tx, body) if text is None else text
        document = _rename(assign_keys(parse_source(body, lambda: source)), *stored)
        found = keep_index(tx, owner_id, body, source, index_blocks(document))
    return found


def keep_index(tx: Transaction, owner_id: str, body: str, text: str, index: Index) -> Indexed:
    """Has the next edit of a source know its blocks."""
    size = len(text) + 700 * len(index.entries) + 200 * len(index.kept)
    found = Indexed(text, index)
    _indexes.of(tx).put((owner_id, body, _encoded(index.kept)), found, size)
    return found


def note_edit(tx: Transaction, owner_id: str, was: Indexed, body: str, now: Indexed) -> None:
    """Has ``find_edit`` know of a source that became another one, ``body``."""
    size = len(was.text) + len(now.text)
    _edits.of(tx).put((owner_id, body_hash(was.text), body), (was, now), size)


def find_edit(tx: Transaction, owner_id: str, was: str, now: str) -> ChangedBlocks | None:
    """What an edit of some blocks, or of nothing but the head, made of a source; None where that is not known."""
    known = _edits.of(tx).get((owner_id, was, now))
    if known is not None:
        before, after = known
        return changed_blocks(
            split_page(before.text)[2], before.blocks, split_page(after.text)[2], after.blocks
        )
    if split_page(get_body(tx, was))[2] == split_page(get_body(tx, now))[2]:
        return ChangedBlocks(0, [], [], False)
    return None


def _rename(document: Document, keys: Mapping[str, str], places: Mapping[str, str] | None = None) -> Document:
    for node in keyed_nodes(document):
        if node.key is not None and node.key in keys:
            node.key = keys[node.key]
    if places:
        restore_keys(document, places, set(keys.values()))
    return document


def carried_keys(olds: Iterable[Document], text: str) -> dict[str, str]:
    """The keys to keep for a source that was edited from these documents. A node that one of them has as it is keeps that
    key before one that it is only like; and an earlier document goes before a later."""
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
        return _renamed(given, [node.key for node in keyed])
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
    return _renamed(given, kept)


def _renamed(given: Iterable[str | None], kept: Iterable[str | None]) -> dict[str, str]:
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
