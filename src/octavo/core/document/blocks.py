"""Edit a document by the keys of its blocks: set, insert, delete, and move blocks. Untouched blocks keep
their bytes and their keys.

``BlockEdits`` works on the text and an ``Index`` of it, which records the length and the contents of every top-level
block, so that an edit doesn't have to parse the rest of the page or the resulting page. It parses only the changed
blocks and their neighbors, together with the page's definitions. If it can't prove that parsing the rest of the page
gives the same result as before, it raises ``NotLocal``, and the same edits are applied to the whole document.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from itertools import accumulate, compress, count, islice
from operator import attrgetter, not_
from typing import Any

import msgspec
from msgspec import Struct

from . import schema
from .anchors import list_places
from .json import MAX_DEPTH, DocumentError, check_block
from .keys import Digests, assign_keys, carry_keys, keyed_in
from .nodes import Block, Document, Fragment, Inline, Node, children
from .reader import open_ends, read
from .references import Reference, references
from .writing import is_all_crlf, write_parts

_DEFINITIONS_MAX = 20_000
"""Maximum number of characters in the definitions that are parsed together with the changed blocks."""
_BESIDE_MAX = 8
"""Maximum number of blocks to search for the originals of copied blocks."""
_CHANGED_MAX = 40
"""Maximum number of blocks to parse in order to find the changes that an edit made."""
_LOOKS = 16
"""Maximum number of keys to look up one by one before a map of all keys is built."""
_DEFINITION = re.compile(r"(?m)^[ \t>*+\-\d.)]*\[(?:[^\]\\]|\\.){1,1000}\]:")
_NOTE = re.compile(r"\[\^|user-content-fn-")
_digests_of = attrgetter("digests")
_names_of = attrgetter("names")
_BLANK = "\ufeff \t\r\n"


class BlockEntry(Struct, frozen=True):
    """Index entry of a top-level block: the number of characters before the block and in it, and the number of
    references in it. For the block and each keyed node inside it, in reading order, the entry also contains the content
    digest (``keys.Digests``), the name from which the key is derived, and the key."""

    type: str
    gap: int
    size: int
    digests: tuple[str, ...]
    names: tuple[str, ...]
    keys: tuple[str, ...]
    references: int = 0


class Index(Struct, frozen=True):
    """Blocks of a source. ``definitions``: the definitions between the blocks. ``kept``: a map from the keys that nodes
    get when the text is parsed to their actual keys, omitting nodes whose two keys are equal (see
    ``keys.assign_keys``)."""

    entries: list[BlockEntry]
    definitions: str
    kept: dict[str, str]


def index_blocks(document: Document) -> Index:
    """Index the blocks of an unedited document, including their keys."""
    digests = Digests(document)
    entries = [
        _entry(block, len(gap), digests) for block, gap in zip(document.nodes, document.gaps, strict=False)
    ]
    return Index(entries, _definitions(document.gaps), _kept(entries, None, {}))


def _entry(block: Block, gap: int, digests: Digests) -> BlockEntry:
    nodes = keyed_in([block])
    contents = tuple(digests.of(node) for node in nodes)
    names = tuple(digests.name_of(node) for node in nodes)
    return BlockEntry(
        block.type,
        gap,
        len(block.source or ""),
        contents,
        contents if names == contents else names,
        tuple(node.key or "" for node in nodes),
        len(references(Document([block]))),
    )


class ChangedBlocks(Struct, frozen=True):
    """Changes to a page's references caused by an edit to some blocks. ``before``: the number of references before the
    first of these blocks. ``was`` and ``now``: the references in the blocks before and after the edit, in the form that
    ``references`` returns for the page. ``has_places``: whether the edit may have changed link targets."""

    before: int
    was: list[Reference]
    now: list[Reference]
    has_places: bool


def changed_blocks(old_text: str, old: Index, text: str, new: Index) -> ChangedBlocks | None:
    """Return the differences between a source and the result of ``BlockEdits`` for it, both without their heads. Return
    None if the changed blocks alone aren't sufficient to determine the differences."""
    before = _count_same(old.entries, new.entries)
    behind = _count_same(old.entries[before:][::-1], new.entries[before:][::-1])
    parts = []
    for whole, index in ((old_text, old), (text, new)):
        entries = index.entries[before : len(index.entries) - behind]
        if len(entries) > _CHANGED_MAX or len(index.definitions) > _DEFINITIONS_MAX:
            return None
        start = sum(entry.gap + entry.size for entry in index.entries[:before])
        source = whole[start : start + sum(entry.gap + entry.size for entry in entries)]
        document = assign_keys(read(f"{index.definitions}\n\n{source}" if index.definitions else source))
        digests = Digests(document)
        if [digests.of(node) for node in keyed_in(document.nodes)] != [d for e in entries for d in e.digests]:
            return None
        parts.append((source, document, references(document)))
    # The keys of nodes with equal content depend on their order on the page.
    named = {(found.key or "").partition("-")[0] for _, _, among in parts for found in among}
    others = (*old.entries[:before], *old.entries[len(old.entries) - behind :])
    if next(_indexes_containing(named, others, _names_of), None) is not None:
        return None
    has_places = any("{%" in source or list_places(document) for source, document, _ in parts)
    return ChangedBlocks(
        sum(entry.references for entry in old.entries[:before]), parts[0][2], parts[1][2], has_places
    )


