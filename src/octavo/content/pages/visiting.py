"""The content API for site visitors. It is limited to content that the site shows to these visitors.

Documents are returned as displayed, with expressions replaced by values and with
included content inserted. Files are included if a page shows them. The names of variables and reusable content, and
other authoring data, aren't revealed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn

import msgspec
from msgspec import UNSET, Raw

from octavo.content.references.resolving import Resolver, page_owner
from octavo.content.references.showing import ViewDocuments
from octavo.content.references.viewing import ViewFiles, load_view, visitor_of_token
from octavo.content.revisions.authorization import VisitedState
from octavo.content.revisions.expanding import markdown_page
from octavo.content.revisions.files import download_url
from octavo.content.revisions.history import get_revision
from octavo.content.revisions.item_versions import Item
from octavo.content.revisions.restrictions import shown_state
from octavo.content.revisions.states import State
from octavo.core.document.containing import contained
from octavo.core.document.json import to_json
from octavo.core.json_types import JsonObject
from octavo.core.links import app_hosts, relative_href
from octavo.core.page_tree import PageTree
from octavo.core.pages import Page
from octavo.core.tags import keep_tagged
from octavo.errors import NotFound, require_found
from octavo.kit.db.cache import OwnCache
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Listing, Next, slice_items
from octavo.kit.http.operation import Recipient

from .meta_links_presenting import meta_links_of
from .presenting import find_hidden_targets, present_files, without_hidden_target
from .wire import (
    ContentQuery,
    DocumentPage,
    DocumentQuery,
    File,
    FilesQuery,
    LinkPage,
    PageContentQuery,
    PageMetaLinks,
    Pages,
    ReusableContent,
    Revision,
    RevisionPage,
    RevisionQuery,
    hide_from_visitors,
    present_page,
    present_revision,
)

_documents: OwnCache[bytes] = OwnCache("documents for renderers", 16)
_asked: OwnCache[tuple[str, ...]] = OwnCache("spaces that renderers depend on", 2)
"""Cache of the other spaces that a page's links were looked up in."""
_files: OwnCache[frozenset[str]] = OwnCache("files for renderers", 2)
_ID = re.compile(rb"[A-Za-z0-9]{20}")
_FORMS = ContentQuery(metadata=False)


