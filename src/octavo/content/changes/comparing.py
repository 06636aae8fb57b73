"""Find the changes in a change request and in main since they diverged, and merge these changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from octavo.content.revisions.bodies import body_hash, get_body
from octavo.content.revisions.drafting import same_version
from octavo.content.revisions.history import get_revision
from octavo.content.revisions.item_versions import Item, find_item_by_path, find_items
from octavo.content.revisions.keys import KeptKeys, carried_keys, keyed_document
from octavo.content.revisions.page_versions import (
    find_page,
    find_page_by_file,
    find_pages,
    list_by_slug,
    list_children,
)
from octavo.content.revisions.states import Layer, State, TouchedIds, list_branch_content, list_changed
from octavo.content.revisions.store import Changes
from octavo.core.document.nodes import Document
from octavo.core.merge import MergeConflict, MergeResult, Tree, Versions, merge
from octavo.core.pages import Page
from octavo.kit.db.database import Transaction

from .applying import EditedContent
from .store import ChangeRow

T = TypeVar("T", Page, Item)


class StateTree(Tree):
    """Page tree of the state that a merge writes to."""

    def __init__(self, tx: Transaction, state: State) -> None:
        self.tx, self.state = tx, state

    def page(self, page_id: str) -> Page | None:
        return find_page(self.tx, self.state, page_id)

    def children(self, parents: Iterable[str | None]) -> Iterable[Page]:
        return list_children(self.tx, self.state, parents)

    def with_slug(self, parent: str | None, slug: str) -> Iterable[Page]:
        return list_by_slug(self.tx, self.state, parent, slug)

    def path_taken(self, path: str) -> bool:
        return (
            find_page_by_file(self.tx, self.state, path) is not None
            or find_item_by_path(self.tx, self.state, path) is not None
        )


class Sides(Struct, frozen=True):
    """Versions to merge: the versions in a change request, in main, and in their common base."""

    base: Versions
    change: Versions
    main: Versions


def _versions(tx: Transaction, base: State, touched: TouchedIds, before: Versions) -> Versions:
    """Return the versions of these pages and items in a state. Content that was changed and then changed back counts as
    unchanged."""
    pages, items = find_pages(tx, base, touched.pages), find_items(tx, base, touched.items)
    return Versions(
        {id: _unless_unchanged(pages.get(id), before.pages.get(id)) for id in touched.pages},
        {id: _unless_unchanged(items.get(id), before.items.get(id)) for id in touched.items},
    )


def _unless_unchanged(now: T | None, before: T | None) -> T | None:
    return before if same_version(now, before) else now


def sides_of(tx: Transaction, change: ChangeRow) -> Sides:
    """Return the current sides for merging a change request with main."""
    lock_unchanged = list_branch_content(tx, change.state.layers[0])
    changed = list_changed(tx, change.main.layers[0], change.base_sequence)
    return _sides(tx, change.below, (change.state, lock_unchanged), (change.main, changed))


def sides_of_reverting(tx: Transaction, done: State, main: State) -> Sides:
    """Return the sides for reverting a revision of main, including any consecutive saves that were combined into it.
    One side is the reversal, represented as a change request based on the revision; the other side is current main."""
    branch, sequence = done.layers[0].branch_id, done.layers[0].sequence
    since = get_revision(tx, done.revision_id).before
    touched = list_changed(tx, done.layers[0], since)
    before = State(done.space_id, "", (Layer(branch, since),))
    changed = list_changed(tx, main.layers[0], sequence)
    return _sides(tx, done, (before, touched), (main, changed))


def _sides(
    tx: Transaction, below: State, change: tuple[State, TouchedIds], main: tuple[State, TouchedIds]
) -> Sides:
    all_pages, all_items = change[1].pages | main[1].pages, change[1].items | main[1].items
    base = Versions(find_pages(tx, below, all_pages), find_items(tx, below, all_items))
    return Sides(base, _versions(tx, *change, base), _versions(tx, *main, base))


class MergedContent(Struct, frozen=True):
    """Content to write to a branch in a revision that contains the result of a merge."""

    changes: Changes
    bodies: list[str]
    keys: list[KeptKeys]
    conflicts: list[MergeConflict]


def merge_into_main(
    tx: Transaction, sides: Sides, main: State, *, keeps_paths: bool = False
) -> MergedContent:
    """Merge a change request into main. ``keeps_paths``: if both sides added a file at the same path, whether the
    change request's file keeps the path and main's file is moved."""
    found = _merge(tx, sides.base, sides.main, sides.change, main, keeps_paths=keeps_paths)
    pages = {**sides.base.pages, **sides.main.pages}
    items = {**sides.base.items, **sides.main.items}
    return _written(tx, found, Versions(pages, items), main, (sides.main, sides.change))


def merge_into_change(tx: Transaction, sides: Sides, change: State, main: State) -> MergedContent:
    """Merge main into a change request, so that the change request is based on current main."""
    found = _merge(tx, sides.base, sides.change, sides.main, change)
    pages = {**sides.base.pages, **sides.main.pages, **sides.change.pages}
    items = {**sides.base.items, **sides.main.items, **sides.change.items}
    return _written(tx, found, Versions(pages, items), main, (sides.change, sides.main))


def merge_reverted(tx: Transaction, sides: Sides, done: State, main: State) -> MergedContent:
    """Return the changes that remove one of main's revisions, for a change request based on current main."""
    found = _merge(tx, sides.base, sides.change, sides.main, done)
    pages = {**sides.base.pages, **sides.main.pages}
    items = {**sides.base.items, **sides.main.items}
    return _written(tx, found, Versions(pages, items), main, (sides.change, sides.main))


