"""Merge the changes that two sides made in a space (three-way merge): pages, their bodies, and items.

All inputs are sparse: a side lists the entries that it changed, and a ``Tree`` looks up the few other entries that are
needed, so the cost depends on the size of the changes. ``merge`` doesn't raise errors for any content and never loses
text: different changes to the same content become a ``MergeConflict``, and corrections that keep the result a valid
tree with unique slugs and paths become a ``Note``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from hashlib import blake2b
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from octavo.core.json_types import JsonObject

from .free_names import free_name
from .merge_text import TextConflict, TextMerge, merge_page_text, resolve_text
from .page_fields import FIELDS, PageFields
from .pages import Page, rank_between
from .paths import numbered_path
from .space_config import TAGS_PATH
from .tags import by_slug, merge_tags

Side = Literal["ours", "theirs"]
T = TypeVar("T", bound=Struct)


class Tree:
    """Lookup of pages and items that neither side changed, in the state ``ours``. Results can include changed entries,
    which the merge overrides. This base class finds nothing, and is used for merges of whole states."""

    def page(self, page_id: str) -> Page | None:
        return None

    def children(self, parents: Iterable[str | None]) -> Iterable[Page]:
        """Return the children of these pages (None: the top level)."""
        return ()

    def with_slug(self, parent: str | None, slug: str) -> Iterable[Page]:
        """Return the children of ``parent`` with this slug."""
        return ()

    def path_taken(self, path: str) -> bool:
        """Return whether a page's file or an item has this path."""
        return False


