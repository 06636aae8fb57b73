"""Blocks that are drawn from something else, such as an operation from an API's description.

Packages that know how register a ``Draw``. What a block becomes is ordinary blocks, so that everything that shows a
document shows it: HTML, Markdown, search and prints. The API gives the block itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

from ..core.document import Block, Document, replace_nodes, walk
from ..kit.db import Transaction
from .computing import Asker


class Drawing(Struct, frozen=True):
    """For whom and for what something is drawn. ``folded``: details may be folded up and things are beside each
    other, as on a page that people read; otherwise everything is below each other, as in a text. ``title``: that
    of the page, which needs not be said again."""

    asker: Asker
    folded: bool
    title: str = ""


Draw = Callable[[Transaction, Drawing, list[Block]], list[list[Block] | None]]
"""What each of the blocks of a page becomes; None: it stays as it is."""

_draw: dict[str, Draw] = {}


def draw_with(types: Iterable[str], draw: Draw) -> None:
    """Registers who draws blocks of these types."""
    _draw.update(dict.fromkeys(types, draw))


def draw_blocks(tx: Transaction, drawing: Drawing, document: Document) -> bool:
    """Puts, in place, what the blocks of a document are drawn as; whether there were any."""
    blocks = [node for node in walk(document) if isinstance(node, Block) and node.type in _draw]
    drawn: dict[int, list[Block]] = {}
    for draw in {_draw[block.type] for block in blocks}:
        own = [block for block in blocks if _draw[block.type] is draw]
        for block, made in zip(own, draw(tx, drawing, own), strict=True):
            if made is not None:
                drawn[id(block)] = made
    replace_nodes(document, lambda node: drawn.get(id(node)))
    return bool(blocks)
