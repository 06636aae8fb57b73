"""Tree of a document's nodes. Markdown and JSON are converted to and from this tree.

The shapes match the API's rich-text documents one to one (``object`` block / inline / text, ``type``,
``data``, ``nodes``, ``fragments``), so producing the JSON is a plain tree walk. ``schema.py`` declares the
fields of a type; this module only defines the nodes themselves. Documents are trees, so their nodes don't
need garbage collection (``gc=False``); never create cycles of nodes. The tags let msgspec send a document
to another process unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct, field

Data = dict[str, Any]

MAX_NODES = 100_000
"""Maximum number of nodes and leaves in a document, several times as many as in the largest pages that people write. It
also limits the size of derived data, and the duration of steps that other threads can't interrupt."""


PARTS = "blocks, cells, and pieces of text"
"""Name for the counted parts of a page in error messages."""


class Mark(Struct, frozen=True, gc=False):
    """Mark on text: bold, italic, code, keyboard, strikethrough, superscript, subscript, or color (with
    data)."""

    type: str
    data: Data | None = None


# Most nodes have none: they share one empty list, which the type protects from changes.
NO_MARKS: Sequence[Mark] = []
NO_FRAGMENTS: Sequence[Fragment] = []


class Leaf(Struct, gc=False):
    text: str
    marks: Sequence[Mark] = field(default_factory=lambda: NO_MARKS)


class Text(Struct, gc=False, tag_field="object", tag="text"):
    leaves: list[Leaf]
    key: str | None = None


class Inline(Struct, gc=False, tag_field="object", tag="inline"):
    """Inline node: link, emoji, icon, expression, inline-math, inline-image, annotation, mention, button."""

    type: str
    data: Data = {}
    nodes: list[Text | Inline] = []
    fragments: Sequence[Fragment] = field(default_factory=lambda: NO_FRAGMENTS)
    key: str | None = None


class Fragment(Struct, gc=False, tag_field="object", tag="fragment"):
    """Part of a void block that contains blocks, such as a table cell, a caption, or the body of an expandable."""

    fragment: str
    nodes: list[Block]
    type: str | None = None
    key: str | None = None


class Block(Struct, gc=False, tag_field="object", tag="block"):
    """Block of a document. ``source``: the exact Markdown from which the block was parsed; ``None`` if the block was
    edited or sent as JSON. Only top-level blocks have a source."""

    type: str
    data: Data = {}
    nodes: list[Block | Inline | Text] = []
    fragments: Sequence[Fragment] = field(default_factory=lambda: NO_FRAGMENTS)
    key: str | None = None
    source: str | None = None


class Document(Struct):
    """Document as a tree of nodes. ``gaps[i]``: the exact text (blank lines, link definitions) before block ``i``; the
    last gap follows the last block. If no block was edited, gaps and sources together are the original Markdown.
    ``failed``: the lines, from 0, of blocks that couldn't be parsed and are kept as text. ``whole``: whether the whole
    text was parsed; otherwise, the last block contains the source beyond ``MAX_NODES``."""

    nodes: list[Block]
    gaps: list[str] = []
    failed: list[int] = []
    whole: bool = True


Inner = Block | Inline | Text | Fragment
Node = Document | Inner
Replacement = Sequence[Block | Inline | Text]
"""Nodes that replace another node; an empty list removes it."""


def is_plain(node: Block | Inline) -> bool:
    """Return whether a node contains only one text node, as most paragraphs and lines of code do. If so, callers can
    skip the search for other nodes."""
    return len(node.nodes) == 1 and type(node.nodes[0]) is Text and not node.fragments


def children(node: Node) -> list[Inner]:
    """Return the node's children in reading order: its nodes, followed by its fragments."""
    if isinstance(node, Text):
        return []
    if isinstance(node, (Document, Fragment)):
        return list(node.nodes)
    return [*node.nodes, *node.fragments]


def walk(node: Node) -> Iterator[Node]:
    """Yield the node and its descendants, depth first. This requires no recursion, because documents can be deep."""
    stack: list[Node] = [node]
    while stack:
        here = stack.pop()
        yield here
        if type(here) is not Text:
            stack.extend(reversed(children(here)))


def walk_blocks(document: Document) -> Iterator[Block]:
    """Yield all blocks, depth first."""
    stack: list[Inner] = list(reversed(document.nodes))
    while stack:
        node = stack.pop()
        if type(node) is Block:
            yield node
            if is_plain(node):
                continue
        stack.extend(child for child in reversed(children(node)) if type(child) is not Text)


def plain_text(node: Node) -> str:
    """Return the joined text leaves inside a node."""
    return "".join(leaf.text for n in walk(node) if isinstance(n, Text) for leaf in n.leaves)
