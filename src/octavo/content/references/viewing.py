"""Views of a whole space as a site visitor sees it, or as a PDF shows it.

Revisions never change, so a view is built once and cached; the database is then needed only for the text of the
displayed page. All reader output and all PDFs are based on a view: a page whose condition isn't met isn't in the tree,
and only the visible parts of a document are returned.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Generic, TypeVar

import msgspec

from octavo.content.revisions.bodies import read_source
from octavo.content.revisions.expanding import Expansion, computed_document, expand
from octavo.content.revisions.item_versions import (
    Item,
    ItemKind,
    find_items,
    list_items,
    list_variables,
)
from octavo.content.revisions.page_versions import find_pages, list_pages
from octavo.content.revisions.restrictions import shown_state
from octavo.content.revisions.states import State, list_changed
from octavo.content.revisions.tags import list_tags
from octavo.core.document.anchors import Anchors, DocumentPlace, anchors, list_places
from octavo.core.document.evaluating import close_conditions
from octavo.core.document.nodes import Document
from octavo.core.expressions import NOBODY, Shown
from octavo.core.layered_mapping import Layered
from octavo.core.page_tree import PageTree
from octavo.core.pages import Page
from octavo.core.redirects import compare_key
from octavo.core.tags import Tag
from octavo.errors import BadRequest
from octavo.kit.db.cache import OwnCache
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Visitor

from .inclusions import Inclusions
from .lookup import Owner, OwnerKind, SpaceFiles, find_include, places_of, with_included
from .resolving import page_owner

K = TypeVar("K", bound=Hashable)

_PAGE_BYTES = 950
"""Estimated memory in bytes for a page or file with its indexes. The measured average for 3,000 pages with short titles
is 935."""
_PARENT_BYTES = 200
_VIEW_BYTES = 3_000
"""Estimated memory in bytes of a view's dozen mappings, without its pages."""
_SHOWN_ITEMS: tuple[ItemKind, ...] = ("file", "reusable-content")


_MANY = 0.25
"""Maximum fraction of a space that a revision can change before the whole space is read again."""


class _IdsByName(Generic[K]):
    """IDs by name; the lowest ID if several items have the same name. ``shared``: the names with more than one ID."""

    def __init__(self, named: Iterable[tuple[K, str]]) -> None:
        ids: dict[K, str] = {}
        self.shared: set[K] = set()
        for name, id in named:
            known = ids.setdefault(name, id)
            if known != id:
                self.shared.add(name)
                ids[name] = min(known, id)
        self._ids = Layered(ids)

    def get(self, name: K) -> str | None:
        return self._ids.get(name)

    def changed(
        self, gone: Iterable[K], new: Iterable[tuple[K, str]], every: Iterable[tuple[K, str]]
    ) -> _IdsByName[K]:
        """Return a copy without the removed names and with the new names. ``every``: all names in the result."""
        gone, new = set(gone), list(new)
        if self.shared & (gone | {name for name, _ in new}):
            return _IdsByName(every)
        if any(name in self._ids and name not in gone for name, _ in new) or len(dict(new)) < len(new):
            return _IdsByName(every)
        copy = _IdsByName[K](())
        copy.shared = self.shared
        copy._ids = self._ids.changed({**dict.fromkeys(gone), **dict(new)})
        return copy


