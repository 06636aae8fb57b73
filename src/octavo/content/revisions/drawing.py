"""Blocks that are drawn from something else, such as an operation from an API's description.

Packages that know how register a ``Draw``. What a block becomes is ordinary blocks, so that everything that shows a
document shows it: HTML, Markdown, search and prints. The API gives the block itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from msgspec import Struct

from octavo.core.document.evaluating import replace_nodes
from octavo.core.document.nodes import Block, Document, walk_blocks
from octavo.kit.db.database import Transaction

from .computing import Asker
from .store import Item

FindFile = Callable[[dict[str, Any], str], Item | None]
"""The file of the space that a reference of a block of some type names, as the state that is shown has it."""


class Drawing(Struct, frozen=True):
    """For whom and for what something is drawn. ``folded``: details may be folded up and things are beside each
    other, as on a page that people read; otherwise everything is below each other, as in a text. ``title``: that
    of the page, which needs not be said again. ``written``: people wrote the page, and the block is one thing on it.
    ``whole``: all details are wanted; otherwise some that are folded up may be a link to the page with all of them."""

    asker: Asker
    folded: bool
    find_file: FindFile
    title: str = ""
    written: bool = True
    whole: bool = True


Draw = Callable[[Transaction, Drawing, list[Block]], list[list[Block] | None]]
"""What each of the blocks of a page becomes; None: it stays as it is."""
StateOf = Callable[[Transaction, Asker, Any], str]
"""What the drawing of blocks with this ``ref`` depends on: the same, the same drawing."""

_draw: dict[str, tuple[Draw, StateOf]] = {}


def draw_with(types: Iterable[str], draw: Draw, state_of: StateOf) -> None:
    """Registers who draws blocks of these types."""
    _draw.update(dict.fromkeys(types, (draw, state_of)))


class Drawn(Struct, frozen=True):
    """What blocks were drawn of."""

    type: str
    ref: bytes


def drawn_states(tx: Transaction, asker: Asker, drawn: Iterable[Drawn]) -> tuple[str, ...]:
    """What a page depends on that shows these drawings."""
    return tuple(_draw[each.type][1](tx, asker, msgspec.json.decode(each.ref)) for each in drawn)


def holds_drawings(document: Document) -> bool:
    """Whether there are blocks in it that are drawn from something else."""
    return any(block.type in _draw for block in walk_blocks(document))


def with_content(block: Block, find_file: FindFile) -> Block:
    """The block as it is drawn: a file that it names is there by the hash of its bytes."""
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
    """Puts, in place, what the blocks of a document are drawn as, and says of what. ``stays``: whether a block is for
    somebody else to draw."""
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
    """Return what the blocks of a document are drawn of, in their order, without drawing them."""
    return [
        _drawn(with_content(block, drawing.find_file))
        for block in walk_blocks(document)
        if block.type in _draw
    ]


def _drawn(block: Block) -> Drawn:
    return Drawn(block.type, msgspec.json.encode(block.data.get("ref"), order="sorted"))
