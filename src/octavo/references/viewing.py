"""A state of a space as somebody meets it who reads it as a whole: visitors of a site, and prints.

Revisions never change, so a view is built once and kept; a page then takes the database for its own text alone.
Everything that leaves the reader or a print is made from what is here: a page whose condition fails is not in
the tree, and of a document only what its reader sees is handed out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ..content import (
    Expansion,
    Item,
    ItemKind,
    State,
    computed_document,
    expand,
    list_items,
    list_pages,
    list_variables,
    read_source,
)
from ..core.document import (
    Anchors,
    Document,
    Place,
    anchors,
    close_conditions,
    list_places,
)
from ..core.expressions import NOBODY, Shown
from ..core.page_tree import PageTree
from ..core.pages import Page
from ..errors import BadRequest
from ..kit.cache import ByteCache
from ..kit.db import Transaction
from .inclusions import Inclusions
from .lookup import Owner, OwnerKind, find_include, places_of, with_included
from .resolving import page_owner

_CACHE_BYTES = 128 * 1024 * 1024
_PAGE_BYTES = 900


class SpaceView:
    """The pages, files and variables of one revision for one ``visitor``, as conditions ask them.

    ``tree`` are the pages that they see, ``every`` all there are: a link to one that is withheld is no broken link.
    ``computed`` names all that computed pages are made of.
    """

    def __init__(
        self,
        state: State,
        pages: list[Page],
        items: list[Item],
        variables: dict[str, Any],
        computed: bytes = b"",
        visitor: Mapping[str, Any] = NOBODY,
    ) -> None:
        self.state = state
        self.visitor = visitor
        self._pages = pages
        self.computed = computed
        self.variables = variables
        self.tree = PageTree(pages, self._holds)
        self.every = self.tree if len(self.tree) == len(pages) else PageTree(pages, lambda page: True)
        self.items = {item.id: item for item in items}
        self._by_file: dict[str, str] = {}
        for page in self.every.order:
            if page.file_path:
                self._by_file.setdefault(page.file_path, page.id)
        self._by_path = {(item.kind, item.path): item.id for item in items if item.path}

    def _holds(self, page: Page) -> bool:
        return page.condition is None or self.shown(page).holds(page.condition)

    def shown(self, page: Page) -> Shown:
        """What expressions and conditions on a page give to this visitor."""
        return Shown(self.variables, page.variables, self.visitor)

    def seen_by(self, visitor: Mapping[str, Any]) -> SpaceView:
        """The same revision for somebody else."""
        items = list(self.items.values())
        return SpaceView(self.state, self._pages, items, self.variables, self.computed, visitor)

    def is_withheld(self, ref: dict[str, Any]) -> bool:
        """Whether a resolved reference leads to a page that is there, but not for this visitor."""
        page = ref.get("page")
        if ref.get("kind") not in ("page", "anchor") or not isinstance(page, str):
            return False
        return ref.get("space") in (None, self.state.space_id) and self.tree.page(page) is None

    def item(self, item_id: str, kind: ItemKind) -> Item | None:
        item = self.items.get(item_id)
        return item if item is not None and item.kind == kind else None

    def page_of_file(self, file_path: str) -> str | None:
        return self._by_file.get(file_path)

    def item_at(self, kind: ItemKind, path: str) -> str | None:
        return self._by_path.get((kind, path))


_views: ByteCache[SpaceView] = ByteCache(_CACHE_BYTES)


def load_view(tx: Transaction, state: State, visitor: Mapping[str, Any] = NOBODY) -> SpaceView:
    """The view of a state; it is kept, for each visitor that differs."""
    loaded = _load_for_nobody(tx, state)
    if visitor == NOBODY:
        return loaded
    key = (state.revision_id, loaded.computed, msgspec.json.encode(visitor, order="sorted"))
    seen = _views.get(key)
    if seen is None:
        seen = loaded.seen_by(visitor)
        _views.put(key, seen, _PAGE_BYTES * (len(loaded.every) + len(loaded.items)) + 1)
    return seen


def _load_for_nobody(tx: Transaction, state: State) -> SpaceView:
    # A state without computed pages is all that its revision says, and is kept under it alone.
    loaded = _views.get((state.revision_id, b""))
    if loaded is None:
        expansion = expand(tx, state, None)
        loaded = _views.get((state.revision_id, expansion.fingerprint))
        if loaded is None:
            loaded = _load(tx, state, expansion)
            size = _PAGE_BYTES * (len(loaded.every) + len(loaded.items))
            _views.put((state.revision_id, expansion.fingerprint), loaded, size + 1)
    return loaded


def _load(tx: Transaction, state: State, expansion: Expansion) -> SpaceView:
    pages = expansion.into(list_pages(tx, state))
    items = [*list_items(tx, state, "file"), *list_items(tx, state, "reusable-content"), *expansion.items]
    return SpaceView(state, pages, items, list_variables(tx, state), expansion.fingerprint)


class ViewFiles:
    """What references find in a view (``Files``). ``withheld``: also pages that its visitor does not see, so that a
    link to one is known for what it is."""

    def __init__(self, tx: Transaction, view: SpaceView, *, withheld: bool) -> None:
        self.space_id = view.state.space_id
        self.revision_id = f"{view.state.revision_id}{view.computed.hex()}"
        self._tx = tx
        self._view = view
        self._tree = view.every if withheld else view.tree
        self._anchors: dict[str, Anchors] = {}

    def find_page(self, file_path: str) -> str | None:
        return self._view.page_of_file(file_path)

    def find_page_by_path(self, path: str) -> str | None:
        page = self._tree.find(path)
        return page.id if page is not None and self._tree.paths[page.id] == (path or page.slug) else None

    def find_page_by_id(self, page: str) -> str | None:
        return page if self._tree.page(page) is not None else None

    def find_path(self, page: str) -> str | None:
        return self._tree.paths.get(page)

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
            places = [place for _, place in list_places(source_document(self._tx, self._view, page))]
            return anchors(places, self._view.shown(page).holds)
        item = self._view.item(owner.id, "reusable-content")
        body = page.body if page is not None else item.content if item is not None else None

        inclusions = Inclusions()

        def included(written: str) -> list[Place] | None:
            found = find_include(self, owner, written)
            there = self._view.item(found, "reusable-content") if found is not None else None
            if there is None or not inclusions.admit(there.size):
                return None
            return places_of(self._tx, there.content)

        places = list(with_included(places_of(self._tx, body), included))
        return anchors(places, self._view.shown(page).holds if page is not None else None)


def source_document(tx: Transaction, view: SpaceView, page: Page) -> Document:
    """The document of a page as it was written, or as it is computed."""
    if not page.computed:
        return close_conditions(read_source(tx, page.body))
    try:
        return computed_document(tx, view.state.space_id, None, page)
    except BadRequest:
        return read_source(tx, None)