class SpaceView:
    """Pages, files, variables, and tags of one revision for a ``visitor``, whose claims determine which
    conditions are met.

    ``tree``: the pages that the visitor can see. ``every``: all pages, because a link to a withheld page isn't a broken
    link. ``computed``: a key for all data that computed pages depend on.
    """

    def __init__(
        self,
        state: State,
        every: PageTree,
        items: Mapping[str, Item],
        variables: Mapping[str, object],
        tags: Mapping[str, Tag],
        computed: bytes = b"",
        visitor: Mapping[str, object] = NOBODY,
        names: tuple[_IdsByName[str], _IdsByName[tuple[ItemKind, str]]] | None = None,
    ) -> None:
        self.state = state
        self.visitor = visitor
        self.computed = computed
        self.variables = variables
        self.tags = tags
        self.every = every
        self.items = items if isinstance(items, Layered) else Layered(dict(items))
        self._names = names or (
            _IdsByName(_files_of(every.all_pages())),
            _IdsByName(_paths_of(items.values())),
        )
        self._by_file, self._by_path = self._names
        held_back = (
            page
            for id in every.conditional
            if (page := every.any_page(id)) is not None and not self.shown(page).holds(page.condition or "")
        )
        self.tree = every.without(frozenset(page.id for page in held_back))

    def shown(self, page: Page) -> Shown:
        """Return the values of expressions and conditions on a page for this visitor."""
        return Shown(self.variables, page.variables, self.visitor)

    def seen_by(self, visitor: Mapping[str, object]) -> SpaceView:
        """Return the same revision for another visitor."""
        return SpaceView(
            self.state, self.every, self.items, self.variables, self.tags, self.computed, visitor, self._names
        )

    def starting_at(self, page_id: str) -> SpaceView:
        """Return the same view, with another page as its home page."""
        copy = SpaceView.__new__(SpaceView)
        copy.__dict__ |= self.__dict__
        copy.tree = self.tree.starting_at(page_id)
        return copy

    def changed(
        self,
        state: State,
        pages: dict[str, Page | None],
        items: dict[str, Item | None],
        variables: Mapping[str, object],
        tags: Mapping[str, Tag],
    ) -> SpaceView:
        """Return the view of a later revision of the same branch. The given pages and items replace pages and items
        with the same IDs; None deletes them."""
        before = {id: page for id in pages if (page := self.every.any_page(id)) is not None}
        every = self.every.changed(pages)
        by_file = self._by_file.changed(
            (name for name, _ in _files_of(before.values())),
            _files_of(page for page in pages.values() if page is not None),
            _files_of(every.all_pages()),
        )
        gone = [name for name, _ in _paths_of(self.items[id] for id in items if id in self.items)]
        shown = {id: item for id, item in items.items() if item is None or item.kind in _SHOWN_ITEMS}
        there = self.items.changed(shown)
        new = _paths_of(there[id] for id in items if id in there)
        by_path = self._by_path.changed(gone, new, _paths_of(there.values()))
        return SpaceView(state, every, there, variables, tags, self.computed, names=(by_file, by_path))

    @property
    def withholds(self) -> bool:
        """Return whether there are pages that are hidden from this visitor."""
        return bool(self.tree.withheld)

    def is_withheld(self, ref: Mapping[str, object]) -> bool:
        """Return whether a resolved reference points to a page that exists but isn't visible to this
        visitor."""
        page = ref.get("page")
        if ref.get("kind") not in ("page", "anchor") or not isinstance(page, str):
            return False
        return ref.get("space") in (None, self.state.space_id) and self.tree.page(page) is None

    @cached_property
    def redirects(self) -> Mapping[str, Page]:
        """Return the visible pages by their former paths, which redirect to them. If two pages have the same former
        path, the first page is used."""
        found: dict[str, Page] = {}
        for page in self.every.all_pages():
            if page.redirect_from and self.tree.page(page.id) is not None:
                for path in page.redirect_from:
                    found.setdefault(compare_key(path), page)
        return found

    def item(self, item_id: str, kind: ItemKind) -> Item | None:
        item = self.items.get(item_id)
        return item if item is not None and item.kind == kind else None

    def page_of_file(self, file_path: str) -> str | None:
        return self._by_file.get(file_path)

    def item_at(self, kind: ItemKind, path: str) -> str | None:
        return self._by_path.get((kind, path))


def _files_of(pages: Iterable[Page]) -> Iterator[tuple[str, str]]:
    return ((page.file_path, page.id) for page in pages if page.file_path and page.kind == "document")


