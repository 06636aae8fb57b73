"""Merge an external edit to a saved page into the live version of the page.

The result is a list of steps that is as small as the edit, which preserves cursor positions and undo histories. If both
sides changed the same block, the changes are merged word by word. If that isn't possible, the page gets both versions
of the block.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from itertools import count
from typing import NamedTuple

from prosemirror.model import Fragment, Node, Slice
from prosemirror.transform import ReplaceStep

from octavo.core.alignment import align
from octavo.core.json_types import JsonObject

from .reading import read_top_block, same
from .schema import SCHEMA
from .steps import StepError, StepJson, apply_steps, map_steps
from .trimming import trimmed
from .writing import attrs_of, block_key, write_block


def merge_edit(
    live: Node,
    old: Sequence[JsonObject],
    new: Sequence[JsonObject],
    uids: Iterator[int],
    unsaved: Container[str],
) -> list[StepJson]:
    """Return the steps that apply the difference between two lists of blocks to a live page. ``uids``: unused numbers
    for links and annotations. ``unsaved``: the keys of the live blocks that may have unsaved changes since ``old``. All
    other blocks count as saved, even if parsing their source gives a different form."""
    return _steps_to(live, _Merge(live, old, new, uids, unsaved).blocks())


def have_same_content(written: JsonObject, block: JsonObject) -> bool:
    """Return whether saving two blocks gives the same result, apart from data derived from the rest of the page."""
    return same(_without_ids(trimmed(written)), _without_ids(trimmed(block)))


def _is_saved_as(node: Node, block: JsonObject) -> bool:
    try:
        written = write_block(node)
    except (LookupError, TypeError, ValueError, AttributeError):
        return False  # This content can't be saved at all.
    return have_same_content(written, block)


def _without_ids(value: object) -> object:
    if isinstance(value, dict):
        found = {name: _without_ids(child) for name, child in value.items() if name != "meta"}
        meta = {name: child for name, child in (value.get("meta") or {}).items() if name != "id"}
        return {**found, "meta": meta} if meta else found
    return [_without_ids(child) for child in value] if isinstance(value, list) else value


class _Place(NamedTuple):
    """Position of a block. ``node``: the block in the editor's format. Blocks without a key exist only in this
    format."""

    key: str | None
    node: Node | None


class _Merge:
    def __init__(
        self,
        live: Node,
        old: Sequence[JsonObject],
        new: Sequence[JsonObject],
        uids: Iterator[int],
        unsaved: Container[str],
    ) -> None:
        self.live, self.uids, self.unsaved = live, uids, unsaved
        self.old = {block["key"]: block for block in old if "key" in block}
        self.new = {block["key"]: block for block in new if "key" in block}
        self.nodes = {key: node for node in live.children if (key := block_key(node)) is not None}
        self.taken = self.nodes.keys() | self.old.keys() | self.new.keys()

    def blocks(self) -> list[Node]:
        """Return the blocks of the page with the edit applied."""
        live = [_Place(block_key(node), node) for node in self.live.children]
        new = [_Place(key, None) for key in self.new]
        is_moved = [key for key in self.new if key in self.old] != [
            key for key in self.old if key in self.new
        ]
        order, others = (new, live) if is_moved else (live, new)
        # A block that is missing in ``order`` follows the same block as in the other version.
        known = {place.key for place in order if place.key is not None}
        following: dict[str | None, list[_Place]] = {}
        last: str | None = None
        for place in others:
            if place.key in known:
                last = place.key
            else:
                following.setdefault(last, []).append(place)
        found = [node for place in following.get(None, ()) for node in self._at(place)]
        for place in order:
            found += self._at(place)
            if place.key is not None:
                found += [node for other in following.get(place.key, ()) for node in self._at(other)]
        return found or [SCHEMA.nodes["paragraph"].create()]

    def _at(self, place: _Place) -> list[Node]:
        if place.key is not None:
            return self._merged(place.key)
        return [place.node] if place.node is not None else []

    def _merged(self, key: str) -> list[Node]:
        node, old, new = self.nodes.get(key), self.old.get(key), self.new.get(key)
        if new is None:
            # The other version deleted the block. Keep it only if someone is editing it here.
            is_kept = node is not None and (old is None or self._is_edited(key, node, old))
            return [node] if node is not None and is_kept else []
        if node is None:
            # The block was deleted here. Insert it again only if the other version changed it.
            return [] if old is not None and same(_without_ids(old), _without_ids(new)) else [self._read(new)]
        if old is None:
            return [node] if _is_saved_as(node, new) else [node, self._copy(new)]
        if same(_without_ids(old), _without_ids(new)):
            return [node]
        if not self._is_edited(key, node, old):
            return [self._read(new)]
        return self._both(node, old, new)

    def _is_edited(self, key: str, node: Node, old: JsonObject) -> bool:
        return key in self.unsaved and not _is_saved_as(node, old)

    def _read(self, block: JsonObject) -> Node:
        return read_top_block(block, self.uids)

    def _both(self, node: Node, old: JsonObject, new: JsonObject) -> list[Node]:
        """Merge a block that both sides changed. Return the merged block, or both versions if they can't be
        merged."""
        before, edited = self._read(old), self._read(new)
        others = _replacement(before, node)
        theirs = _replacement(before, edited)
        if others is not None and theirs is not None:
            mapped = map_steps([theirs.to_json()], [tuple(others.get_map().ranges)])  # type: ignore[list-item]
            if mapped is not None:
                try:
                    merged = apply_steps(_page([node]), mapped).doc
                except StepError:
                    pass
                else:
                    return list(merged.children)
        return [node, self._copy(new)]

    def _copy(self, block: JsonObject) -> Node:
        """Return a copy of a block with a key that no other block has."""
        node = self._read(block)
        if "key" not in attrs_of(node):
            return node
        attrs = {**attrs_of(node), "key": self._free_key(block_key(node) or "block")}
        return node.type.create(attrs, node.content, node.marks)

    def _free_key(self, key: str) -> str:
        free = next(name for number in count(2) if (name := f"{key[:80]}-{number}") not in self.taken)
        self.taken = self.taken | {free}
        return free


def _page(blocks: Sequence[Node]) -> Node:
    return SCHEMA.nodes["doc"].create(None, list(blocks))


def _replacement(before: Node, after: Node) -> ReplaceStep | None:
    """Return the smallest replacement that converts one block to another, on a page that contains only this block; None
    if the types or attributes of the blocks are different."""
    if before.type is not after.type or _said(before) != _said(after):
        return None
    old, new = _page([before]), _page([after])
    start = before.content.find_diff_start(after.content)
    end = before.content.find_diff_end(after.content)
    if start is None or end is None:
        return ReplaceStep(0, 0, Slice.empty)
    over = max(0, start - min(end["a"], end["b"]))
    first, last_old, last_new = start + 1, end["a"] + over + 1, end["b"] + over + 1
    step = ReplaceStep(first, last_old, new.slice(first, last_new))
    try:
        result = step.apply(old)
    except (ValueError, AssertionError):
        return None  # The replacement would split a character of two code units, or a block.
    return step if result.doc is not None and result.doc.eq(_page([after.copy(after.content)])) else None


def _said(node: Node) -> JsonObject:
    return {name: value for name, value in attrs_of(node).items() if name != "meta"}


def _steps_to(live: Node, target: Sequence[Node]) -> list[StepJson]:
    """Return the steps that convert a page to these blocks."""
    befores, afters = list(live.children), list(target)
    pairs = align([_identity(node) for node in befores], [_identity(node) for node in afters])
    starts, position = [], 0
    for node in befores:
        starts.append(position)
        position += node.node_size
    starts.append(position)
    steps: list[StepJson] = []
    high, high_new = len(befores), len(afters)
    # From the end, so that no step moves the positions of the next ones.
    for at, at_new in (*reversed(pairs), (-1, -1)):
        gone, come = starts[at + 1] - starts[high], afters[at_new + 1 : high_new]
        if gone or come:
            steps.append(_replace(starts[at + 1], starts[high], come))
        if at >= 0 and befores[at] is not afters[at_new]:
            steps += _inside(starts[at], befores[at], afters[at_new])
        high, high_new = at, at_new
    return steps


def _identity(node: Node) -> object:
    return block_key(node) or id(node)


def _replace(start: int, end: int, nodes: Sequence[Node]) -> StepJson:
    step: StepJson = dict(ReplaceStep(start, end, Slice(Fragment.from_(list(nodes)), 0, 0)).to_json())
    return step


def _inside(start: int, before: Node, after: Node) -> list[StepJson]:
    """Return the steps that convert the block at a position to another block."""
    step = _replacement(before, after)
    if step is None:
        return [_replace(start, start + before.node_size, [after])]
    if step.from_ == step.to and not step.slice.size:
        return []
    return [dict(ReplaceStep(step.from_ + start, step.to + start, step.slice).to_json())]
