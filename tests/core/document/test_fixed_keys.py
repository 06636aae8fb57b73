"""Keys of nodes don't depend on the version of the reader, because comments, suggestions, and references
refer to them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import given

from document_strategies import documents
from octavo.core.document.blocks import BlockEdits, BlockPosition, index_blocks
from octavo.core.document.keys import Digests, assign_keys, carry_keys, keyed_nodes
from octavo.core.document.nodes import Block, Document, Inline, walk
from octavo.core.document.page import split_page
from octavo.core.document.reader import read
from octavo.core.document.schema import BLOCKS, INLINES

EVERY_NODE = Path(__file__).with_name("every_node.md")
KEYS = Path(__file__).with_name("every_node.keys")


def page() -> str:
    return split_page(EVERY_NODE.read_text())[2]


def with_data(document: Document) -> Iterator[Block | Inline]:
    for top in document.nodes:
        for node in walk(top):
            if isinstance(node, (Block, Inline)):
                yield node


def as_a_later_reader(document: Document) -> Document:
    """Return the document as a later reader that finds more in each node would return it."""
    for node in with_data(document):
        node.data = {"aLater": {"field": True}, **node.data, "later": "field"}
        if node.type == "table":
            for part in ("records", "definition"):
                entries: dict[str, dict[str, Any]] = node.data[part]
                node.data[part] = {id: {**entry, "later": 1} for id, entry in entries.items()}
            node.data["view"] = {**node.data["view"], "later": 1}
    return document


def keys(document: Document) -> list[str | None]:
    return [node.key for node in keyed_nodes(document)]


def test_the_page_has_every_type_of_node() -> None:
    found = {(type(node), node.type) for node in with_data(read(page()))}
    assert found >= {(Block, name) for name in BLOCKS} | {(Inline, name) for name in INLINES}


def test_keys_are_unchanged() -> None:
    found = [
        f"{node.type if isinstance(node, Block) else 'fragment'} {node.key}"
        for node in keyed_nodes(assign_keys(read(page())))
    ]
    # Never record these again: comments on existing servers refer to such keys.
    assert found == KEYS.read_text().splitlines()


def test_a_new_field_of_the_reader_changes_no_key() -> None:
    document = read(page())
    later = as_a_later_reader(read(page()))
    assert keys(assign_keys(later)) == keys(assign_keys(document))
    one, other = Digests(document), Digests(later)
    for was, now in zip(keyed_nodes(document), keyed_nodes(later), strict=True):
        assert one.name_of(was) == other.name_of(now)
        if isinstance(was, Block):
            # What a node says is another matter: an edit that sets the field changes the node.
            assert one.of(was) != other.of(now)


@given(documents)
def test_no_document_depends_on_later_fields(document: Document) -> None:
    names = [Digests(document).name_of(node) for node in document.nodes]
    later = as_a_later_reader(document)
    assert [Digests(later).name_of(node) for node in later.nodes] == names


def test_stored_keys_match_their_nodes_after_the_reader_changes() -> None:
    before = assign_keys(read("Same\n\n* one\n* two\n\nSame\n"))
    edited = "Same as ever\n\n* one\n* two and more\n\nSame\n"
    now = carry_keys(before, read(edited))
    kept = index_blocks(now).kept
    assert kept
    later = assign_keys(as_a_later_reader(read(edited)))
    assert [kept.get(key or "", key) for key in keys(later)] == keys(now)


def test_edits_of_blocks_keep_keys() -> None:
    text = 'One\n\n{% hint style="info" %}\nTwo\n{% endhint %}\n\nThree\n'
    document = assign_keys(read(text))
    for node in document.nodes:
        node.data = {**node.data, "later": 1}
    index = index_blocks(document)
    assert [entry.names for entry in index.entries] == [
        entry.names for entry in index_blocks(assign_keys(read(text))).entries
    ]
    edits = BlockEdits(text, index_blocks(assign_keys(read(text))))
    first, hint, _ = (node.key for node in document.nodes)
    assert first and hint
    edits.move([hint], BlockPosition(before=first), "blocks")
    assert edits.finish().index.kept == {}