def _paths_of(items: Iterable[Item]) -> Iterator[tuple[tuple[ItemKind, str], str]]:
    return (((item.kind, item.path), item.id) for item in items if item.path)


_views: OwnCache[SpaceView] = OwnCache("spaces as visitors see them", 64)


def load_view(
    tx: Transaction, state: State, visitor: Mapping[str, object] = NOBODY, home: str | None = None
) -> SpaceView:
    """Return the view of a state; it is cached for each distinct visitor. ``home``: the ID of the home page
    on a site; None for the first page."""
    loaded = _load_for_nobody(tx, state)
    if visitor == NOBODY and home is None:
        return loaded
    key = (state.key, loaded.computed, msgspec.json.encode(visitor, order="sorted"), home)
    seen = _views.of(tx).get(key)
    if seen is None:
        seen = loaded.seen_by(visitor) if visitor != NOBODY else loaded
        seen = seen.starting_at(home) if home is not None else seen
        # The result shares everything except the lists of children.
        _views.of(tx).put(key, seen, _VIEW_BYTES + _PARENT_BYTES * len(loaded.every.children))
    return seen


def _load_for_nobody(tx: Transaction, state: State) -> SpaceView:
    # A state without computed pages depends only on its revision, so it is cached by revision.
    loaded = _views.of(tx).get((state.key, b""))
    if loaded is None:
        expansion = expand(tx, state, None)
        loaded = _views.of(tx).get((state.key, expansion.fingerprint))
        if loaded is None:
            loaded = _load_next(tx, state, expansion) or _load(tx, state, expansion)
            size = _VIEW_BYTES + _PAGE_BYTES * (len(loaded.every) + len(loaded.items))
            _views.of(tx).put((state.key, expansion.fingerprint), loaded, size)
            if not expansion.fingerprint and len(state.layers) == 1 and not state.hidden:
                # The view is also cached by branch, because it shares nearly everything with the previous and
                # next revisions.
                _views.of(tx).put(
                    state.layers[0].branch_id, loaded, _PARENT_BYTES * len(loaded.every.children)
                )
    return loaded


def _load(tx: Transaction, state: State, expansion: Expansion) -> SpaceView:
    pages = expansion.into(list_pages(tx, state))
    items = [*list_items(tx, state, "file"), *list_items(tx, state, "reusable-content"), *expansion.items]
    variables = list_variables(tx, state)
    every = PageTree(pages)
    by_id = {item.id: item for item in items}
    return SpaceView(state, every, by_id, variables, list_tags(tx, state), expansion.fingerprint)


def _load_next(tx: Transaction, state: State, expansion: Expansion) -> SpaceView | None:
    """Return a view derived from the view of an earlier revision and the changes since that revision. Return None if no
    such view is cached, if too much changed, or if pages are computed."""
    if expansion.fingerprint or len(state.layers) > 1 or state.hidden:
        return None
    layer = state.layers[0]
    before = _views.of(tx).get(layer.branch_id)
    if before is None or before.state.layers[0].sequence >= layer.sequence:
        return None
    touched = list_changed(tx, layer, before.state.layers[0].sequence)
    if len(touched.pages) + len(touched.items) > _MANY * (len(before.every) + len(before.items)):
        return None
    pages, items = find_pages(tx, state, touched.pages), find_items(tx, state, touched.items)
    return before.changed(
        state,
        {id: pages.get(id) for id in touched.pages},
        {id: items.get(id) for id in touched.items},
        list_variables(tx, state),
        list_tags(tx, state),
    )