def merge_edit(tx: Transaction, base: State, head: State, edited: EditedContent) -> MergedContent:
    """Merge an unsaved edit of ``base`` with ``head``, a later state of the same branch. In conflicts,
    ``ours`` is the saved content, which is kept, and ``theirs`` is the edit."""
    # Hidden pages keep their slugs and paths.
    base, head = base.whole, head.whole
    since = _between(tx, base, head)
    wanted = edited.changes
    all_pages, all_items = since.pages | wanted.pages.keys(), since.items | wanted.items.keys()
    before = Versions(find_pages(tx, base, all_pages), find_items(tx, base, all_items))
    ours = _versions(tx, head, since, before)
    theirs = Versions(
        {id: _unless_unchanged(page, before.pages.get(id)) for id, page in wanted.pages.items()},
        {id: _unless_unchanged(item, before.items.get(id)) for id, item in wanted.items.items()},
    )
    texts = {body_hash(text): text for text in edited.bodies}

    def read(digest: str) -> str:
        return texts[digest] if digest in texts else get_body(tx, digest)

    kept = {(keys.owner_id, keys.body): keys.keys for keys in edited.keys}

    def document(owner_id: str, body: str) -> Document:
        return keyed_document(tx, owner_id, body, texts.get(body), kept.get((owner_id, body)))

    found = _merge(tx, before, ours, theirs, head, read)
    known = Versions({**before.pages, **ours.pages}, {**before.items, **ours.items})
    made = _written(tx, found, known, head, (ours, theirs), document)
    return replace(made, conflicts=[replace(conflict, origin="edit") for conflict in made.conflicts])


def merge_without(tx: Transaction, before: State, after: State, head: State) -> MergedContent:
    """Return ``head`` without the changes between ``before`` and ``after``, two earlier states of the same change
    request that are based on the same revision of main. A conflict means that the content was edited again after
    ``after``."""
    done, since = _between(tx, before, after), _between(tx, after, head)
    sides = _sides(tx, after, (head, since), (before, done))
    found = _merge(tx, sides.base, sides.change, sides.main, head)
    pages = {**sides.base.pages, **sides.change.pages}
    items = {**sides.base.items, **sides.change.items}
    return _written(tx, found, Versions(pages, items), head, (sides.change, sides.main))


def _between(tx: Transaction, base: State, head: State) -> TouchedIds:
    """Return the pages and items that may differ between two states, one of which descends from the other. Both states
    belong to main or to one change request, or one belongs to main and the other to a change request based on it."""
    pages: set[str] = set()
    items: set[str] = set()
    for layer in head.layers:
        then = next((below.sequence for below in base.layers if below.branch_id == layer.branch_id), None)
        if then is None:
            touched = list_branch_content(tx, layer)
        else:
            low, high = sorted((then, layer.sequence))
            touched = list_changed(tx, Layer(layer.branch_id, high), low)
        pages |= touched.pages
        items |= touched.items
    return TouchedIds(frozenset(pages), frozenset(items))


def _merge(
    tx: Transaction,
    base: Versions,
    ours: Versions,
    theirs: Versions,
    state: State,
    read: Callable[[str], str] | None = None,
    keeps_paths: bool = False,
) -> MergeResult:
    return merge(
        base,
        ours,
        theirs,
        read=read or (lambda digest: get_body(tx, digest)),
        digest=body_hash,
        tree=StateTree(tx, state),
        theirs_keep_paths=keeps_paths,
    )


OfText = Callable[[str, str], Document]
"""Function that takes an owner's ID and the hash of its source, and returns the document with keys."""


def _written(
    tx: Transaction,
    found: MergeResult,
    known: Versions,
    below: State,
    sides: tuple[Versions, Versions],
    document: OfText | None = None,
) -> MergedContent:
    """Return the content to write: the differences between a merge result and ``known``, the current content of the
    branch. ``below``: the state to read all other content from."""
    unknown = [id for id in found.pages if id not in known.pages]
    pages = {**find_pages(tx, below, unknown), **known.pages}
    changes = Changes(
        {id: page for id, page in found.pages.items() if not same_version(page, pages.get(id))},
        {id: item for id, item in found.items.items() if not same_version(item, known.items.get(id))},
    )
    keys = _keys(
        changes, found.bodies, sides, document or (lambda owner_id, body: keyed_document(tx, owner_id, body))
    )
    return MergedContent(changes, list(found.bodies.values()), keys, found.conflicts)


def _keys(
    changes: Changes, bodies: dict[str, str], sides: tuple[Versions, Versions], document: OfText
) -> list[KeptKeys]:
    """Return the keys that nodes of merged content keep from either side."""
    kept = []
    texts = [(id, page.body, "pages") for id, page in changes.pages.items() if page is not None]
    texts += [(id, item.content, "items") for id, item in changes.items.items() if item is not None]
    for id, body, where in texts:
        if body is None or body not in bodies:
            continue
        olds = []
        for side in sides:
            entry = getattr(side, where).get(id)
            old = None if entry is None else entry.body if isinstance(entry, Page) else entry.content
            if old is not None:
                olds.append(document(id, old))
        if olds and (keys := carried_keys(olds, bodies[body])):
            kept.append(KeptKeys(id, body, keys))
    return kept