def _count_same(some: Sequence[BlockEntry], others: Sequence[BlockEntry]) -> int:
    """Return the number of equal blocks at the start of both lists."""
    same = 0
    for one, other in zip(some, others, strict=False):
        if one is not other and (one.type, one.size, one.digests) != (other.type, other.size, other.digests):
            break
        same += 1
    return same


def _definitions(gaps: Iterable[str]) -> str:
    return "\n\n".join(text for gap in gaps if (text := gap.strip(_BLANK)))


def _indexes_containing(
    digests: Set[str],
    entries: Sequence[BlockEntry],
    get: Callable[[BlockEntry], tuple[str, ...]] = _digests_of,
) -> Iterator[int]:
    """Return the indexes of the page's blocks that contain a node with one of these digests or names. ``get``: a
    function that returns the digests or names of a block."""
    return compress(count(), map(not_, map(digests.isdisjoint, map(get, entries))))


def _kept(entries: Sequence[BlockEntry], among: Set[str] | None, kept: dict[str, str]) -> dict[str, str]:
    """Add the keys that nodes kept from earlier versions to ``kept``, and return ``kept``, which maps the key that a
    node would otherwise get to the node's actual key. ``among``: the names of the nodes to include; None for all
    nodes."""
    counts: dict[str, int] = {}
    if among is not None:
        entries = [entries[at] for at in _indexes_containing(among, entries, _names_of)]
    for entry in entries:
        for name, key in zip(entry.names, entry.keys, strict=True):
            if among is not None and name not in among:
                continue
            before = counts.get(name, 0)
            counts[name] = before + 1
            plain = f"{name}-{before}" if before else name
            if plain != key:
                kept[plain] = key
    return kept


def _kept_since(index: Index, entries: Sequence[BlockEntry], changed: Set[str]) -> dict[str, str]:
    """Return the map of kept keys, updated after nodes with these names were added, removed, or moved."""
    kept = {plain: key for plain, key in index.kept.items() if plain.partition("-")[0] not in changed}
    return _kept(entries, changed, kept)


class EditError(ValueError):
    """Raised if an edit isn't possible. ``field``: the invalid part of the edit."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class NotLocal(Exception):
    """Raised internally if the edits need the whole document."""


class Missing(EditError):
    """Raised if no node has the requested key."""


class BlockPosition(Struct, frozen=True):
    """Target position of blocks: after or before a block, or inside a block, a fragment, or the document (None).
    Positions inside have an index among the current blocks (None: at the end)."""

    after: str | None = None
    before: str | None = None
    into: str | None = None
    at: int | None = None


class Allowed(Struct, frozen=True):
    """Content allowed at a position (``blocks`` or one type), and the position's depth in the document."""

    type: str
    depth: int


class EditedBlocks(Struct, frozen=True):
    """Result of applying edits. ``nodes``: the new and changed nodes and their contents, with keys, by key.
    ``document``: the whole document, if it was parsed."""

    text: str
    index: Index
    nodes: dict[str, Block | Fragment]
    document: Document | None = None


class _Slot(Struct, eq=False):
    """Top-level block. ``entry``: the original entry; None for a new block. ``read_at``: the index of the block in the
    text that it was parsed from. Blocks from another source have separate indexes."""

    node: Block
    gap: str
    entry: BlockEntry | None
    read_at: int
    is_read: bool

    @property
    def is_untouched(self) -> bool:
        return self.entry is not None and self.node.source is not None


class _Found(Struct):
    """Node found by its key: the item of ``among`` at the index ``at``. ``parent``: the node that contains it; None at
    the top level."""

    slot: _Slot
    node: Any
    parent: Any
    among: list[Any]
    at: int
    depth: int
    above: list[Any]