class ViewFiles:
    """Implementation of ``SpaceFiles`` for the files of a view. ``withheld``: whether to include pages that the visitor
    can't see, so that links to them are recognized."""

    def __init__(self, tx: Transaction, view: SpaceView, *, withheld: bool) -> None:
        self.space_id = view.state.space_id
        self.revision_id = f"{view.state.key}{view.computed.hex()}"
        self.hides = bool(view.state.hidden)
        self._tx = tx
        self._view = view
        self._tree = view.every if withheld else view.tree
        self._anchors: dict[str, Anchors] = {}

    def find_page(self, file_path: str) -> str | None:
        return self._view.page_of_file(file_path)

    def find_page_by_path(self, path: str) -> str | None:
        page = self._tree.find(path)
        return page.id if page is not None and self._tree.path(page) == (path or page.slug) else None

    def find_page_by_id(self, page: str) -> str | None:
        return page if self._tree.page(page) is not None else None

    def find_path(self, page: str) -> str | None:
        found = self._tree.page(page)
        return self._tree.path(found) if found is not None else None

    def find_file(self, path: str) -> str | None:
        return self._view.item_at("file", path)

    def find_file_by_id(self, file: str) -> str | None:
        return file if self._view.item(file, "file") is not None else None

    def find_reusable(self, path: str) -> str | None:
        return self._view.item_at("reusable-content", path)

    def find_reusable_by_id(self, item: str) -> str | None:
        return item if self._view.item(item, "reusable-content") is not None else None

    def owner(self, owner_id: str, kind: OwnerKind) -> Owner | None:
        if kind == "page":
            page = self._tree.page(owner_id)
            return page_owner(page) if page is not None else None
        item = self._view.item(owner_id, "reusable-content")
        return Owner(item.id, "reusable-content", item.path) if item is not None else None

    def find_anchor(self, owner: Owner, wanted: str) -> str | None:
        if owner.id not in self._anchors:
            self._anchors[owner.id] = self._anchors_of(owner)
        return self._anchors[owner.id].find(wanted)

    def _anchors_of(self, owner: Owner) -> Anchors:
        page = self._tree.page(owner.id) if owner.kind == "page" else None
        if page is not None and page.computed:
            computed = source_document(self._tx, self.space_id, page)
            places = [place for _, place in list_places(computed)]
            return anchors(places, self._view.shown(page).holds, page.title)
        item = self._view.item(owner.id, "reusable-content")
        body = page.body if page is not None else item.content if item is not None else None

        inclusions = Inclusions()

        def included(written: str) -> list[DocumentPlace] | None:
            found = find_include(self, owner, written)
            there = self._view.item(found, "reusable-content") if found is not None else None
            if there is None or not inclusions.admit(there.size):
                return None
            return places_of(self._tx, there.content)

        places = list(with_included(places_of(self._tx, body), included))
        return (
            anchors(places, self._view.shown(page).holds, page.title) if page is not None else anchors(places)
        )


class SiteVisitor:
    """Implementation of ``Viewer`` for a site visitor, who can see only the spaces on the site. ``view``: a function
    that returns the visitor's view of one of the other spaces."""

    members = False

    def __init__(
        self, tx: Transaction, sees: Callable[[str], bool], view: Callable[[str], SpaceView]
    ) -> None:
        self._tx = tx
        self._sees, self._view = sees, view

    def sees(self, space_id: str) -> bool:
        return self._sees(space_id)

    def files(self, space_id: str) -> SpaceFiles | None:
        return ViewFiles(self._tx, self._view(space_id), withheld=False) if self._sees(space_id) else None


def visitor_of_token(tx: Transaction, visitor: Visitor) -> SiteVisitor:
    """Return the visitor on whose behalf an external renderer calls."""

    def view(space_id: str) -> SpaceView:
        return load_view(tx, shown_state(tx, visitor.drafted, space_id), visitor.claims)

    return SiteVisitor(tx, visitor.spaces.__contains__, view)


def source_document(tx: Transaction, space_id: str, page: Page) -> Document:
    """Return the stored or computed document of a page."""
    if not page.computed:
        return close_conditions(read_source(tx, page.body))
    try:
        return computed_document(tx, space_id, None, page)
    except BadRequest:
        return read_source(tx, None)
