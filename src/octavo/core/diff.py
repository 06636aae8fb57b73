"""Compare two states by pages, files, and words.

``semantic_changes`` compares sparse states, which contain only some of the entries, and lists changes for
reviewers; ``diff_text`` compares two sources block by block and word by word.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from .alignment import align
from .document.keys import Digests, keyed_in
from .document.nodes import Block, Document, plain_text
from .document.page import split_page
from .document.schema import BLOCKS
from .pages import Page
from .pieces import match, split
from .tags import Tag


class FieldChange(Struct, frozen=True):
    """Value of a field before and after a change; None if the field is missing."""

    before: Any
    after: Any


class Change(Struct, frozen=True, kw_only=True):
    """Change to a page or item. ``target``: ``page`` or the kind of the item. ``before`` and ``after``: the page or
    item; None if it is missing. ``fields``: the changed fields, by their name in the struct. Bodies and other content
    are represented by their hashes. A page that was both moved and edited has two changes."""

    kind: Literal["created", "edited", "deleted", "moved"]
    target: str
    id: str
    before: Any = None
    after: Any = None
    fields: dict[str, FieldChange] = {}


_UNTOLD = frozenset({"id", "kind", "created_at", "updated_at"})
_PLACE = frozenset({"parent", "rank"})
_ORDER = ("page", "file", "variable", "reusable-content", "source")
_KINDS = ("created", "edited", "moved", "deleted")


def semantic_changes(
    before_pages: Mapping[str, Page | None],
    after_pages: Mapping[str, Page | None],
    before_items: Mapping[str, Any] | None = None,
    after_items: Mapping[str, Any] | None = None,
) -> list[Change]:
    """Return the changes between two sparse states, where a missing entry or None means that the item doesn't exist.
    Pages come first, then files, variables, reusable content, and sources; within each group, created entries are
    followed by edited, moved, and deleted entries, each ordered by ID."""
    changes = []
    for id in before_pages.keys() | after_pages.keys():
        changes += _changes("page", id, before_pages.get(id), after_pages.get(id))
    old, new = before_items or {}, after_items or {}
    for id in old.keys() | new.keys():
        item = new.get(id) or old.get(id)
        if item is not None:
            changes += _changes(item.kind, id, old.get(id), new.get(id))
    return sorted(changes, key=lambda change: (_rank(change.target), _KINDS.index(change.kind), change.id))


def _rank(target: str) -> tuple[int, str]:
    return (_ORDER.index(target) if target in _ORDER else len(_ORDER), target)


def compare_tags(before: Mapping[str, Tag], after: Mapping[str, Tag]) -> list[Change]:
    """Return the changes between the tags of two states by slug, in the order of ``semantic_changes``."""
    changes = [
        change
        for slug in before.keys() | after.keys()
        for change in _changes("tag", slug, before.get(slug), after.get(slug))
    ]
    return sorted(changes, key=lambda change: (_KINDS.index(change.kind), change.id))


def _changes(target: str, id: str, before: Any, after: Any) -> list[Change]:
    if before == after:
        return []
    if before is None:
        return [Change(kind="created", target=target, id=id, after=after)]
    if after is None:
        return [Change(kind="deleted", target=target, id=id, before=before)]
    fields = {
        name: FieldChange(getattr(before, name), getattr(after, name))
        for name in before.__struct_fields__
        if name not in _UNTOLD and getattr(before, name) != getattr(after, name)
    }
    if target == "page" and before.kind != after.kind:
        fields["kind"] = FieldChange(before.kind, after.kind)
    place = {name: fields.pop(name) for name in _PLACE & fields.keys()} if target == "page" else {}
    found = []
    if fields:
        found.append(Change(kind="edited", target=target, id=id, before=before, after=after, fields=fields))
    if place:
        found.append(Change(kind="moved", target=target, id=id, before=before, after=after, fields=place))
    return found


# --- texts --------------------------------------------------------------------------------------------


class WordRun(Struct, frozen=True):
    """Run of text within a changed block. The unchanged and removed runs together form the old block, and the unchanged
    and added runs form the new block."""

    kind: Literal["same", "added", "removed"]
    text: str


class BlockChange(Struct, frozen=True, kw_only=True):
    """Changed block. ``old_index`` and ``new_index``: its indexes among the blocks of the two bodies; None
    if the block is missing in that body. ``words``: the word differences, only for edited blocks."""

    kind: Literal["added", "removed", "changed", "moved"]
    before: str | None = None
    after: str | None = None
    old_index: int | None = None
    new_index: int | None = None
    words: tuple[WordRun, ...] = ()


def diff_text(before: str, after: str) -> list[BlockChange]:
    """Return the blocks that differ between two page sources, in the order of the new source. A removed block appears
    at its old position. Front matter and the title are omitted, because they are fields of the page. The time is nearly
    linear in the length of the sources."""
    old, new = split(split_page(before)[2]), split(split_page(after)[2])
    matched = match(old, new)
    changes: list[tuple[tuple[int, int, int], BlockChange]] = []
    for j, i in enumerate(matched.origin):
        text = new.pieces[j]
        if i is None:
            changes.append(((j, 1, j), BlockChange(kind="added", after=text, new_index=j)))
        elif i in matched.moved:
            change = BlockChange(kind="moved", before=old.pieces[i], after=text, old_index=i, new_index=j)
            changes.append(((j, 1, j), change))
        elif old.keys[i] != new.keys[j]:
            change = BlockChange(
                kind="changed",
                before=old.pieces[i],
                after=text,
                old_index=i,
                new_index=j,
                words=diff_words(old.pieces[i], text),
            )
            changes.append(((j, 1, j), change))
    behind = -1
    for i, place in enumerate(matched.to):
        if place is None:
            changes.append(
                ((behind + 1, 0, i), BlockChange(kind="removed", before=old.pieces[i], old_index=i))
            )
        elif i not in matched.moved:
            behind = place
    return [change for _, change in sorted(changes, key=lambda pair: pair[0])]


class NodeChange(Struct, frozen=True, kw_only=True):
    """Changed top-level block, identified by its key. ``behind``: the key of the block in the new document that this
    block follows or used to follow; None if it is the first. ``words``: the word differences in each node of the block
    that contains text and is in both documents, by the node's key. Blocks that were both moved and edited also have
    them."""

    kind: Literal["added", "removed", "changed", "moved"]
    key: str
    behind: str | None
    before: Block | None = None
    after: Block | None = None
    words: dict[str, tuple[WordRun, ...]] = {}


def diff_documents(before: Document, after: Document) -> list[NodeChange]:
    """Return the blocks that differ between two documents with keys, in the order of the new document. A removed block
    appears at its old position."""
    digests = Digests(before, after)
    old = {block.key or "": block for block in before.nodes}
    new = {block.key or "": block for block in after.nodes}
    stayed = {list(old)[i] for i, _ in align(list(old), list(new))}
    gone: dict[str | None, list[Block]] = {}
    behind: str | None = None
    for key, block in old.items():
        if key in stayed:
            behind = key
        elif key not in new:
            gone.setdefault(behind, []).append(block)
    changes: list[NodeChange] = []

    def tell_gone(behind: str | None) -> None:
        for block in gone.get(behind, ()):
            changes.append(NodeChange(kind="removed", key=block.key or "", behind=behind, before=block))

    behind = None
    tell_gone(None)
    for key, block in new.items():
        was = old.get(key)
        if was is None:
            changes.append(NodeChange(kind="added", key=key, behind=behind, after=block))
        elif key not in stayed or digests.of(was) != digests.of(block):
            kind: Literal["changed", "moved"] = "changed" if key in stayed else "moved"
            words = _words_by_key(was, block)
            changes.append(
                NodeChange(kind=kind, key=key, behind=behind, before=was, after=block, words=words)
            )
        behind = key
        tell_gone(key)
    return changes


def _words_by_key(before: Block, after: Block) -> dict[str, tuple[WordRun, ...]]:
    def texts(top: Block) -> dict[str, str]:
        return {
            node.key or "": plain_text(node)
            for node in keyed_in([top])
            if isinstance(node, Block) and BLOCKS[node.type].children == "inlines"
        }

    old, new = texts(before), texts(after)
    both = [key for key in new if key in old and old[key] != new[key]]
    return {key: diff_words(old[key], new[key]) for key in both}


_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
TOKENS_MAX = 20_000
"""Maximum number of words and punctuation marks in a block for it to be compared word by word. Longer blocks are
compared line by line."""


def diff_words(before: str, after: str) -> tuple[WordRun, ...]:
    """Return the unchanged, removed, and added runs of words between two strings."""
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    if max(len(old), len(new)) > TOKENS_MAX:
        old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    runs: list[tuple[Literal["same", "added", "removed"], list[str]]] = []

    def add_run(kind: Literal["same", "added", "removed"], tokens: list[str]) -> None:
        if tokens and runs and runs[-1][0] == kind:
            runs[-1][1].extend(tokens)
        elif tokens:
            runs.append((kind, tokens))

    i = j = 0
    for a, b in [*align(old, new), (len(old), len(new))]:
        add_run("removed", old[i:a])
        add_run("added", new[j:b])
        add_run("same", old[a : a + 1])
        i, j = a + 1, b + 1
    return tuple(WordRun(kind, "".join(tokens)) for kind, tokens in runs)
