"""A state of a space as somebody meets it who reads it as a whole: visitors of a site, and prints.

Revisions never change, so a view is built once and kept; a page then takes the database for its own text alone.
Everything that leaves the reader or a print is made from what stands here: a page whose condition fails is not in
the tree, and of a document only what its reader sees is handed out.
"""

from __future__ import annotations

from collections.abc import Callable
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
    read_source,
)
from ..core.document import (
    Anchors,
    Block,
    Document,
    Inline,
    Place,
    anchors,
    close_conditions,
    list_places,
    mark_places,
    references,
    replace_nodes,
    rewrite,
    show_document,
)
from ..core.expressions import Shown
from ..core.page_tree import PageTree
from ..core.pages import Page
from ..errors import BadRequest
from ..kit.cache import ByteCache
from ..kit.db import Transaction
from .lookup import Owner, OwnerKind, find_include, places_of, with_included
from .resolving import Resolver, page_owner

_CACHE_BYTES = 128 * 1024 * 1024
_PAGE_BYTES = 900


class SpaceView:
    """The pages, files and variables of one revision for a visitor who has proved nothing.

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
    ) -> None:
        self.state = state
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
        return Shown(self.variables, page.variables)

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


def load_view(tx: Transaction, state: State) -> SpaceView:
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
    variables = {
        item.name: msgspec.json.decode(item.content or "null") for item in list_items(tx, state, "variable")
    }
    return SpaceView(state, pages, items, variables, expansion.fingerprint)


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
            document = _computed(self._tx, self._view, page)
            return anchors([place for _, place in list_places(document)], self._view.shown(page).holds)
        item = self._view.item(owner.id, "reusable-content")
        body = page.body if page is not None else item.content if item is not None else None

        def included(written: str) -> list[Place] | None:
            found = find_include(self, owner, written)
            there = self._view.item(found, "reusable-content") if found is not None else None
            return places_of(self._tx, there.content) if there is not None else None

        places = list(with_included(places_of(self._tx, body), included))
        return anchors(places, self._view.shown(page).holds if page is not None else None)


def _computed(tx: Transaction, view: SpaceView, page: Page) -> Document:
    try:
        return computed_document(tx, view.state.space_id, None, page)
    except BadRequest:
        return read_source(tx, None)


class Documents:
    """The documents of a view as its visitor sees them: evaluated, with what is included in its place, and without
    comments and links to withheld pages. ``resolver`` is over the view's own files, withheld ones too."""

    def __init__(self, tx: Transaction, view: SpaceView, resolver: Resolver) -> None:
        self._tx = tx
        self._view = view
        self._resolver = resolver

    def to_draw(self, page: Page) -> Document:
        """For HTML and prints: with references resolved, and the ids of places written into their nodes."""
        owner = page_owner(page)
        document = self._resolver.resolve_all(self._source(page), owner)
        document = self._with_includes(document, owner)
        mark_places(document)
        document = show_document(document, self._view.shown(page))
        return self._without_withheld(document, lambda ref, _: self._view.is_withheld(ref))

    def to_write(self, page: Page, url_of: Callable[[dict[str, Any]], str | None]) -> Document:
        """For Markdown: references stay as they are written, and blocks in which nothing had to change keep their
        source. In what is included, paths mean other files; there ``url_of`` gives the address of a resolved
        reference."""
        owner = page_owner(page)
        document = self._with_includes(self._source(page), owner)
        document = show_document(document, self._view.shown(page))

        def withheld(ref: dict[str, Any], type: str) -> bool:
            return self._view.is_withheld(self._resolver.content_ref(owner, ref, type))

        document = self._without_withheld(document, withheld)
        document = replace_nodes(
            document, lambda node: node.nodes if node.type == "reusable-content" else None
        )

        def address(reference: Any) -> dict[str, Any] | None:
            url = None if reference.ref.get("kind") == "url" else url_of(reference.ref)
            return {"kind": "url", "url": url} if url else None

        return rewrite(document, address)

    def _source(self, page: Page) -> Document:
        if page.computed:
            return _computed(self._tx, self._view, page)
        return close_conditions(read_source(self._tx, page.body))

    def _with_includes(self, document: Document, owner: Owner) -> Document:
        def hold(node: Block | Inline) -> list[Any] | None:
            if node.type != "reusable-content" or node.nodes:
                return None
            found = self._included(owner, node.data.get("ref"))
            return [Block(node.type, node.data, found, key=node.key)] if found else []

        return replace_nodes(document, hold)

    def _included(self, owner: Owner, ref: Any) -> list[Any]:
        resolved = self._resolver.content_ref(owner, ref, "reusable-content") if isinstance(ref, dict) else {}
        item = self._view.item(str(resolved.get("reusableContent")), "reusable-content")
        if item is None or not item.content:
            return []
        document = close_conditions(read_source(self._tx, item.content))
        self._resolver.resolve_all(document, Owner(item.id, "reusable-content", item.path))
        # Reusable contents do not nest; this also ends a circle.
        document = replace_nodes(document, lambda node: [] if node.type == "reusable-content" else None)
        for block in document.nodes:
            # What it says of its own file is not what is shown of it here.
            block.source = None
        return list(document.nodes)

    def _without_withheld(
        self, document: Document, withheld: Callable[[dict[str, Any], str], bool]
    ) -> Document:
        """A link to a page that is not there for the visitor is its text; what shows a page's title goes with it."""
        if self._view.every is self._view.tree:
            return document
        gone = {(r.type, _encoded(r.ref)) for r in references(document) if withheld(r.ref, r.type)}
        if not gone:
            return document

        def is_gone(node: Block | Inline, ref: Any) -> bool:
            return isinstance(ref, dict) and (node.type, _encoded(ref)) in gone

        def change(node: Block | Inline) -> list[Any] | None:
            if node.type == "table":
                return _table_without(node, lambda ref: is_gone(node, ref))
            if not is_gone(node, node.data.get("ref")):
                return None
            if node.type == "link":
                return list(node.nodes)
            if node.type == "button":
                data = {name: value for name, value in node.data.items() if name != "ref"}
                return [Inline(node.type, data, key=node.key)]
            return []

        return replace_nodes(document, change)


def _table_without(table: Block | Inline, is_gone: Callable[[Any], bool]) -> list[Any] | None:
    """The table without values that lead to what is gone; None where there is none."""

    def kept(record: dict[str, Any]) -> dict[str, Any]:
        values = {n: v for n, v in record.get("values", {}).items() if not is_gone(_ref_of(v))}
        return {**record, "values": values}

    records = {name: kept(record) for name, record in table.data.get("records", {}).items()}
    if records == table.data.get("records"):
        return None
    assert isinstance(table, Block)
    return [Block(table.type, {**table.data, "records": records}, table.nodes, table.fragments, table.key)]


def _ref_of(value: Any) -> Any:
    return value.get("ref", value) if isinstance(value, dict) else None


def _encoded(ref: dict[str, Any]) -> bytes:
    return msgspec.json.encode(ref, order="sorted")
