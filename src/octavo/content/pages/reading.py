"""Read one state of a space's content: main, a change request, or a revision."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

import msgspec
from msgspec import UNSET, Raw, Struct

from octavo.content.references.lookup import Owner
from octavo.content.references.resolving import MemberViewer, Resolver, cover_ref, page_owner, state_resolver
from octavo.content.revisions.bodies import get_body
from octavo.content.revisions.computing import Computed
from octavo.content.revisions.expanding import (
    NOTHING_COMPUTED,
    Expansion,
    computed_document,
    expand,
    markdown_page,
)
from octavo.content.revisions.history import get_revision
from octavo.content.revisions.item_versions import (
    Item,
    ItemKind,
    find_item,
    get_item,
    list_items,
    list_items_page,
    list_variables,
)
from octavo.content.revisions.keys import keyed_document
from octavo.content.revisions.page_versions import (
    find_page,
    find_page_by_path,
    get_page,
    list_ancestors,
    list_pages,
    list_subtree,
)
from octavo.content.revisions.restrictions import see_main
from octavo.content.revisions.states import State
from octavo.content.revisions.tags import list_tags
from octavo.core.document.json import nodes_to_json, to_json
from octavo.core.document.keys import keyed_nodes
from octavo.core.document.nodes import Document
from octavo.core.document.page import split_page
from octavo.core.json_types import JsonObject
from octavo.core.links import app_hosts
from octavo.core.pages import Page
from octavo.core.tags import keep_tagged
from octavo.errors import BadRequest, NotFound
from octavo.kit.db.cache import OwnCache
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Listing, Next, slice_items
from octavo.kit.http.operation import Recipient

from .documents import Evaluated, document_json, evaluate_document_for, page_markdown
from .levels import LevelPart, Levels, PlacedPage
from .meta_links_presenting import meta_links_of
from .presenting import find_hidden_targets, present_files, without_hidden_target
from .wire import (
    WITH_PATHS,
    ChildPagesQuery,
    ComputedRevision,
    ContentQuery,
    DocumentPage,
    DocumentQuery,
    File,
    FilesQuery,
    PageContentQuery,
    PageEntry,
    PageLevel,
    PageMetaLinks,
    Pages,
    PageTrace,
    PageTraces,
    PageWay,
    ReusableContent,
    ReusableContentQuery,
    Revision,
    RevisionPage,
    RevisionQuery,
    WayQuery,
    WaysQuery,
    encode_tree,
    present_entry,
    present_page,
    present_reusable,
    present_revision,
)

MergedFrom = Callable[[Recipient, Transaction, str], Any]
_merged_from: list[MergedFrom] = []


def register_merge_presenter(present: MergedFrom) -> None:
    """Register the function that returns the change request from which a revision was merged."""
    _merged_from[:] = [present]


class GitNames(Struct, frozen=True):
    """Git object IDs for the content of a synced space. ``find(contents)``: returns the IDs by hash.
    ``stamp``: a value that changes with every sync."""

    stamp: str
    find: Callable[[Iterable[str]], Mapping[str, str]]


FindGit = Callable[[Transaction, str], GitNames | None]
_find_git: list[FindGit] = []


def register_git_names(find: FindGit) -> None:
    """Register ``find(tx, space_id)``, which returns the Git names of a space's content, or None if the
    space isn't synced."""
    _find_git[:] = [find]


def is_synced(tx: Transaction, space_id: str) -> bool:
    """Return whether a space is synced with Git."""
    return any(find(tx, space_id) is not None for find in _find_git)


_COMPUTED = ContentQuery()
_PLAIN = ContentQuery(computed=False)
_SHORT = 32 * 1024
"""Maximum size in bytes of a cached page that is served on the event loop."""
_pages: OwnCache[bytes] = OwnCache("pages as JSON", 16)
_decode_pages = msgspec.json.Decoder(list[Page]).decode


