"""Reading one state of a space's content, whichever base it is: main, a change request, a revision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import msgspec
from msgspec import Raw

from ..core.pages import Page
from ..kit.cache import ByteCache
from ..kit.db import Transaction
from ..kit.operation import Call
from ..kit.pagination import Listing, present_slice
from . import store
from .computing import Computed
from .documents import Evaluated, document_json, markdown_of, resolve_reference
from .files import download_url
from .store import Base, Item
from .wire import (
    ComputedRevision,
    ContentQuery,
    DocumentPage,
    DocumentQuery,
    File,
    FilesQuery,
    PageContentQuery,
    Pages,
    ReusableContent,
    Revision,
    RevisionPage,
    app_url,
    present_file,
    present_page,
    present_reusable,
    present_revision,
    present_tree,
    present_variables,
)

MergedFrom = Callable[[Call, Transaction, str], Any]
_merged_from: list[MergedFrom] = []


def explain_merges(present: MergedFrom) -> None:
    """Registers what shows the change request that a revision was merged from."""
    _merged_from[:] = [present]


_CACHE_BYTES = 64 * 1024 * 1024
_pages: ByteCache[bytes] = ByteCache(_CACHE_BYTES)


class Reader:
    """What the operations of all three bases call; lives as long as one request. ``view``: where the state is
    looked at in the application, below the space."""

    def __init__(self, call: Call, tx: Transaction, base: Base, view: str = "") -> None:
        self._call = call
        self._tx = tx
        self._base = base
        self._app = app_url(call, base.space_id) + view

    def revision(self, query: ContentQuery) -> Revision:
        tx, base = self._tx, self._base
        revision = store.get_revision(tx, base.revision_id)
        merged = None
        if revision.merged_from is not None and _merged_from:
            merged = _merged_from[0](self._call, tx, revision.merged_from)
        return present_revision(
            self._app,
            revision,
            merged_from=merged,
            pages=self.pages().pages,
            files=[self.present_file(item) for item in store.list_items(tx, base, "file")],
            reusable_contents=[
                present_reusable(item) for item in store.list_items(tx, base, "reusable-content")
            ],
            variables=self.variables(),
            metadata=query.metadata,
        )

    def pages(self) -> Pages:
        key = (self._base.revision_id, "tree", self._app)
        kept = _pages.get(key)
        if kept is None:
            pages = store.list_pages(self._tx, self._base)
            kept = msgspec.json.encode(present_tree(self._app, pages, None, "", self._cover))
            _pages.put(key, kept, len(kept))
        # Encoded already, as part of whatever it stands in.
        return Pages(cast(list[RevisionPage], Raw(kept)))

    def computed(self, found: Computed) -> ComputedRevision:
        """What a source gives, shown as if it stood in this state."""
        return ComputedRevision(
            pages=present_tree(self._app, found.pages, None, "", self._cover),
            files=[self.present_file(item) for item in found.items if item.kind == "file"],
            reusable_contents=[
                present_reusable(item) for item in found.items if item.kind == "reusable-content"
            ],
        )

    def page(self, page_id: str, query: PageContentQuery) -> Raw:
        # A revision never changes, so neither does what it says of a page.
        key = (self._base.revision_id, page_id, query.format, query.evaluated, self._app)
        kept = _pages.get(key)
        if kept is None:
            kept = msgspec.json.encode(self._whole(store.get_page(self._tx, self._base, page_id), query))
            _pages.put(key, kept, len(kept))
        return Raw(kept)

    def found_page(self, page_id: str) -> RevisionPage | None:
        """A page without what is below it and without its text; None when it is not there."""
        page = store.find_page(self._tx, self._base, page_id)
        if page is None:
            return None
        above = store.list_ancestors(self._tx, self._base, page)
        return present_page(self._app, page, "/".join(p.slug for p in [*above, page]), [], self._cover)

    def variables(self) -> dict[str, Any]:
        return present_variables(store.list_items(self._tx, self._base, "variable"))

    def page_by_path(self, path: str, query: PageContentQuery) -> RevisionPage:
        page = store.find_page_by_path(self._tx, self._base, path)
        if page is None or page.kind not in ("document", "group"):
            raise store.NotFound(f"There is no page at {path!r}.")
        return self._whole(page, query)

    def document(self, page_id: str, query: DocumentQuery) -> Raw:
        return self._document(store.get_page(self._tx, self._base, page_id), query.evaluated)

    def files(self, query: FilesQuery) -> Listing[File]:
        found = store.list_items_page(self._tx, self._base, "file", query.limit, query.page)
        return present_slice(found, self.present_file)

    def file(self, file_id: str) -> File:
        return self.present_file(store.get_item(self._tx, self._base, file_id, "file"))

    def reusable_content(self, item_id: str) -> ReusableContent:
        return present_reusable(store.get_item(self._tx, self._base, item_id, "reusable-content"))

    def reusable_document(self, item_id: str, query: DocumentQuery) -> Raw:
        item = store.get_item(self._tx, self._base, item_id, "reusable-content")
        return document_json(self._tx, self._base, item.id, item.content, item.path, query.evaluated)

    def _whole(self, page: Page, query: PageContentQuery) -> RevisionPage:
        """A page with its path, its subtree and, as ``format`` asks, its text."""
        tx, base = self._tx, self._base
        ancestors = store.list_ancestors(tx, base, page)
        path = "/".join(p.slug for p in [*ancestors, page])
        below = present_tree(self._app, store.list_subtree(tx, base, page.id), page.id, path, self._cover)
        presented = present_page(self._app, page, path, below, self._cover)
        if isinstance(presented, DocumentPage):
            if query.format == "markdown":
                presented.markdown = markdown_of(tx, base, page.body, query.evaluated, page.variables)
            elif query.format == "document":
                presented.document = self._document(page, query.evaluated)
        return presented

    def _document(self, page: Page, evaluated: Evaluated) -> Raw:
        return document_json(
            self._tx, self._base, page.id, page.body, page.file_path, evaluated, page.variables
        )

    def present_file(self, item: Item) -> File:
        return present_file(item, download_url(self._call, item))

    def _cover(self, page: Page, written: str) -> dict[str, Any]:
        return resolve_reference(self._tx, self._base, page.file_path, written)