class BlockEdits:
    """Set of edits. ``text``: the body of a page. ``whole``: the document with sources and keys, if the edits require
    the whole document."""

    def __init__(self, text: str, index: Index, whole: Document | None = None) -> None:
        self._text, self._index, self._whole = text, index, whole
        self._is_crlf = is_all_crlf(text)
        self._ends = list(accumulate([entry.gap + entry.size for entry in index.entries]))
        self._order: list[int | _Slot] = list(range(len(index.entries)))
        """Blocks in order. An untouched block is represented by its position in the page's index."""
        self._tail = text[self._ends[-1] :] if self._ends else text
        self._made: dict[int, _Slot] = {}
        self._by_key: dict[str, _Slot] = {}
        self._places: dict[str, int] | None = None
        self._looks = 0
        self._read_at = len(self._order) + 1
        self._olds: list[Block] = []
        """Edited blocks in their previous form."""
        self._gone: list[Block] = []
        """Deleted blocks, whose keys can be reused only by a new block with equal content."""
        self._beside: list[Block] = []
        """Existing blocks with the same content as a new block, so that copied content keeps its bytes."""

    # --- the blocks ----------------------------------------------------------------------------------------

    def _slot(self, at: int) -> _Slot:
        found = self._order[at]
        if isinstance(found, _Slot):
            return found
        entry = self._index.entries[found]
        end = self._ends[found]
        start = end - entry.size
        if self._whole is not None:
            node = self._whole.nodes[found]
        else:
            node = Block(entry.type, key=entry.keys[0], source=self._text[start:end])
        slot = _Slot(node, self._text[start - entry.gap : start], entry, found, self._whole is not None)
        self._made[found] = self._order[at] = slot
        self._by_key.update(dict.fromkeys(entry.keys, slot))
        return slot

    def _place_of(self, slot: _Slot) -> int:
        return self._order.index(slot)

    def _read_place(self, key: str) -> int | None:
        """Return the index, in the original text, of the block that has a key or contains the node with that key."""
        self._looks += 1
        if self._places is None and self._looks > _LOOKS:
            self._places = {known: n for n, entry in enumerate(self._index.entries) for known in entry.keys}
        if self._places is not None:
            return self._places.get(key)
        return next((n for n, entry in enumerate(self._index.entries) if key in entry.keys), None)

    def _slot_with(self, key: str) -> _Slot | None:
        slot = self._by_key.get(key)
        if slot is None:
            read_at = self._read_place(key)
            if read_at is not None and read_at not in self._made:
                slot = self._slot(self._order.index(read_at))
        return slot

    def _is_untouched(self, key: str) -> bool:
        """Return whether the block with this key hasn't been edited."""
        slot = self._by_key.get(key)
        if slot is not None:
            return slot.is_untouched
        read_at = self._read_place(key)
        return read_at is not None and read_at not in self._made

    # --- finding ------------------------------------------------------------------------------------------

    def top(self, key: str, field: str) -> Block:
        """Return the top-level block that contains a node. Raises Missing if there is no such node."""
        slot = self._find(key, field).slot
        self._load(slot)
        return slot.node

    def _find(self, key: str, field: str) -> _Found:
        slot = self._slot_with(key)
        if slot is None:
            raise Missing(
                field,
                f"there is no block with the key {key!r} on this page. Reload the page to get the current"
                " keys.",
            )
        if slot.node.key == key:
            return _Found(slot, slot.node, None, [], 0, 1, [])
        self._load(slot)
        stack: list[_Found] = [_Found(slot, slot.node, None, [], 0, 1, [])]
        while stack:
            here = stack.pop()
            if not isinstance(here.node, Inline) and here.node.key == key:
                return here
            above = [*here.above, here.node]
            for among in (here.node.nodes, getattr(here.node, "fragments", ())):
                for at, child in enumerate(among):
                    if isinstance(child, (Block, Fragment, Inline)):
                        depth = here.depth + 1
                        stack.append(_Found(slot, child, here.node, among, at, depth, above))  # type: ignore[arg-type]
        raise Missing(field, f"the block with the key {key!r} is no longer on this page")

    def _load(self, slot: _Slot) -> None:
        if slot.is_read:
            return
        slot.is_read = True
        entry, source = slot.entry, slot.node.source
        assert entry is not None
        found = read(self._with_definitions(source or "")).nodes
        nodes = keyed_in(found)
        digests = Digests(Document(found))
        if (
            len(found) != 1
            or found[0].source != source
            or tuple(digests.of(node) for node in nodes) != entry.digests
        ):
            raise NotLocal
        for node, key in zip(nodes, entry.keys, strict=True):
            node.key = key
        slot.node = found[0]

    def _with_definitions(self, text: str) -> str:
        if not self._index.definitions:
            return text
        if len(self._index.definitions) > _DEFINITIONS_MAX:
            raise NotLocal
        return self._index.definitions + "\n\n" + text

    # --- editing ------------------------------------------------------------------------------------------

    def allowed(self, key: str, field: str) -> Allowed:
        """Return the content that can replace a node. Raises Missing if there is no such node."""
        found = self._find(key, field)
        if isinstance(found.node, Fragment):
            return Allowed("blocks", found.depth + 1)
        return Allowed(_allowed_in(found.parent), found.depth)

    def allowed_at(self, place: BlockPosition) -> Allowed:
        """Return the content allowed at a position. Raises EditError if the position doesn't exist."""
        found = self._around(place)
        if found is None:
            return Allowed("blocks", 1)
        return Allowed(_allowed_in(found.parent), found.depth)

    def set(self, key: str, given: Document, field: str) -> list[Block]:
        """Replace a block, or the contents of a fragment, with blocks. The first of the blocks gets the key of the
        replaced node unless one of the blocks already has that key. Raises EditError if that isn't possible."""
        found = self._find(key, field)
        given = without_empty(given)
        if isinstance(found.node, Fragment):
            self._change(found.slot)
            found = self._find(key, field)
            found.node.nodes = list(given.nodes)
            self._check(found)
            return given.nodes
        if given.nodes and all(node.key != key for node in given.nodes):
            given.nodes[0].key = key
        if found.parent is None:
            self._load(found.slot)
            return self._set_top(found.slot, given)
        self._change(found.slot)
        found = self._find(key, field)
        found.among[found.at : found.at + 1] = given.nodes
        self._register(given.nodes, found.slot)
        self._close_up(found)
        return given.nodes

    def _set_top(self, slot: _Slot, given: Document) -> list[Block]:
        at = self._place_of(slot)
        if len(given.nodes) == 1 and slot.entry is not None and slot.node.source is not None:
            node = given.nodes[0]
            keys = zip((one.key for one in keyed_in([node])), slot.entry.keys, strict=False)
            if (
                node.source is None
                and Digests(Document([node])).of(node) == slot.entry.digests[0]
                and all(key is None or key == old for key, old in keys)
            ):
                return [slot.node]  # The content and its keys are unchanged.
        self._remove_block(slot, is_deleted=not given.nodes)
        if given.nodes:
            self._put_in(at, given, slot.gap, slot)
        else:
            self._give_gap(at, slot.gap)
        return given.nodes

    def insert(self, given: Document, place: BlockPosition) -> list[Block]:
        """Insert new blocks at a position. Raises EditError if that isn't possible."""
        given = without_empty(given)
        found = self._around(place)
        if not given.nodes:
            return []
        if found is None:
            at = self._top_index(place)
            self._put_in(at, given, self._take_lead(at))
            return given.nodes
        self._change(found.slot)
        found = self._around(place)
        assert found is not None
        found.among[found.at : found.at] = given.nodes
        self._register(given.nodes, found.slot)
        self._check(found)
        return given.nodes

    def delete(self, keys: Sequence[str], field: str) -> None:
        """Delete blocks, and any blocks that contained nothing else. Raises EditError if that isn't
        possible."""
        for number, key in enumerate(keys):
            self._remove(self._find(key, f"{field}[{number}]"), f"{field}[{number}]")

    def move(self, keys: Sequence[str], place: BlockPosition, field: str) -> list[Block]:
        """Move existing blocks to another position, in the given order. Raises EditError if that isn't possible."""
        allowed = self.allowed_at(place).type
        for number, key in enumerate(keys):
            _require_fitting(self._find(key, f"{field}[{number}]").node, allowed, f"{field}[{number}]")
        taken = self.take(keys, field, beside=place)
        for slot in taken:
            self._load(slot)
        self.put(taken, place)
        return [slot.node for slot in taken]

    def take(self, keys: Sequence[str], field: str, beside: BlockPosition | None = None) -> list[_Slot]:
        """Remove blocks so that ``put`` can insert them, on this page or another. ``beside``: the new position of the
        blocks."""
        goal = (beside.after or beside.before or beside.into) if beside is not None else None
        taken: list[_Slot] = []
        for number, key in enumerate(keys):
            here = f"{field}[{number}]"
            found = self._find(key, here)
            if goal is not None and (goal == key or self._is_in(goal, found)):
                raise EditError(here, "a block can't be moved into itself or next to itself")
            if isinstance(found.node, Fragment):
                raise EditError(
                    here,
                    "this fragment is part of another block and can't be moved by itself. Move the whole block.",
                )
            if found.parent is None:
                taken.append(found.slot)
                self._lift(found.slot)
            else:
                self._change(found.slot)
                node = self._find(key, here).node
                self._remove(self._find(key, here), here)
                taken.append(_Slot(node, "", None, -1, True))
        return taken

    def put(self, taken: Sequence[_Slot], place: BlockPosition) -> None:
        """Insert removed blocks at a position. Raises EditError if that isn't possible."""
        found = self._around(place)
        allowed = _allowed_in(found.parent) if found is not None else "blocks"
        for slot in taken:
            _require_fitting(slot.node, allowed, "blocks")
        if found is None:
            at = self._top_index(place)
            lead = self._take_lead(at)
            for slot in taken:
                self._read_at += 2
                slot.gap, slot.read_at, lead = lead, self._read_at, ""
            self._order[at:at] = taken
            for slot in taken:
                self._register_slot(slot)
            return
        for slot in taken:
            self._load(slot)
            if slot.is_untouched:
                self._olds.append(_copy(slot.node))
        self._change(found.slot)
        found = self._around(place)
        assert found is not None
        nodes = [slot.node for slot in taken]
        for node in nodes:
            node.source = None
        if found.depth + max((_depth(node) for node in nodes), default=0) > MAX_DEPTH:
            raise EditError("blocks", f"must be nested at most {MAX_DEPTH} levels deep")
        found.among[found.at : found.at] = nodes
        self._register(nodes, found.slot)
        self._check(found)

    def detach(self, keys: Sequence[str], field: str) -> list[Block]:
        """Remove blocks to be inserted on another page. The blocks keep their keys. They also keep their sources if
        these have the same meaning without this page's definitions. Raises EditError if that isn't possible."""
        taken = self.take(keys, field)
        nodes = []
        for slot in taken:
            self._load(slot)
            if slot.is_untouched:
                self._gone.append(slot.node)
            node = _copy(slot.node)
            if node.source is not None:
                alone = read(node.source)
                digests = Digests(alone, Document([node]))
                if [digests.of(one) for one in alone.nodes] != [digests.of(node)]:
                    node.source = None
            nodes.append(node)
        return nodes

    def attach(self, nodes: list[Block], place: BlockPosition) -> list[Block]:
        """Insert blocks that were removed from another page. Raises EditError if that isn't possible."""
        self.put([_Slot(node, "", None, -1, True) for node in nodes], place)
        return nodes

    def _is_in(self, key: str, found: _Found) -> bool:
        """Return whether the node ``found`` contains the node with this key."""
        if self._slot_with(key) is not found.slot:
            return False
        if found.parent is None:
            return True
        return any(node is found.node for node in self._find(key, "").above)

    def _around(self, place: BlockPosition) -> _Found | None:
        """Return the block around a position; None for a position at the top level of the document. Raises
        EditError if the position doesn't exist."""
        if place.after is not None or place.before is not None:
            field = "after" if place.after is not None else "before"
            found = self._find(place.after or place.before or "", field)
            if isinstance(found.node, Fragment):
                raise EditError(
                    field,
                    "this fragment is part of another block, so nothing can be inserted next to it. Use `into` to"
                    " insert content into it.",
                )
            if found.parent is None:
                return None
            return msgspec.structs.replace(found, at=found.at + (field == "after"))
        if place.into is None:
            return None
        found = self._find(place.into, "into")
        self._load(found.slot)
        found = self._find(place.into, "into")
        allowed = _allowed_in(found.node)
        if allowed in ("inlines", ""):
            raise EditError("into", f"blocks of type {found.node.type} can't contain other blocks")
        nodes = found.node.nodes
        at = len(nodes) if place.at is None else min(place.at, len(nodes))
        return _Found(found.slot, None, found.node, nodes, at, found.depth + 1, [*found.above, found.node])

    def _top_index(self, place: BlockPosition) -> int:
        if place.after is not None or place.before is not None:
            slot = self._find(place.after or place.before or "", "").slot
            return self._place_of(slot) + (place.after is not None)
        return len(self._order) if place.at is None else min(place.at, len(self._order))

    def _take_lead(self, at: int) -> str:
        """Remove and return the text before the first block, so that it can be placed before a block that is inserted
        at the start."""
        if at or not self._order:
            return ""
        first = self._slot(0)
        lead, first.gap = first.gap, ""
        return lead

    def _put_in(self, at: int, given: Document, gap: str, place: _Slot | None = None) -> None:
        """Insert new slots. Definitions next to the given blocks stay next to these blocks. ``place``: the slot that
        the new blocks replace."""
        self._read_at += 2
        slots = []
        for number, node in enumerate(given.nodes):
            before = given.gaps[number] if number < len(given.gaps) else ""
            slots.append(_Slot(node, before if number else _joined(gap, before), None, self._read_at, True))
            self._read_at += 1
        if place is not None:
            slots[0].read_at = place.read_at
        self._order[at:at] = slots
        behind = given.gaps[-1] if len(given.gaps) > len(given.nodes) else ""
        if at + len(slots) == len(self._order) and not behind.strip(_BLANK):
            self._tail = self._tail or behind
        else:
            self._give_gap(at + len(slots), behind)
        for slot in slots:
            self._register_slot(slot)

    def _register_slot(self, slot: _Slot) -> None:
        """Map a block's keys to the block, except keys that already refer to another block."""
        if slot.entry is not None and not slot.is_read:
            self._register_keys(slot.entry.keys, slot)
        else:
            self._register([slot.node], slot)

    def _register(self, nodes: Sequence[Block], slot: _Slot) -> None:
        self._register_keys((node.key for node in keyed_in(nodes) if node.key is not None), slot)

    def _register_keys(self, keys: Iterable[str], slot: _Slot) -> None:
        for key in keys:
            if key not in self._by_key and ((at := self._read_place(key)) is None or at in self._made):
                self._by_key[key] = slot

    def _lift(self, slot: _Slot) -> None:
        """Remove a slot from the document. Its contents count as missing until the slot is inserted again."""
        at = self._place_of(slot)
        del self._order[at]
        self._give_gap(at, slot.gap)
        slot.gap = ""
        keys: Iterable[str] = (
            slot.entry.keys
            if slot.entry is not None and slot.is_untouched
            else [node.key for node in keyed_in([slot.node]) if node.key]
        )
        for key in keys:
            if self._by_key.get(key) is slot:
                del self._by_key[key]

    def _remove_block(self, slot: _Slot, *, is_deleted: bool) -> None:
        if slot.is_untouched:
            self._load(slot)
            (self._gone if is_deleted else self._olds).append(slot.node)
        del self._order[self._place_of(slot)]
        for node in keyed_in([slot.node]):
            if node.key is not None and self._by_key.get(node.key) is slot:
                del self._by_key[node.key]

    def _give_gap(self, at: int, gap: str) -> None:
        """Join the gap before a removed block with the gap before the next block."""
        if at < len(self._order):
            here = self._slot(at)
            # The first block starts where the document started; any other block keeps its gap.
            here.gap = gap if not here.gap.strip(_BLANK) and at == 0 else _joined(gap, here.gap)
        elif gap.strip(_BLANK):
            self._tail = _joined(gap, self._tail)

    def _remove(self, found: _Found, field: str) -> None:
        if isinstance(found.node, Fragment):
            raise EditError(
                field,
                "this fragment is part of another block and can't be deleted. Replace its content instead.",
            )
        if found.parent is None:
            at = self._place_of(found.slot)
            gap = found.slot.gap
            self._remove_block(found.slot, is_deleted=True)
            self._give_gap(at, gap)
            return
        key = found.node.key
        self._change(found.slot)
        found = self._find(key, field)
        for node in keyed_in([found.node]):
            if node.key is not None and self._by_key.get(node.key) is found.slot:
                del self._by_key[node.key]
        del found.among[found.at]
        self._close_up(found)

    def _close_up(self, found: _Found) -> None:
        """Delete containers that became empty, such as a list without items or tabs without a tab."""
        parent = found.parent
        if found.among or _allowed_in(parent) in ("blocks", "inlines", ""):
            self._check(found)
            return
        self._remove(self._find(parent.key, ""), "")

    def _change(self, slot: _Slot) -> None:
        """Mark a block for rewriting."""
        self._load(slot)
        if slot.is_untouched:
            self._olds.append(slot.node)
            slot.node = _copy(slot.node)
        slot.node.source = None

    def _check(self, found: _Found) -> None:
        """Check that the blocks around edited blocks are still valid. Raises EditError if they aren't."""
        for node in (found.parent, *reversed(found.above)):
            if isinstance(node, Block):
                try:
                    check_block(node, "")
                except DocumentError as error:
                    raise EditError("document", str(error).lstrip(". ")) from None
                return

    # --- result -------------------------------------------------------------------------------------------

    def finish(self) -> EditedBlocks:
        """Return the text after the edits. Raises NotLocal if the edits require the whole document."""
        if self._whole is not None:
            for at in range(len(self._order)):
                self._slot(at)
        self._carry_sources()
        news = Document([slot.node for slot in self._slots() if not slot.is_untouched])
        carry_keys(Document(self._olds), news, self._is_untouched)
        return self._finish_local(news) if self._whole is None else self._finish_whole()

    def _slots(self) -> list[_Slot]:
        """Return the edited blocks, in order."""
        return [item for item in self._order if type(item) is _Slot]

    def _old_contents(self) -> dict[str, Block]:
        """Return the previous versions of the edited blocks, by key."""
        return {old.key: old for old in self._olds if old.key and old.source is not None}

    def _carry_sources(self) -> None:
        """Assign the bytes and keys of deleted blocks to new blocks with the same content."""
        olds = [old for old in (*self._olds, *self._gone) if old.source is not None]
        news = [slot.node for slot in self._slots() if slot.entry is None and slot.node.source is None]
        if not news:
            return
        digests = Digests(Document(olds), Document(news))
        wanted = {digests.of(node) for node in news}
        copied = (
            self._text[self._ends[at] - self._index.entries[at].size : self._ends[at]]
            for at in _indexes_containing(wanted, self._index.entries)
        )
        self._beside = [block for source in islice(copied, _BESIDE_MAX) for block in read(source).nodes]
        sources: dict[str, list[Block]] = {}
        for old in reversed(olds):
            sources.setdefault(digests.of(old), []).append(old)
        for node in news:
            if same := sources.get(digests.of(node)):
                old = same.pop()
                node.source = old.source
                for now, was in zip(keyed_in([node]), keyed_in([old]), strict=True):
                    now.key = now.key or was.key

    def _finish_whole(self) -> EditedBlocks:
        slots = self._slots()
        seams = {n for n in range(1, len(slots)) if slots[n].read_at != slots[n - 1].read_at + 1}
        given = Document([slot.node for slot in slots], [*(slot.gap for slot in slots), self._tail])
        gone = [*self._gone, *self._beside]
        text = "".join(
            write_parts(given, seams, was=self._old_contents(), gone=gone, ends_with_crlf=self._is_crlf)
        )
        document = carry_keys(given, read(text))
        same = {slot.node.key for slot in slots if slot.is_untouched}
        nodes = keyed_in([node for node in document.nodes if node.key not in same])
        return EditedBlocks(
            text, index_blocks(document), {node.key: node for node in nodes if node.key}, document
        )

    def _finish_local(self, news: Document) -> EditedBlocks:
        """Write and parse only the changed blocks and one block on either side of them, and return the result of the
        edits. Raises NotLocal if the edits require the whole document."""
        parts: list[str] = []
        entries: list[BlockEntry] = []
        found: list[Block] = []
        fresh: list[Block] = []
        written: list[str] = []
        done = 0
        for low, high in self._windows():
            self._keep(done, low, parts, entries)
            slots = [self._slot(at) for at in range(low, high + 1)]
            is_last = high == len(self._order) - 1
            window = self._write(slots, is_last)
            parts += window
            blocks = self._read_again(slots, window)
            found += blocks
            for slot, block, gap in zip(slots, blocks, window[0::2], strict=False):
                if slot.is_untouched:
                    assert slot.entry is not None
                    entries.append(msgspec.structs.replace(slot.entry, gap=len(gap)))
                else:
                    fresh.append(block)
                    entries.append(BlockEntry(block.type, len(gap), len(block.source or ""), (), (), ()))
            written += (
                part for slot, part in zip(slots, window[1::2], strict=False) if slot.node.type != "code"
            )
            done = high + 1
        self._keep(done, len(self._order), parts, entries)
        if done < len(self._order) or not self._order:
            parts.append(self._tail)
        text = "".join(parts)
        written += (old.source or "" for old in (*self._olds, *self._gone) if old.type != "code")
        if any(_NOTE.search(part) or _DEFINITION.search(part) for part in written):
            raise NotLocal
        self._require_unpaired(found, text)
        digests = Digests(Document(found))
        carry_keys(news, Document(fresh), self._is_untouched)
        waiting = iter(fresh)
        entries = [entry if entry.keys else _entry(next(waiting), entry.gap, digests) for entry in entries]
        changed = {
            name for entry in (*self._old_entries(), *self._new_entries(entries)) for name in entry.names
        }
        kept = _kept_since(self._index, entries, changed)
        by_key = {node.key: node for node in keyed_in(fresh) if node.key}
        return EditedBlocks(text, Index(entries, self._index.definitions, kept), by_key)

    def _windows(self) -> list[tuple[int, int]]:
        """Return the runs of blocks to write and parse: edited blocks, points where blocks became adjacent, and one
        block on either side."""
        order = self._order
        touched: list[int] = []
        before: int | None = -1
        for at, item in enumerate(order):
            if type(item) is _Slot:
                touched.append(at)
                before = None
            else:
                if before is not None and item != before + 1:
                    touched.append(at)
                before = item  # type: ignore[assignment]
        if order and (before is None or before != len(self._index.entries) - 1):
            touched.append(len(order) - 1)
        runs: list[tuple[int, int]] = []
        for at in touched:
            low, high = max(0, at - 1), min(len(order) - 1, at + 1)
            if runs and low <= runs[-1][1] + 1:
                runs[-1] = (runs[-1][0], max(high, runs[-1][1]))
            else:
                runs.append((low, high))
        return runs

    def _keep(self, low: int, high: int, parts: list[str], entries: list[BlockEntry]) -> None:
        """Copy the blocks between two indexes unchanged. The blocks are adjacent in the source."""
        if low < high:
            first, last = self._order[low], self._order[high - 1]
            assert isinstance(first, int) and isinstance(last, int)
            entry = self._index.entries[first]
            parts.append(self._text[self._ends[first] - entry.size - entry.gap : self._ends[last]])
            entries += self._index.entries[first : last + 1]

    def _write(self, slots: list[_Slot], is_last: bool) -> list[str]:
        """Return the gaps and blocks of a window, and the text after the last block of the page."""
        seams = {n for n in range(1, len(slots)) if slots[n].read_at != slots[n - 1].read_at + 1}
        gaps = [*(slot.gap for slot in slots), *([self._tail] if is_last else [])]

        def get(at: int) -> Block:
            self._load(slots[at])
            return slots[at].node

        window = write_parts(
            Document([slot.node for slot in slots], gaps),
            seams,
            get,
            self._old_contents(),
            self._index.definitions,
            [*self._gone, *self._beside],
            self._is_crlf,
        )
        if any(
            slot.is_untouched and part != slot.node.source
            for slot, part in zip(slots, window[1::2], strict=False)
        ):
            raise NotLocal  # This block absorbs the text after it and had to be rewritten.
        return window if is_last else window[:-1]

    def _read_again(self, slots: list[_Slot], window: list[str]) -> list[Block]:
        """Parse the blocks of a window again, and return them. Raises NotLocal if unchanged blocks are now parsed
        differently, or if the definitions changed."""
        definitions = self._index.definitions
        if any(gap.strip(_BLANK) not in definitions for gap in window[0::2]):
            raise NotLocal
        if definitions and _definitions([slot.gap for slot in slots]) != _definitions(
            window[0::2][: len(slots)]
        ):
            raise NotLocal
        found = read(self._with_definitions("".join(window[1:]))).nodes
        if [block.source for block in found] != window[1::2]:
            raise NotLocal
        digests = Digests(Document(found))
        for slot, block in zip(slots, found, strict=True):
            entry = slot.entry
            if slot.is_untouched and entry is not None:
                nodes = keyed_in([block])
                if entry.digests != tuple(digests.of(node) for node in nodes):
                    raise NotLocal
        return found

    def _old_entries(self) -> Iterator[BlockEntry]:
        """Yield the original versions of the edited blocks."""
        return (self._index.entries[at] for at in self._made)

    def _new_entries(self, entries: Sequence[BlockEntry]) -> Iterator[BlockEntry]:
        """Yield the current versions of the edited blocks."""
        return (entries[at] for at, item in enumerate(self._order) if type(item) is _Slot)

    def _require_unpaired(self, blocks: Sequence[Block], text: str) -> None:
        """Raise NotLocal if tags or elements in these blocks may pair with tags or elements in other blocks."""
        for block in blocks:
            opened, closed = open_ends(block.source or "")
            if closed or any(f"end{name}" in text or f"</{name}" in text.lower() for name in opened):
                raise NotLocal