def _encoded(tree: bytes) -> list[RevisionPage]:
    """Wrap a page tree that is already JSON, so that the response contains it unchanged."""
    return cast(list[RevisionPage], Raw(tree))


def _present_entries(entries: Iterable[PlacedPage]) -> list[PageEntry]:
    return [present_entry(one.page, one.above, one.has_pages) for one in entries]


def _present_level(part: LevelPart) -> PageLevel:
    return PageLevel(part.parent, part.at, part.count, _present_entries(part.entries))


class ContentReader:
    """Implementation of the read operations for one request, on main, a change request, or a revision. ``view``: the
    path of the state in the app, relative to the space."""

    def __init__(self, to: Recipient, tx: Transaction, state: State, view: str = "") -> None:
        self._to = to
        self._tx = tx
        self._state = state
        self._app = to.app.space(state.space_id, view)
        self._expansion: Expansion | None = None
        self._resolver: Resolver | None = None
        self._git: GitNames | None = None
        self._git_loaded = False
        self._computes = False
        """Whether the result depends on data outside the state."""

    def revision(self, query: RevisionQuery) -> Revision:
        tx, state = self._tx, self._state
        revision = get_revision(tx, state.revision_id)
        merged = None
        if revision.merged_from is not None and _merged_from:
            merged = _merged_from[0](self._to, tx, revision.merged_from)
        return present_revision(
            self._app,
            revision,
            merged_from=merged,
            pages=self.pages(query).pages if query.pages else [],
            files=self._present_files(self._items("file", query), query.metadata),
            reusable_contents=self._present_reusables(self._items("reusable-content", query), query.metadata),
            tags=list_tags(tx, state).values(),
            variables=self.variables(),
            metadata=query.metadata,
        )

    def pages(self, query: ContentQuery, tag: str | None = None) -> Pages:
        """Return the page tree. ``tag``: the tag to filter by; ancestors of the matching pages are
        included."""
        if tag is not None:
            tagged = keep_tagged(self._expanded(list_pages(self._tx, self._state), query), tag)
            oids = self._oids((page.body for page in tagged), query.metadata)
            return Pages(_encoded(encode_tree(self._app, self._shown(tagged), None, "", self._cover, oids)))
        fingerprint = self._expand().fingerprint if query.computed else b""
        stamp = self._stamp(query.metadata)
        key = (self._state.key, "tree", self._app, fingerprint, stamp)
        # Link pages can have targets in other spaces, so what the reader sees of them depends on more than the state.
        links = _pages.of(self._tx).get((*key, "links"))
        hidden = self._hidden_targets(_decode_pages(links)) if links is not None else frozenset()
        kept = _pages.of(self._tx).get((*key, hidden)) if links is not None else None
        if kept is None:
            pages = list_pages(self._tx, self._state)
            if query.computed:
                pages = self._expand().into(pages)
            oids = self._oids((page.body for page in pages), query.metadata)
            links = msgspec.json.encode([page for page in pages if page.target is not None])
            hidden = self._hidden_targets(_decode_pages(links))
            shown = [without_hidden_target(page, hidden) for page in pages]
            kept = encode_tree(self._app, shown, None, "", self._cover, oids)
            _pages.of(self._tx).put((*key, "links"), links, len(links))
            _pages.of(self._tx).put((*key, hidden), kept, len(kept))
        return Pages(_encoded(kept))

    def _levels(self, computed: bool) -> Levels:
        return Levels(self._tx, self._state, self._expand() if computed else NOTHING_COMPUTED)

    def children(self, query: ChildPagesQuery) -> Listing[PageEntry]:
        levels = self._levels(query.computed)
        parent = self._page(query.parent, query.computed) if query.parent is not None else None
        found = levels.slice(parent, query.limit, query.at, query.page)
        entries = _present_entries(levels.entries(found.rows, parent))
        return Listing(entries, found.count, Next(found.next_token) if found.next_token else UNSET)

    def way(self, query: WayQuery) -> PageWay:
        levels = self._levels(query.computed)
        if query.to is not None:
            page: Page | None = self._page(query.to, query.computed)
        elif query.path is not None:
            page = self._page_at(query.path, query.computed)
        else:
            page = levels.first()
        if page is None:
            return PageWay(None, [_present_level(levels.level(None, query.limit))])
        return PageWay(page.id, [_present_level(part) for part in levels.around(page, query.limit)])

    def ways(self, query: WaysQuery) -> PageTraces:
        ways = self._levels(query.computed).traces(list(dict.fromkeys(query.pages)))
        return PageTraces([PageTrace(id, _present_entries(way)) for id, way in ways.items()])

    def _names(self, wanted: bool) -> GitNames | None:
        if wanted and not self._git_loaded and _find_git:
            self._git = _find_git[0](self._tx, self._state.space_id)
            self._git_loaded = True
        return self._git if wanted else None

    def _stamp(self, wanted: bool) -> str:
        names = self._names(wanted)
        return names.stamp if names is not None else ""

    def _oids(self, contents: Iterable[str | None], wanted: bool) -> Mapping[str, str]:
        names = self._names(wanted)
        return names.find(content for content in contents if content) if names is not None else {}

    def _present_files(self, items: Sequence[Item], metadata: bool) -> list[File]:
        oids = self._oids((item.content for item in items), metadata)
        return present_files(self._to.context, self._tx, self._state.space_id, items, oids)

    def _present_reusables(self, items: list[Item], metadata: bool) -> list[ReusableContent]:
        oids = self._oids((item.content for item in items), metadata)
        return [present_reusable(item, oids) for item in items]

    def _expand(self) -> Expansion:
        if self._expansion is None:
            self._expansion = expand(self._tx, self._state, self._to.actor)
        return self._expansion

    def _expanded(self, pages: list[Page], query: ContentQuery) -> list[Page]:
        if not any(page.kind == "computed" for page in pages):
            return pages
        self._computes = True
        return self._expand().into(pages) if query.computed else pages

    def _items(self, kind: ItemKind, query: ContentQuery) -> list[Item]:
        stored = list_items(self._tx, self._state, kind)
        computed = self._expand().items if query.computed else []
        return [*stored, *(item for item in computed if item.kind == kind)]

    def _item(self, item_id: str, kind: ItemKind, query: ContentQuery) -> Item:
        item = find_item(self._tx, self._state, item_id, kind)
        if item is None and query.computed:
            item = self._expand().find_item(item_id, kind)
        return item or get_item(self._tx, self._state, item_id, kind)

    def computed(self, found: Computed) -> ComputedRevision:
        """Return the content that a computed source produces, in its API format, as part of this state."""
        return ComputedRevision(
            pages=_encoded(encode_tree(self._app, found.pages, None, "", self._cover)),
            files=self.present_files([item for item in found.items if item.kind == "file"]),
            reusable_contents=[
                present_reusable(item) for item in found.items if item.kind == "reusable-content"
            ],
        )

    def page(self, page_id: str, query: PageContentQuery) -> Raw:
        # Revisions are immutable, so pages without computed content can be cached.
        stamp = self._stamp(query.metadata)
        key = (
            *(self._state.key, page_id, query.format, query.evaluated, query.pages),
            *(self._app, stamp),
        )
        kept = _pages.of(self._tx).get(key)
        if kept is None or len(kept) > _SHORT:
            self._to.leave_loop()
        if kept is None:
            kept = msgspec.json.encode(self._present_whole(self._page(page_id, query.computed), query))
            if not self._computes:
                _pages.of(self._tx).put(key, kept, len(kept))
        return Raw(kept)

    def _page(self, page_id: str, computed: bool) -> Page:
        page = find_page(self._tx, self._state, page_id)
        if page is None and computed:
            page = self._expand().find(page_id)
        return page or get_page(self._tx, self._state, page_id)

    def found_page(self, page_id: str) -> RevisionPage | None:
        """Return a page without its subpages and its document, or None if it doesn't exist."""
        return self._bare(find_page(self._tx, self._state, page_id))

    def nodes(self, page_id: str, body: str | None, nodes: list[Any]) -> list[Any]:
        """Return nodes of a page's document, with keys, as presented on the page. ``body``: the source that
        they were read from. Nodes that aren't in the state's own source are omitted."""
        page = find_page(self._tx, self._state, page_id)
        if page is None:
            return []
        if page.body != body:
            keys = [node.key for node in nodes]
            known = {node.key: node for node in keyed_nodes(keyed_document(self._tx, page.id, page.body))}
            nodes = [known[key] for key in keys if key in known]
        return nodes_to_json(self.resolver.resolve_all(Document(list(nodes)), page_owner(page)).nodes)

    def found_at(self, path: str) -> RevisionPage | None:
        """Return the page at the path of a document or group, in the same format as ``found_page``. Return None if
        there is no such page or the path is empty."""
        page = find_page_by_path(self._tx, self._state, path) if path else None
        return self._bare(page) if page is not None and page.kind in WITH_PATHS else None

    def _bare(self, page: Page | None) -> RevisionPage | None:
        if page is None:
            return None
        above = list_ancestors(self._tx, self._state, page)
        path = "/".join(p.slug for p in [*above, page])
        [shown] = self._shown([page])
        return present_page(self._app, shown, path, [], self._cover)

    def _shown(self, pages: Sequence[Page]) -> list[Page]:
        """Return pages without the link targets that the reader can't see."""
        hidden = self._hidden_targets(pages)
        return [without_hidden_target(page, hidden) for page in pages]

    def _hidden_targets(self, pages: Iterable[Page]) -> frozenset[str]:
        actor = self._to.actor
        return find_hidden_targets(
            self._tx, pages, self._state, lambda tx, space_id: see_main(tx, actor, space_id)
        )

    def variables(self) -> JsonObject:
        return list_variables(self._tx, self._state)

    def page_by_path(self, path: str, query: PageContentQuery) -> RevisionPage:
        return self._present_whole(self._page_at(path, query.computed), query)

    def _page_at(self, path: str, computed: bool) -> Page:
        page = find_page_by_path(self._tx, self._state, path)
        if (page is None or page.kind not in WITH_PATHS) and computed:
            page = self._expand().find_by_path(self._tx, self._state, path)
        if page is None or page.kind not in WITH_PATHS:
            raise NotFound(f"There is no page at the path {path!r}.")
        return page

    def meta_links(self, page_id: str) -> PageMetaLinks:
        return meta_links_of(self._page(page_id, computed=True), self.resolver)

    def document(self, page_id: str, query: DocumentQuery) -> Raw:
        page = self._page(page_id, computed=True)
        if not page.computed or page.kind != "document":
            return self._document(page, query.evaluated)
        try:
            return Raw(msgspec.json.encode(to_json(self._computed(page, query.evaluated))))
        except BadRequest as error:
            raise NotFound(
                f"The document for the page with the ID {page_id!r} couldn't be computed: {error}"
            ) from None

    def files(self, query: FilesQuery) -> Listing[File]:
        found = list_items_page(self._tx, self._state, "file", query.limit, query.page)
        computed = [item for item in self._expand().items if item.kind == "file"] if query.computed else []
        if computed:
            rows = sorted([*list_items(self._tx, self._state, "file"), *computed], key=lambda item: item.id)
            found = slice_items(rows, query.limit, query.page, lambda item: item.id)
        files = self._present_files(found.rows, query.metadata)
        return Listing(files, found.count, Next(found.next_token) if found.next_token else UNSET)

    def file(self, file_id: str, query: ContentQuery = _PLAIN) -> File:
        return self._present_files([self._item(file_id, "file", query)], query.metadata)[0]

    def reusable_content(self, item_id: str, query: ContentQuery = _PLAIN) -> ReusableContent:
        item = self._item(item_id, "reusable-content", query)
        found = self._present_reusables([item], query.metadata)[0]
        if isinstance(query, ReusableContentQuery) and query.format == "markdown" and item.content:
            found.markdown = split_page(get_body(self._tx, item.content))[2]
        return found

    def reusable_document(self, item_id: str, query: DocumentQuery) -> Raw:
        item = self._item(item_id, "reusable-content", _COMPUTED)
        owner = Owner(item.id, "reusable-content", item.path)
        return document_json(self._tx, self._state, self.resolver, owner, item.content, query.evaluated)

    def _present_whole(self, page: Page, query: PageContentQuery) -> RevisionPage:
        """Return a page with its path, its subpages, and its document in the requested format."""
        ancestors, below = self._around(page, query)
        path = "/".join(p.slug for p in [*ancestors, page])
        oids = self._oids((found.body for found in [page, *below]), query.metadata)
        # Targets in other spaces depend on the rules of these spaces, too.
        self._computes |= any(each.target is not None and "space" in each.target for each in [page, *below])
        shown, *below = self._shown([page, *below])
        tree = _encoded(encode_tree(self._app, below, page.id, path, self._cover, oids))
        presented = present_page(self._app, shown, path, tree, self._cover, oids)
        if isinstance(presented, DocumentPage):
            if page.computed:
                self._add_computed(presented, page, query)
            elif query.format == "markdown":
                presented.markdown = page_markdown(
                    self._tx, self._state, page.body, query.evaluated, page.variables
                )
            else:
                presented.document = self._document(page, query.evaluated)
        return presented

    def _around(self, page: Page, query: PageContentQuery) -> tuple[list[Page], list[Page]]:
        """Return the ancestors of a page and, if requested, its subpages."""
        tx, state = self._tx, self._state
        if self._expansion is not None and self._expansion.find(page.id) is page:
            self._computes = True
            below = self._expansion.list_subtree(page) if query.pages else []
            return self._expansion.list_ancestors(tx, state, page), below
        below = self._expanded(list_subtree(tx, state, page.id), query) if query.pages else []
        return list_ancestors(tx, state, page), below

    def _add_computed(self, presented: DocumentPage, page: Page, query: PageContentQuery) -> None:
        """Add the computed document. If it isn't available right now, add nothing; the page still contains its
        source."""
        self._computes = True
        if not query.computed:
            return
        try:
            document = self._computed(page, query.evaluated)
        except BadRequest:
            return
        if query.format == "markdown":
            presented.markdown = markdown_page(page, document)
        else:
            presented.document = Raw(msgspec.json.encode(to_json(document)))

    def _computed(self, page: Page, mode: Evaluated) -> Document:
        actor = self._to.actor
        document = computed_document(self._tx, self._state.space_id, actor, page)
        return evaluate_document_for(self._tx, self._state, document, mode, page.variables)

    def _document(self, page: Page, mode: Evaluated) -> Raw:
        found = document_json(
            self._tx, self._state, self.resolver, page_owner(page), page.body, mode, page.variables
        )
        self._computes = self._computes or bool(self.resolver.asked)
        return found

    def present_files(self, items: Sequence[Item]) -> list[File]:
        return self._present_files(items, False)

    def _cover(self, page: Page, written: str) -> JsonObject:
        return cover_ref(self._tx, self._state, page, written)

    @property
    def resolver(self) -> Resolver:
        """Return the caller's reference resolver for this state."""
        if self._resolver is None:
            hosts = app_hosts(self._to.settings.url)
            viewer = MemberViewer(self._tx, self._to.actor, self._state.space_id)
            self._resolver = state_resolver(self._tx, self._state, hosts, viewer)
        return self._resolver
