"""Find the differences between the edited and the saved version of a page, in the form of block edits."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping

from msgspec import Struct
from prosemirror.model import Node

from octavo.core.alignment import align
from octavo.core.json_types import JsonObject

from .columns import column_steps
from .merging import have_same_content
from .steps import StepJson
from .trimming import trimmed
from .writing import attrs_of, block_key, children_at, is_written, write_block


class SavedBlock(Struct, frozen=True):
    """Saved block. ``node``: the node from which it was saved, if known."""

    json: JsonObject
    node: Node | None = None


class UnwritableBlock(Exception):
    """Raised if the content of a block can't be written at all. ``key``: the block's key."""

    def __init__(self, key: str) -> None:
        super().__init__(f"the block {key!r} can't be written")
        self.key = key


class BlockDifferences(Struct, frozen=True):
    """Edits that convert the saved page to the edited page. ``set`` and ``delete`` are applied first, so that deleting
    a block doesn't delete blocks that were moved out of it. Then ``insert`` and ``move`` place blocks, each after
    another block (None: at the start). ``blocks``: the resulting saved blocks by key, in order."""

    set: list[JsonObject]
    insert: list[tuple[str | None, JsonObject]]
    move: list[tuple[str | None, str]]
    delete: list[str]
    blocks: dict[str, SavedBlock]

    def __bool__(self) -> bool:
        return bool(self.set or self.insert or self.move or self.delete)


def block_differences(
    saved: Mapping[str, SavedBlock], doc: Node, skipped: Container[str] = ()
) -> BlockDifferences:
    """Return the differences between a document, whose blocks have unique keys, and its saved blocks.
    ``saved``: the saved blocks by key, in order. ``skipped``: the keys of blocks that keep their saved
    content, because their new content can't be saved. Raises UnwritableBlock if a block's content can't be
    written."""
    blocks: dict[str, SavedBlock] = {}
    changed, inserted = [], {}
    for node in doc.children:
        key = block_key(node)
        if key is None or not is_written(node):
            continue
        before = saved.get(key)
        if key in skipped:
            if before is not None:
                blocks[key] = before
            continue
        if before is not None and before.node is node:
            blocks[key] = before
            continue
        try:
            written = write_block(node)
        except (LookupError, TypeError, ValueError, AttributeError):
            raise UnwritableBlock(key) from None
        if before is not None and have_same_content(written, before.json):
            blocks[key] = SavedBlock(before.json, node)
            continue
        json = trimmed(written, before.json if before is not None else None)
        if json["type"] == "paragraph" and not json.get("nodes"):
            # Only spaces are left, so it isn't part of the saved page.
            continue
        if before is None:
            inserted[key] = json
        else:
            changed.append(json)
        blocks[key] = SavedBlock(json, node)
    order = list(blocks)
    staying = {order[at] for _, at in align([key for key in saved if key in blocks], order)}
    is_moved = any(key not in staying for key in order if key not in inserted)
    insert, move = [], []
    for after, key in zip([None, *order], order, strict=False):
        if key in inserted:
            insert.append((after, inserted[key]))
        if is_moved and key not in staying:
            # This includes inserted blocks, because the block that they follow may have moved.
            move.append((after, key))
    return BlockDifferences(changed, insert, move, [key for key in saved if key not in blocks], blocks)


def tidy_steps(doc: Node, new_keys: Iterator[str]) -> list[StepJson]:
    """Return the steps that make every part of a page savable: they fix keys and table columns."""
    return [*_key_steps(doc, new_keys), *column_steps(doc, new_keys)]


def _key_steps(doc: Node, new_keys: Iterator[str]) -> list[StepJson]:
    """Return the steps that assign a new key to top-level blocks without a key, and to all but the first of several
    nodes with the same key."""
    known: set[str] = set()
    steps: list[StepJson] = []
    stack = [(node, position, True) for node, position in children_at(doc, 0)]
    stack.reverse()
    while stack:
        node, position, is_top = stack.pop()
        key = block_key(node)
        if key in known or (key is None and is_top and is_written(node)):
            key = next(new_keys)
            step: StepJson = {"stepType": "attr", "pos": position, "attr": "key", "value": key}
            if node.type.name == "opaque":
                step |= {"attr": "json", "value": {**attrs_of(node)["json"], "key": key}}
            steps.append(step)
        if key is not None:
            known.add(key)
        if not node.is_textblock:
            stack += [(child, at, False) for child, at in reversed(list(children_at(node, position + 1)))]
    return steps