class VisitorReader:
    """Implementation of the read operations for one request by a site visitor."""

    def __init__(self, to: Recipient, tx: Transaction, read: VisitedState) -> None:
        self._to = to
        self._tx = tx
        self._visitor = visitor = read.visitor
        self._view = load_view(tx, read.state, visitor.claims)
        self._tree: PageTree = self._view.tree
        self._app = to.app.space(read.space_id)
        files = ViewFiles(tx, self._view, withheld=True)
        self._resolver = Resolver(files, app_hosts(to.settings.url), visitor_of_token(tx, visitor))
        self._documents = ViewDocuments(tx, self._view, self._resolver)

    # --- pages ----------------------------------------------------------------------------------------

    def revision(self, query: RevisionQuery) -> Revision:
        found = get_revision(self._tx, self._view.state.revision_id)
        return present_revision(
            self._app,
            msgspec.structs.replace(found, parents=[]),
            merged_from=None,
            pages=self.pages(query).pages if query.pages else [],
            files=self._present_files(self._shown_files()),
            reusable_contents=[],
            tags=self._view.tags.values(),
            variables={},
            metadata=False,
        )

    def pages(self, query: ContentQuery, tag: str | None = None) -> Pages:
        """Return the page tree. ``tag``: the tag to filter by; ancestors of the matching pages are included."""
        every = list(self._tree)
        return Pages(self._below(None, keep_tagged(every, tag) if tag is not None else every))

    def _below(self, parent: str | None, pages: Iterable[Page]) -> list[RevisionPage]:
        """Return the descendants of a page among ``pages``, as a tree."""
        # Bottom-up, to avoid recursion in deep trees.
        presented: dict[str | None, list[RevisionPage]] = {}
        inside = {parent}
        rows = []
        for page in pages:
            if page.parent in inside:
                inside.add(page.id)
                rows.append(page)
        for page in reversed(rows):
            shown = self._present(page, presented.pop(page.id, [])[::-1])
            if shown is not None:
                presented.setdefault(page.parent, []).append(shown)
        return presented.get(parent, [])[::-1]

    def _present(self, page: Page, below: list[RevisionPage]) -> RevisionPage | None:
        """Return a page, or None if it is a link whose target the visitor can't see."""
        if page.kind == "link":
            target = self._documents.target(page)
            nowhere = self._resolver.leads_nowhere(page_owner(page), target, "link")
            if self._view.is_withheld(target) or nowhere:
                return None
            page = msgspec.structs.replace(page, target=target)
            hidden = find_hidden_targets(self._tx, [page], self._view.state, self._see)
            page = without_hidden_target(page, hidden)
        shown = present_page(self._app, page, self._tree.path(page), below, self._cover)
        if isinstance(shown, DocumentPage):
            hide_from_visitors(shown)
            shown.computed = shown.computed_seed = shown.document_id = UNSET
        elif isinstance(shown, LinkPage) and page.target is not None and page.target.get("kind") != "url":
            shown.href = UNSET
        return shown

    def _see(self, tx: Transaction, space_id: str) -> State:
        return shown_state(tx, self._visitor.drafted, space_id)

    def _cover(self, page: Page, written: str) -> JsonObject:
        return self._resolver.content_ref(page_owner(page), {"kind": "url", "url": written}, "image")

    def page(self, page_id: str, query: PageContentQuery) -> Raw:
        return Raw(msgspec.json.encode(self._whole(self._page(page_id), query)))

    def page_by_path(self, path: str, query: PageContentQuery) -> RevisionPage:
        page = self._tree.find(path) if path.strip("/") else None
        if page is None or page.kind not in ("document", "group"):
            raise NotFound(f"There is no page at the path {path!r}.")
        return self._whole(page, query)

    def _page(self, page_id: str) -> Page:
        return require_found(
            self._tree.page(page_id),
            f"There is no page with the ID {page_id!r} in this version of the space.",
        )

    def _whole(self, page: Page, query: PageContentQuery) -> RevisionPage:
        """Return a page with its path, its document in the requested format, and, if requested, its subpages."""
        shown = self._present(page, self._below(page.id, self._tree) if query.pages else [])
        if shown is None:
            raise NotFound(f"There is no page with the ID {page.id!r} in this version of the space.")
        if isinstance(shown, DocumentPage):
            if query.format == "markdown":
                shown.markdown = markdown_page(page, self._documents.for_markdown(page, self._address(page)))
            else:
                shown.document = Raw(self._document(page))
        return shown

    def _address(self, page: Page) -> Callable[[JsonObject], str | None]:
        """Return a function that resolves references in a page's Markdown to URLs relative to the page's
        published location."""

        def address(ref: JsonObject) -> str | None:
            kind = ref.get("kind")
            if kind == "file":
                item = self._view.item(str(ref.get("file")), "file")
                return download_url(self._to.context, item) if item is not None else None
            if kind not in ("page", "anchor") or "space" in ref:
                return None
            there = self._tree.page(str(ref["page"])) if "page" in ref else page
            shown = self._tree.first_document(there) if there is not None else None
            if shown is None:
                return None
            return relative_href(self._tree.url_path(shown), self._tree.url_path(page), ref.get("anchor"))

        return address

    def meta_links(self, page_id: str) -> PageMetaLinks:
        return meta_links_of(self._page(page_id), self._resolver, self._view.is_withheld)

    def document(self, page_id: str, query: DocumentQuery) -> Raw:
        page = self._page(page_id)
        if page.kind != "document":
            raise NotFound(f"The page with the ID {page_id!r} has no document.")
        return Raw(self._document(page))

    def _document(self, page: Page) -> bytes:
        own = (*self._key(), page.id)
        asked = _asked.of(self._tx).get(own)
        if asked is not None:
            kept = _documents.of(self._tx).get((*own, self._resolver.revisions(asked)))
            if kept is not None:
                return kept
        document = self._documents.for_external_renderer(page)
        encoded = msgspec.json.encode(contained("json", lambda: document, to_json))
        if not page.computed and not self._documents.drawn:
            asked = self._resolver.asked
            _asked.of(self._tx).put(own, asked, 200 + 40 * len(asked))
            _documents.of(self._tx).put((*own, self._resolver.revisions(asked)), encoded, len(encoded))
        return encoded

    def _key(self) -> tuple[object, ...]:
        claims = msgspec.json.encode(self._view.visitor, order="sorted")
        return self._view.state.key, self._view.computed, claims, self._visitor.spaces

    # --- files ----------------------------------------------------------------------------------------

    def _shown_files(self) -> list[Item]:
        """Return the files on any page that the visitor can see, oldest first."""
        every = [item for item in self._view.items.values() if item.kind == "file"]
        if not every:
            return []
        shown = _files.of(self._tx).get(self._key())
        if shown is None:
            shown = self._find_shown({item.id for item in every})
            if not self._documents.drawn:
                _files.of(self._tx).put(self._key(), shown, 60 * len(shown) + 100)
        return sorted((item for item in every if item.id in shown), key=lambda item: item.id)

    def _find_shown(self, every: set[str]) -> frozenset[str]:
        shown: set[str] = set()
        for page in self._tree:
            # Every reference to a file contains its ID, anywhere in the document.
            encoded = msgspec.json.encode(self._present(page, []))
            if page.kind == "document":
                encoded += self._document(page)
            shown |= every.intersection(found.decode() for found in _ID.findall(encoded))
        return frozenset(shown)

    def _present_files(self, items: Sequence[Item]) -> list[File]:
        return present_files(self._to.context, self._tx, self._view.state.space_id, items)

    def files(self, query: FilesQuery) -> Listing[File]:
        rows = self._shown_files()
        found = slice_items(rows, query.limit, query.page, lambda item: item.id)
        files = self._present_files(found.rows)
        return Listing(files, found.count, Next(found.next_token) if found.next_token else UNSET)

    def file(self, file_id: str, query: ContentQuery = _FORMS) -> File:
        for item in self._shown_files():
            if item.id == file_id:
                return self._present_files([item])[0]
        raise NotFound(f"There is no file with the ID {file_id!r} in this version of the space.")

    # --- not available to visitors --------------------------------------------------------------------

    def reusable_content(self, item_id: str, query: ContentQuery = _FORMS) -> ReusableContent:
        self._refuse(item_id)

    def reusable_document(self, item_id: str, query: DocumentQuery) -> Raw:
        self._refuse(item_id)

    def _refuse(self, item_id: str) -> NoReturn:
        raise NotFound(f"There is no reusable content with the ID {item_id!r}.")