def without_empty(document: Document) -> Document:
    """Return the document without empty paragraphs. A block, cell, or list item without other content keeps one empty
    paragraph."""
    nodes = [node for node in document.nodes if node.source is not None or not is_empty(node)]
    for node in nodes:
        if node.source is None:
            _drop_empty(node)
    return Document(nodes, document.gaps if len(nodes) == len(document.nodes) else [])


def _drop_empty(top: Block) -> None:
    stack: list[Any] = [top]
    while stack:
        node = stack.pop()
        holds = (
            "blocks" if isinstance(node, Fragment) else _allowed_in(node) if isinstance(node, Block) else ""
        )
        if holds == "blocks" and len(node.nodes) > 1 and any(map(is_empty, node.nodes)):
            node.nodes = [child for child in node.nodes if not is_empty(child)] or node.nodes[:1]
        stack += [child for child in children(node) if isinstance(child, (Block, Fragment, Inline))]


def is_empty(node: object) -> bool:
    """Return whether a node is an empty paragraph."""
    return isinstance(node, Block) and node.type == "paragraph" and not node.nodes


def _allowed_in(parent: Block | Inline | Fragment | None) -> str:
    """Return the allowed content of a block, a fragment, or the document (None): ``blocks``, one type,
    ``inlines``, or nothing."""
    if parent is None or isinstance(parent, Fragment):
        return "blocks"
    if isinstance(parent, Inline):
        return ""
    return schema.BLOCKS[parent.type].children or ""


def _require_fitting(node: Block | Fragment, allowed: str, field: str) -> None:
    if isinstance(node, Fragment):
        raise EditError(
            field,
            "this fragment is part of another block and can't be moved by itself. Move the whole block.",
        )
    if node.type != allowed and (allowed != "blocks" or node.type in schema.NESTED_ONLY):
        raise EditError(field, f"must be {allowed}, not {node.type}")


def _joined(one: str, other: str) -> str:
    """Join two gaps, keeping all definitions."""
    if not one.strip(_BLANK):
        return other if other.strip(_BLANK) or len(other) > len(one) else one
    if not other.strip(_BLANK):
        return one
    return one.rstrip("\r\n") + "\n\n" + other.lstrip("\r\n")


def _copy(block: Block) -> Block:
    return msgspec.msgpack.decode(msgspec.msgpack.encode(block), type=Block)


def _depth(node: Node) -> int:
    deepest = 0
    stack: list[tuple[Node, int]] = [(node, 1)]
    while stack:
        here, depth = stack.pop()
        deepest = max(deepest, depth)
        stack += [(child, depth + 1) for child in children(here) if not hasattr(child, "leaves")]
    return deepest
