"""Blocks that are rendered from other data, such as an operation of an OpenAPI specification.

Packages register a ``Draw`` function, which converts a block to ordinary blocks so that all output formats support it:
HTML, Markdown, search, and PDF. The API returns the original block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from msgspec import Struct

from octavo.core.document.evaluating import replace_nodes
from octavo.core.document.nodes import Block, Document, walk_blocks
from octavo.kit.db.database import Transaction

from .computing import Requester
from .item_versions import Item

FindFile = Callable[[dict[str, Any], str], Item | None]
"""Function that returns the file that a reference in a block refers to, in the displayed state of the
space. The function also takes the block's type."""


class Drawing(Struct, frozen=True):
    """Rendering options. ``folded``: whether details can be collapsed and content can be placed side by side, as on a
    web page; otherwise, all content is in sequence, as in plain text. ``title``: the title of the page, which doesn't
    have to be repeated. ``written``: whether people wrote the page, so the block is only a part of it; otherwise, the
    page is computed. ``whole``: whether to include all details; otherwise, some collapsed details may be replaced with
    a link to the page that has all details."""

    asker: Requester
    folded: bool
    find_file: FindFile
    title: str = ""
    written: bool = True
    whole: bool = True


Draw = Callable[[Transaction, Drawing, list[Block]], list[list[Block] | None]]
"""Function that returns the replacement of each block of a page, or None to keep the block."""
StateOf = Callable[[Transaction, Requester, Any], str]
"""Function that returns the state that the rendering of blocks with this ``ref`` depends on. The same state always
gives the same rendering."""

_draw: dict[str, tuple[Draw, StateOf]] = {}


def register_renderer(types: Iterable[str], draw: Draw, state_of: StateOf) -> None:
    """Register the functions that render blocks of these types."""
    _draw.update(dict.fromkeys(types, (draw, state_of)))


class Drawn(Struct, frozen=True):
    """Source of a rendered block."""

    type: str
    ref: bytes


def list_rendering_states(tx: Transaction, asker: Requester, drawn: Iterable[Drawn]) -> tuple[str, ...]:
    """Return the states that a page with these rendered blocks depends on."""
    return tuple(_draw[each.type][1](tx, asker, msgspec.json.decode(each.ref)) for each in drawn)


def contains_rendered_blocks(document: Document) -> bool:
    """Return whether a document contains blocks that are rendered from other data."""
    return any(block.type in _draw for block in walk_blocks(document))


def with_content(block: Block, find_file: FindFile) -> Block:
    """Return the block in the format used for rendering, with the hash of the file that it refers to."""
    ref = block.data.get("ref")
    item = (
        find_file(ref, block.type) if isinstance(ref, dict) and ref.get("kind") in ("url", "file") else None
    )
    if item is None or item.content is None:
        return block
    return Block(
        block.type, {**block.data, "ref": {"kind": "file", "content": item.content, "name": item.name}}
    )


def draw_blocks(
    tx: Transaction,
    drawing: Drawing,
    document: Document,
    stays: Callable[[Block], bool] = lambda block: False,
) -> set[Drawn]:
    """Replace the blocks of a document with their renderings, in place, and return their sources. ``stays``: a function
    that returns whether to leave a block for another renderer."""
    there = [block for block in walk_blocks(document) if block.type in _draw and not stays(block)]
    blocks = [with_content(block, drawing.find_file) for block in there]
    drawn: dict[int, list[Block]] = {}
    for draw in {_draw[block.type][0] for block in blocks}:
        own = [n for n, block in enumerate(blocks) if _draw[block.type][0] is draw]
        for n, made in zip(own, draw(tx, drawing, [blocks[n] for n in own]), strict=True):
            if made is not None:
                drawn[id(there[n])] = made
    if drawn:
        replace_nodes(document, lambda node: drawn.get(id(node)), again=False)
    return set(map(_drawn, blocks))


def list_drawn(drawing: Drawing, document: Document) -> list[Drawn]:
    """Return the sources of a document's rendered blocks, in order, without rendering them."""
    return [
        _drawn(with_content(block, drawing.find_file))
        for block in walk_blocks(document)
        if block.type in _draw
    ]


def _drawn(block: Block) -> Drawn:
    return Drawn(block.type, msgspec.json.encode(block.data.get("ref"), order="sorted"))