class MergeConflict(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Different changes by both sides to the same content. It consists only of JSON types, so that it can be stored in
    a revision.

    - ``field``: both sides changed one field of a page or item. ``field`` is its name, dotted for one element of a map
      or set (``variables.color``, ``tags.beta``, ``layout.width``); ``place`` represents the parent and the rank
      (``[parent, rank]``), and ``file`` the bytes of a file and their metadata.
    - ``block``: both sides changed the same part of a source; ``base``, ``ours``, and ``theirs`` are verbatim
      Markdown. The version kept is at offset ``at`` of the merged source; ``index`` is the number of its top-level
      block; ``field`` is ``body`` (``content`` for an item) or the front-matter key whose value changed.
    - ``deleted``: one side deleted content that the other side edited, so the content is kept. The values are the
      page or item, or None.

    None represents a missing value. ``kept`` names the side whose version is in the merged state until the conflict is
    resolved. ``key`` doesn't depend on which side is called ours, and is unique within one merge. ``origin`` is the
    other side: main, an edit based on an older revision, the repository that the space is synced with, or a source that
    was imported again.
    """

    key: str
    kind: Literal["field", "block", "deleted"]
    target: str
    """``page`` or the kind of an item."""
    id: str
    field: str | None = None
    base: Any = None
    ours: Any = None
    theirs: Any = None
    kept: Side = "ours"
    at: int | None = None
    index: int | None = None
    origin: Literal["main", "edit", "repository", "import"] = "main"


class Note(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Correction that a merge made automatically. ``before``: the value before the correction. ``after``: the value
    after it.

    ``slug``, ``path``, ``name``: an unused number was appended to the value in theirs. ``rank``: both sides used the
    same rank, and the page in theirs now comes after the page in ours. ``order``: both sides reordered, and the order
    in ours is used. ``cycle``: two moves would have formed a cycle, and the move in theirs was undone. ``parent``: a
    deleted page is kept (``before`` is None) because one of its subpages is kept, or a page without a parent was moved
    to the top level. ``twin``: both sides added a variable or source with this name, and the two became one.
    """

    kind: Literal["slug", "path", "name", "rank", "order", "cycle", "parent", "twin"]
    target: str
    id: str
    before: Any = None
    after: Any = None


class MergeResult(Struct):
    """Result of a merge: the merged version of each entry that either side changed (None for a missing entry), the new
    Markdown sources by hash, the conflicts, and the notes."""

    pages: dict[str, Page | None]
    items: JsonObject
    bodies: dict[str, str]
    conflicts: list[MergeConflict]
    notes: list[Note]


def changes_from(side: Mapping[str, T | None], merged: Mapping[str, T | None]) -> dict[str, T | None]:
    """Return the entries to write to one side in order to get the merged state."""
    return {key: value for key, value in merged.items() if key not in side or side[key] != value}


class Versions(Struct):
    """Pages and items that one state changed, by ID; None for deleted entries. If an ID is missing in ``base``, the
    entry didn't exist; if it is missing in a side, that side didn't change the entry."""

    pages: Mapping[str, Page | None] = {}
    items: Mapping[str, Any] = {}


def merge(
    base: Versions,
    ours: Versions,
    theirs: Versions,
    *,
    read: Callable[[str], str],
    digest: Callable[[str], str],
    tree: Tree | None = None,
    theirs_keep_paths: bool = False,
) -> MergeResult:
    """Merge ``theirs`` into ``ours``. ``theirs_keep_paths``: whether the file in ours is moved if both sides added a
    file at the same path. ``read``: a function that returns a source by its hash. ``digest``: a function that returns
    the hash of a source. Items are structs with ID, kind, name, path, and content (see
    ``content.revisions.store.Item``)."""
    return _Merge(base, ours, theirs, read, digest, tree or Tree(), theirs_keep_paths).run()


_NOTHING: Any = object()
_STRUCTS = tuple(name for name, field in FIELDS.items() if field.is_struct)
_MAPPINGS = tuple(name for name, field in FIELDS.items() if field.is_mapping)
_LISTS = tuple(name for name, field in FIELDS.items() if field.is_merged_by_element)
_PAGE_SPECIAL = {"id", "created_at", "updated_at", "parent", "rank", "body", *_STRUCTS, *_MAPPINGS, *_LISTS}
_PAGE_PLAIN = [
    name for name in sorted(Page.__struct_fields__, key=FIELDS.__contains__) if name not in _PAGE_SPECIAL
]
"""Plain fields of a page in merge order: slug and title come before the front-matter fields."""
_NO_FIELDS = PageFields()
_FILE_FIELDS = ("content", "size", "content_type", "width", "height")
_TEXTS = frozenset({"reusable-content", "source"})
_MINOR = {"rank", "created_at", "updated_at"}
"""Fields whose changes don't count as edits that prevent a deletion."""


class _Merge:
    def __init__(
        self,
        base: Versions,
        ours: Versions,
        theirs: Versions,
        read: Callable[[str], str],
        digest: Callable[[str], str],
        tree: Tree,
        theirs_keep_paths: bool = False,
    ) -> None:
        self.read, self.digest, self.tree = read, digest, tree
        self.theirs_keep_paths = theirs_keep_paths
        self.three = _states(base.pages, ours.pages, theirs.pages)
        self.items = _states(base.items, ours.items, theirs.items)
        self.pages: dict[str, Page | None] = {}
        self.out = MergeResult(self.pages, {}, {}, [], [])
        self.keys: set[str] = set()
        self.yielded: set[str] = set()

    def run(self) -> MergeResult:
        for page_id, (base, ours, theirs) in self.three.items():
            self.pages[page_id] = self._one("page", page_id, base, ours, theirs, self._page)
        self._keep_parents()
        while self._break_cycles():
            self._keep_parents()
        self._number_slugs()
        self._spread_ranks()
        self._merge_items()
        self._number_paths()
        return self.out

    # --- recording ---

    def _conflict(
        self,
        kind: Literal["field", "block", "deleted"],
        target: str,
        id: str,
        three: tuple[Any, Any, Any],
        **more: Any,
    ) -> None:
        base, ours, theirs = (msgspec.json.decode(msgspec.json.encode(value)) for value in three)
        sides = sorted(msgspec.json.encode(value) for value in (ours, theirs))
        hashed = msgspec.json.encode([kind, target, id, more.get("field"), base]) + b"".join(sides)
        digest = blake2b(hashed, digest_size=8).hexdigest()
        key = free_name(digest, self.keys.__contains__, lambda number: f"{digest}-{number + 1}")
        self.keys.add(key)
        self.out.conflicts.append(
            MergeConflict(
                key=key, kind=kind, target=target, id=id, base=base, ours=ours, theirs=theirs, **more
            )
        )

    def _note(self, kind: Any, target: str, id: str, before: Any, after: Any) -> None:
        self.out.notes.append(Note(kind=kind, target=target, id=id, before=before, after=after))

    # --- one page or item ---

    def _one(
        self,
        target: str,
        id: str,
        base: T | None,
        ours: T | None,
        theirs: T | None,
        both: Callable[[T | None, T, T], T],
    ) -> T | None:
        if theirs in (base, ours):
            return ours
        if ours == base:
            return theirs
        if ours is not None and theirs is not None:
            return both(base, ours, theirs)
        kept = theirs if ours is None else ours
        if kept is None or base is None:
            return kept
        if not any(
            getattr(kept, name) != getattr(base, name) for name in _fields(kept) if name not in _MINOR
        ):
            return None
        self._conflict("deleted", target, id, (base, ours, theirs), kept="theirs" if ours is None else "ours")
        return kept

    def _field(
        self, target: str, id: str, field: str, three: tuple[Any, Any, Any], *, gone: object = _NOTHING
    ) -> Any:
        """Merge one field. If only one side changed the field, that version is used. If both sides changed it
        differently, our version is kept and a conflict is recorded. ``gone``: the value that represents a missing
        element of a map. For such elements, an edit takes precedence over a deletion."""
        base, ours, theirs = three
        if theirs in (ours, base):
            return ours
        if ours == base:
            return theirs
        kept: Side = "theirs" if ours is gone else "ours"
        values = [None if value is _NOTHING or value is gone else value for value in three]
        self._conflict("field", target, id, (values[0], values[1], values[2]), field=field, kept=kept)
        return theirs if kept == "theirs" else ours

    def _elements(
        self,
        target: str,
        id: str,
        field: str,
        three: tuple[Mapping[str, Any], Mapping[str, Any], Mapping[str, Any]],
    ) -> JsonObject:
        base, ours, theirs = three
        merged = {}
        for name in dict.fromkeys([*ours, *theirs]):
            values = tuple(side.get(name, _NOTHING) for side in (base, ours, theirs))
            value = self._field(target, id, f"{field}.{name}", values, gone=_NOTHING)
            if value is not _NOTHING:
                merged[name] = value
        return merged

    def _page(self, base: Page | None, ours: Page, theirs: Page) -> Page:
        def three(name: str) -> tuple[Any, Any, Any]:
            return getattr(base, name, _NOTHING), getattr(ours, name), getattr(theirs, name)

        def maps(name: str, of: Callable[[Any], JsonObject]) -> tuple[Any, Any, Any]:
            before, mine, yours = three(name)
            return {} if before is _NOTHING else of(before), of(mine), of(yours)

        def settled(name: str) -> bool:
            before, mine, yours = three(name)
            return mine == yours or before in (mine, yours)

        id, new = ours.id, {}
        for name in _PAGE_PLAIN:
            new[name] = self._field("page", id, name, three(name))
        for name in _STRUCTS:
            values = three(name)
            if settled(name) or None in values or _NOTHING in values:
                new[name] = self._field("page", id, name, values)
            else:
                fields = self._elements("page", id, name, maps(name, msgspec.structs.asdict))
                new[name] = type(values[1])(**fields)
        for name in _MAPPINGS:
            if settled(name):
                new[name] = self._field("page", id, name, three(name))
            else:
                merged = self._elements("page", id, name, maps(name, lambda value: value or {}))
                new[name] = merged or getattr(_NO_FIELDS, name)
        for name in _LISTS:
            if settled(name):
                new[name] = self._field("page", id, name, three(name))
            else:
                new[name] = tuple(self._elements("page", id, name, maps(name, by_slug)).values())
        new["created_at"] = min(ours.created_at, theirs.created_at)
        new["updated_at"] = max(ours.updated_at, theirs.updated_at)
        new["parent"], new["rank"] = self._place(base, ours, theirs)
        new["body"] = self._text("page", id, "body", three("body"))
        return replace(ours, **new)

    def _place(self, base: Page | None, ours: Page, theirs: Page) -> tuple[str | None, str]:
        mine, yours = (ours.parent, ours.rank), (theirs.parent, theirs.rank)
        if base is None:
            if ours.parent != theirs.parent:
                self._conflict("field", "page", ours.id, (None, mine, yours), field="place")
            return mine
        before = (base.parent, base.rank)
        if yours in (mine, before):
            return mine
        if mine == before:
            return yours
        if ours.parent == base.parent != theirs.parent:
            return yours
        if theirs.parent == base.parent != ours.parent:
            return mine
        if ours.parent == theirs.parent:
            self._note("order", "page", ours.id, list(yours), list(mine))
        else:
            self._conflict("field", "page", ours.id, (before, mine, yours), field="place")
        return mine

    def _text(
        self, target: str, id: str, field: str, hashes: tuple[Any, Any, Any], *, is_tags: bool = False
    ) -> str | None:
        """Return the hash of the merged text, and record its conflicts with their offsets. ``is_tags``: whether the
        text is the file of the space's tags."""
        sides: list[str | None] = [None if value is _NOTHING else value for value in hashes]
        base, ours, theirs = sides
        if theirs in (ours, base):
            return ours
        if ours == base:
            return theirs
        old = self.read(base) if base else ""
        if ours is None or theirs is None:
            kept = theirs or ours or ""
            text = self.read(kept)
            merged = TextMerge(text, [])
            values = (old or None, text if ours else None, text if theirs else None)
            self._conflict(
                "block", target, id, values, field=field, kept="ours" if ours else "theirs", at=0, index=0
            )
            return kept
        mine, yours = self.read(ours), self.read(theirs)
        tags = merge_tags(old, mine, yours) if is_tags else None
        if tags is not None:
            merged = TextMerge(tags, [])
        else:
            merged = merge_page_text(old, mine, yours, fields=target == "page")
        for found in merged.conflicts:
            self._conflict(
                "block",
                target,
                id,
                (found.base, found.ours, found.theirs),
                field=found.key or field,
                kept=found.kept,
                at=found.at,
                index=found.index,
            )
        if merged.text == mine:
            return ours
        if merged.text == yours:
            return theirs
        made = self.digest(merged.text)
        self.out.bodies[made] = merged.text
        return made

    # --- the tree ---

    def _find(self, page_id: str) -> Page | None:
        if page_id not in self.pages:
            return self.tree.page(page_id)
        return self.pages[page_id]

    def _children(self, parents: Iterable[str | None]) -> list[Page]:
        """Return the children that neither side changed."""
        wanted = list(parents)
        return [page for page in self.tree.children(wanted) if page.id not in self.three] if wanted else []

    def _keep_parents(self) -> None:
        """Keep the deleted ancestors of pages that are kept."""
        gone = [id for id, page in self.pages.items() if page is None and self.three[id][1] is not None]
        waiting = [page for page in self.pages.values() if page is not None] + self._children(gone)
        while waiting:
            page = waiting.pop()
            parent = page.parent
            if parent is None or parent not in self.pages or self.pages[parent] is not None:
                continue
            base, ours, theirs = self.three[parent]
            kept = ours or theirs or base
            if kept is None:
                self.pages[page.id] = replace(page, parent=None)
                self._note("parent", "page", page.id, parent, None)
                continue
            self.pages[parent] = kept
            self._note("parent", "page", parent, None, kept.parent)
            waiting.append(kept)
            # The other children of a restored page were deleted too. They stay deleted unless the list
            # contains them.

    def _break_cycles(self) -> bool:
        """Undo moves in ``theirs`` that form a cycle with moves in ``ours`` by returning each moved page to its
        position in ours. Return whether any moves were undone."""
        if not any(base and ours and base.parent != ours.parent for base, ours, _ in self.three.values()):
            return False
        moved = {
            id
            for id, page in self.pages.items()
            if page is not None and (ours := self.three[id][1]) is not None and ours.parent != page.parent
        } - self.yielded
        safe: set[str] = set()
        found = False
        for id in sorted(moved):
            while circle := self._circle(id, safe):
                # One of them moved, unless ours was not a tree to begin with.
                able = moved.intersection(circle)
                yielding = max(able or circle)
                page, ours = self._find(yielding), self.three.get(yielding, (None, None, None))[1]
                if page is None:
                    break
                parent, rank = (ours.parent, ours.rank) if able and ours is not None else (None, page.rank)
                moved.discard(yielding)
                self.yielded.add(yielding)
                self.three.setdefault(yielding, (page, page, page))
                self.pages[yielding] = replace(page, parent=parent, rank=rank)
                self._note("cycle", "page", yielding, [page.parent, page.rank], [parent, rank])
                found = True
        return found

    def _circle(self, page_id: str, safe: set[str]) -> list[str]:
        """Return the pages of the cycle that the path upward from this page leads to; empty if the path ends at the top
        level."""
        way: dict[str, None] = {}
        here: str | None = page_id
        while here is not None and here not in safe:
            if here in way:
                found = list(way)
                return found[found.index(here) :]
            way[here] = None
            page = self._find(here)
            here = page.parent if page is not None else None
        safe.update(way)
        return []

    def _newcomers(self, seat: Callable[[Any], Any]) -> tuple[set[Any], list[Page]]:
        """Return the positions in use in ours, and the pages whose position comes from theirs, sorted by ID."""
        seats, new = set(), []
        for id, page in sorted(self.pages.items()):
            if page is None:
                continue
            ours = self.three[id][1]
            if ours is not None and seat(ours) == seat(page):
                seats.add(seat(page))
            else:
                new.append(page)
        return seats, new

    def _number_slugs(self) -> None:
        seats, new = self._newcomers(lambda page: (page.parent, page.slug))

        def taken(parent: str | None, slug: str) -> bool:
            return (parent, slug) in seats or any(
                other.id not in self.three for other in self.tree.with_slug(parent, slug)
            )

        for page in new:
            if not page.slug:
                continue
            slug = free_name(page.slug, partial(taken, page.parent))
            seats.add((page.parent, slug))
            if slug != page.slug:
                self.pages[page.id] = replace(page, slug=slug)
                self._note("slug", "page", page.id, page.slug, slug)

    def _spread_ranks(self) -> None:
        """Keep the ranks of siblings distinct, so that pages can be inserted between the siblings."""
        seats, new = self._newcomers(lambda page: (page.parent, page.rank))
        all_ranks: dict[str | None, list[str]] = {}
        for page in new:
            parent, rank = page.parent, page.rank
            if (parent, rank) in seats:
                if parent not in all_ranks:
                    siblings = [found for found in self.pages.values() if found and found.parent == parent]
                    all_ranks[parent] = sorted(other.rank for other in siblings + self._children([parent]))
                ranks = all_ranks[parent]
                above = bisect_right(ranks, rank)
                rank = rank_between(rank, ranks[above] if above < len(ranks) else None)
                ranks.insert(above, rank)
                self.pages[page.id] = replace(page, rank=rank)
                self._note("rank", "page", page.id, page.rank, rank)
            seats.add((parent, rank))

    # --- items ---

    def _merge_items(self) -> None:
        self._join_twins()
        for id, (base, ours, theirs) in self.items.items():
            if id in self.out.items:
                continue
            known = ours or theirs or base
            # Items that were added and removed between the states are in neither.
            self.out.items[id] = (
                None if known is None else self._one(known.kind, id, base, ours, theirs, self._item)
            )
        self._number_names()

    def _join_twins(self) -> None:
        """Join variables and sources that both sides added with the same name into one item, the older of the two."""
        added: dict[tuple[str, str], str] = {}
        for id, (base, ours, theirs) in self.items.items():
            if base is None and ours is not None and theirs is None and (name := _twin_name(ours)):
                added[ours.kind, name] = id
        for id, (base, ours, theirs) in sorted(self.items.items()):
            if base is not None or ours is not None or theirs is None:
                continue
            name = _twin_name(theirs)
            other = added.get((theirs.kind, name)) if name else None
            if other is None:
                continue
            mine = self.items[other][1]
            first, second = sorted((id, other))
            self.out.items[first] = self._item(None, replace(mine, id=first), replace(theirs, id=first))
            self.out.items[second] = None
            self._note("twin", theirs.kind, first, second, first)

    def _item(self, base: Any, ours: Any, theirs: Any) -> object:
        kind, id, new = ours.kind, ours.id, {}
        names = [name for name in _fields(ours) if name not in ("id", "kind", "created_at")]
        if kind == "file":
            of_file = [name for name in _FILE_FIELDS if name in names]
            values = tuple(
                {name: getattr(item, name) for name in of_file} if item is not None else _NOTHING
                for item in (base, ours, theirs)
            )
            new.update(self._field(kind, id, "file", values))  # type: ignore[arg-type]
            names = [name for name in names if name not in of_file]
        for name in names:
            values = (getattr(base, name, _NOTHING), getattr(ours, name), getattr(theirs, name))
            if name == "content" and kind in _TEXTS:
                is_tags = kind == "source" and (ours.path or "").endswith(TAGS_PATH)
                new[name] = self._text(kind, id, name, values, is_tags=is_tags)
            elif name == "size" and kind in _TEXTS:
                continue
            else:
                new[name] = self._field(kind, id, name, values)
        if kind in _TEXTS and "size" in names:
            made = self.out.bodies.get(new["content"])
            holder = theirs if new["content"] == theirs.content else ours
            new["size"] = len(made.encode()) if made is not None else holder.size
        new["created_at"] = min(ours.created_at, theirs.created_at)
        return replace(ours, **new)

    def _number_names(self) -> None:
        """Append a number to variables in ``theirs`` whose names are used by other variables in ``ours``."""
        seats = {
            item.name
            for id, item in self.out.items.items()
            if item is not None and item.kind == "variable" and self._as_ours(id, "name")
        }
        for id, item in sorted(self.out.items.items()):
            if item is None or item.kind != "variable" or self._as_ours(id, "name"):
                continue
            name = free_name(item.name, seats.__contains__, f"{item.name}_{{}}".format)
            seats.add(name)
            if name != item.name:
                self.out.items[id] = replace(item, name=name)
                self._note("name", item.kind, id, item.name, name)

    def _as_ours(self, id: str, field: str) -> bool:
        item, ours = self.out.items[id], self.items[id][1]
        return ours is not None and getattr(ours, field) == getattr(item, field)

    def _number_paths(self) -> None:
        """Assign a unique path to every file of a page or an item."""
        if self.theirs_keep_paths:
            self._make_way()
        seats, new = self._newcomers(lambda page: page.file_path)
        for id, item in sorted(self.out.items.items()):
            if item is not None and item.path is not None and self._as_ours(id, "path"):
                seats.add(item.path)
        old = self._old_paths()
        for page in new:
            self._seat_path(page, "file_path", "page", seats, old, self.pages)
        for id, item in sorted(self.out.items.items()):
            if item is not None and not self._as_ours(id, "path"):
                self._seat_path(item, "path", item.kind, seats, old, self.out.items)

    def _make_way(self) -> None:
        """Move files that ours added if theirs added other content at the same paths."""
        pages = [
            (page, "file_path", "page", self.three[id]) for id, page in sorted(self.pages.items()) if page
        ]
        items = [
            (item, "path", item.kind, self.items[id]) for id, item in sorted(self.out.items.items()) if item
        ]
        entries = [
            (entry, field, kind, three)
            for entry, field, kind, three in [*pages, *items]
            if getattr(entry, field)
        ]
        wanted = {
            getattr(entry, field) for entry, field, _, (_, ours, theirs) in entries if ours is None and theirs
        }
        taken = {getattr(entry, field) for entry, field, _, _ in entries}
        for entry, field, kind, (base, _, theirs) in entries:
            path = getattr(entry, field)
            if base is not None or theirs is not None or path not in wanted:
                continue
            free = free_name(
                path,
                lambda candidate: candidate in taken or self.tree.path_taken(candidate),
                partial(numbered_path, path),
            )
            taken.add(free)
            into: JsonObject = self.pages if kind == "page" else self.out.items
            into[entry.id] = replace(entry, **{field: free})
            self._note("path", kind, entry.id, path, free)

    def _old_paths(self) -> set[str | None]:
        """Return the paths that changed entries have in ours. ``path_taken`` may report these paths as used even though
        they may now be free."""
        pages = {ours.file_path for _, ours, _ in self.three.values() if ours is not None}
        return pages | {ours.path for _, ours, _ in self.items.values() if ours is not None}

    def _seat_path(
        self, entry: Any, field: str, target: str, seats: set[Any], old: set[str | None], into: JsonObject
    ) -> None:
        path = getattr(entry, field)
        if path is None:
            return

        def taken(candidate: str) -> bool:
            return candidate in seats or (candidate not in old and self.tree.path_taken(candidate))

        free = free_name(path, taken, lambda number: numbered_path(path, number))
        seats.add(free)
        if free != path:
            into[entry.id] = replace(entry, **{field: free})
            self._note("path", target, entry.id, path, free)


def _states(
    base: Mapping[str, object], ours: Mapping[str, object], theirs: Mapping[str, object]
) -> dict[str, tuple[Any, Any, Any]]:
    found = {}
    for id in sorted({*base, *ours, *theirs}):
        before = base.get(id)
        found[id] = (before, ours.get(id, before), theirs.get(id, before))
    return found


def _fields(value: Struct) -> tuple[str, ...]:
    return value.__struct_fields__


def _twin_name(item: Any) -> str | None:
    name: str | None = None
    if item.kind in ("variable", "source"):
        name = item.name if item.kind == "variable" else item.path
    return name


# --- resolving ----------------------------------------------------------------------------------------


class EditedValue(Struct, frozen=True):
    """Resolution that doesn't use either side's version: the value or text to use instead."""

    value: Any


Choice = Literal["ours", "theirs", "base"] | EditedValue


def chosen(conflict: MergeConflict, choice: Choice) -> Any:
    return choice.value if isinstance(choice, EditedValue) else getattr(conflict, choice)


def resolve_field(entry: T, conflict: MergeConflict, choice: Choice) -> T | None:
    """Return the page or item after a ``field`` or ``deleted`` conflict is resolved; None if the resolution deletes it.
    Raises msgspec.ValidationError for an edited value that the field can't have."""
    value = chosen(conflict, choice)
    if conflict.kind == "deleted":
        if value is None:
            return None
        return (
            msgspec.convert(value, type(entry))
            if choice == "base" or isinstance(choice, EditedValue)
            else entry
        )
    name, _, element = (conflict.field or "").partition(".")
    if name == "place":
        parent, rank = value or (None, getattr(entry, "rank", ""))
        return replace(entry, parent=parent, rank=rank)
    if name == "file":
        return replace(entry, **(value or {}))
    if element:
        value = _with_element(getattr(entry, name), name, element, value)
    types = {field.name: field.type for field in msgspec.structs.fields(type(entry))}
    return replace(entry, **{name: msgspec.convert(value, types[name])})


def _with_element(collection: Any, name: str, element: str, value: Any) -> object:
    plain = by_slug(collection) if name in _LISTS else dict(msgspec.to_builtins(collection) or {})
    if value is None:
        plain.pop(element, None)
    else:
        plain[element] = value
    return list(plain.values()) if name in _LISTS else plain


class Resolution(Struct):
    """Result of resolving a text conflict. ``others``: the open conflicts of the same text at their new offsets.
    ``applied``: False if the text was edited at that position and no longer contains the conflict's version."""

    text: str
    others: list[MergeConflict]
    applied: bool


def resolve(
    text: str, conflict: MergeConflict, choice: Choice, others: Iterable[MergeConflict] = ()
) -> Resolution:
    """Return the merged source with one ``block`` conflict resolved."""
    rest = list(others)
    done = resolve_text(text, _as_text(conflict), chosen(conflict, choice), map(_as_text, rest))
    moved = [replace(other, at=place.at) for other, place in zip(rest, done.others, strict=True)]
    return Resolution(done.text, moved, done.applied)


def _as_text(conflict: MergeConflict) -> TextConflict:
    return TextConflict(
        conflict.at or 0, conflict.base, conflict.ours, conflict.theirs, conflict.kept, conflict.index or 0
    )
