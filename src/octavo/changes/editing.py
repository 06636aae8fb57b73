"""A batch of changes to the content of a state: applied in order, all of it or nothing.

Nothing is written here: an ``Editor`` reads a state, and what comes out of it is what a revision has to write.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import replace

from ..content import (
    Changes,
    Item,
    KeptKeys,
    State,
    block_index,
    body_hash,
    carried_keys,
    find_item_by_path,
    find_items,
    find_kept_keys,
    find_page,
    find_page_by_file,
    get_body,
    keep_index,
    keyed_document,
    list_by_slug,
    list_children,
    list_items,
    parse_source,
    revision_state,
)
from ..core.document import (
    MAX_NODES,
    PARTS,
    Block,
    Document,
    DocumentError,
    Index,
    Reference,
    carry_keys,
    carry_sources,
    from_json,
    is_empty,
    may_be_cut,
    read_head,
    references,
    rewrite,
    rewritten,
    split_page,
    with_head,
    without_empty,
    write,
)
from ..core.expressions import ExpressionError, parse
from ..core.free_names import free_name
from ..core.import_plan import head_fields
from ..core.links import relative_href, space_href
from ..core.merge import Conflict as MergeConflict
from ..core.pages import Page, rank_between, ranks, slugify
from ..core.paths import made_path
from ..core.space_config import CONFIG_PATH, read_config
from ..errors import BadRequest, Conflict, NotFound, OctavoError, TooLarge
from ..kit import ids
from ..kit.clock import now
from ..kit.db import Transaction
from ..references import Nobody, Owner, Resolver, page_owner, state_resolver
from .block_editing import BlocksMade, update_blocks
from .content_wire import (
    ContentChange,
    DeleteFile,
    DeletePage,
    DeleteReusableContent,
    DocumentInput,
    InsertFiles,
    InsertGroup,
    InsertLink,
    InsertPage,
    InsertReusableContent,
    PageFields,
    RevertPage,
    SetVariables,
    UpdateBlocks,
    UpdateFile,
    UpdatePage,
    UpdateReusableContent,
)
from .uploading import Upload
from .written import Written

UNTITLED = "Untitled"


class Outcome(Struct, frozen=True):
    """What became of one change of a page."""

    kind: Literal["created_page", "updated_page", "deleted_page"]
    page_id: str
    ref: str | None = None
    blocks: BlocksMade | None = None


class Edited(Struct, frozen=True):
    """What a revision writes, and what the caller is told. ``named``: which fields of which pages and items the
    changes name, also where they keep their value: (id, field as conflicts call it, or ``document``).
    ``conflicts``: of an edit that was merged with what was saved since."""

    changes: Changes
    bodies: list[str]
    keys: list[KeptKeys]
    outcomes: list[Outcome]
    files: list[Item]
    named: frozenset[tuple[str, str]] = frozenset()
    conflicts: list[MergeConflict] = []


def edit(
    resolver: Resolver,
    tx: Transaction,
    state: State,
    changes: Iterable[ContentChange],
    uploads: Sequence[Upload] = (),
    started: State | None = None,
) -> Edited:
    """Applies the changes to a state. ``resolver``: what references in it mean to the caller. ``started``: what ``revert_page`` goes back to when it names no revision.
    Raises BadRequest, NotFound or Conflict, naming the change."""
    editor = Editor(tx, state, iter(uploads), started, resolver)
    for number, change in enumerate(changes):
        try:
            editor.apply(change)
        except OctavoError as error:
            raise type(error)(f"changes[{number}]: {error.message}") from None
    return editor.finish()


_FRONT_KEYS = {
    "description": "description",
    "emoji": "emoji",
    "icon": "icon",
    "hidden": "hidden",
    "no_index": "noIndex",
    "no_robots_index": "noRobotsIndex",
    "condition": "if",
}
_FIELDS = (*_FRONT_KEYS, "title", "slug")
_BAD_SLUG = re.compile(r"[\s/\\?#%\x00-\x1f\x7f]|\A\.{1,2}\Z|\A~")
_BAD_NAME = re.compile(r"[/\\\x00-\x1f\x7f]|\A\.{1,2}\Z")
_OWN_NAMES = frozenset({"readme.md", "summary.md"})
_BY_REF = re.compile(r"\./([A-Za-z0-9_-]{1,100})\.md(#.*)?", re.DOTALL)
_BY_ID = re.compile(r"/(pages|files)/([A-Za-z0-9_-]{1,100})(#.*)?", re.DOTALL)


_LONGEST_RANK = 60
"""Putting pages in front of each other again and again makes ranks long; at this length they are given anew."""


def _place(page: Page) -> tuple[str, str]:
    return page.rank, page.id


class Editor:
    def __init__(
        self,
        tx: Transaction,
        state: State,
        uploads: Iterator[Upload],
        started: State | None,
        resolver: Resolver | None = None,
    ) -> None:
        self.tx, self.state, self.uploads, self.started = tx, state, uploads, started
        self.pages: dict[str, Page | None] = {}
        self.items: dict[str, Item | None] = {}
        self.before: dict[str, Page | Item | None] = {}
        self.texts: dict[str, str] = {}
        self._stored: dict[str, str] = {}
        self.outcomes: list[Outcome] = []
        self.files: list[Item] = []
        self.named: set[tuple[str, str]] = set()
        self.page_refs: dict[str, str] = {}
        self.file_refs: dict[str, str] = {}
        self.given: dict[str, Document | Index | None] = {}
        """Pages and reusable contents whose source this batch makes: a document with keys when it came as nodes, the
        index of the source when some blocks of it did."""
        self._unsettled: dict[str, None] = {}
        """Whose document this batch gives as a whole, in order."""
        self.open_refs: defaultdict[str, set[str]] = defaultdict(set)
        """Names that blocks of a page link to, and that a later change of this batch may give to a page."""
        self._children: dict[str | None, list[Page]] = {}
        self._by_slug: defaultdict[tuple[str | None, str], set[str]] = defaultdict(set)
        self._by_path: defaultdict[str, set[str]] = defaultdict(set)
        """Where the changed pages and items are now, by id."""
        self._root: str | None = None
        self.resolver = resolver or state_resolver(tx, state, (), Nobody())

    def apply(self, change: ContentChange) -> None:
        match change:
            case UpdatePage():
                self.update_page(change)
            case UpdateBlocks():
                self.update_blocks(change)
            case InsertPage():
                self.insert_page(change)
            case DeletePage():
                self.delete_page(change.page)
            case RevertPage():
                self.revert_page(change)
            case InsertFiles():
                self.insert_files(change)
            case InsertGroup():
                self.insert_group(change)
            case InsertLink():
                self.insert_link(change)
            case UpdateFile():
                self.update_file(change)
            case DeleteFile():
                self.set_item(self.item(change.file, "file").id, None)
            case InsertReusableContent():
                self.insert_reusable(change)
            case UpdateReusableContent():
                self.update_reusable(change)
            case DeleteReusableContent():
                self.set_item(self.item(change.reusable_content, "reusable-content").id, None)
            case SetVariables():
                self.set_variables(change)

    def finish(self) -> Edited:
        named = self.page_refs.keys()
        for owner_id in [*self._unsettled, *(id for id, refs in self.open_refs.items() if refs & named)]:
            self._settle_links(owner_id)
        keys = [kept for owner_id, given in self.given.items() if (kept := self._keys(owner_id, given))]
        changes = Changes(
            {id: page for id, page in self.pages.items() if not _same(page, self.before[id])},
            {id: item for id, item in self.items.items() if not _same(item, self.before[id])},
        )
        used = {page.body for page in changes.pages.values() if page is not None}
        used |= {item.content for item in changes.items.values() if item is not None}
        texts = [text for digest, text in self.texts.items() if digest in used]
        return Edited(changes, texts, keys, self.outcomes, self.files, frozenset(self.named))

    def name(self, id: str, *fields: str) -> None:
        """Notes that the changes say something of these fields."""
        self.named.update((id, field) for field in fields)

    # --- the state with what was changed so far -------------------------------------------------------

    def find(self, page_id: str) -> Page | None:
        if page_id in self.pages:
            return self.pages[page_id]
        return find_page(self.tx, self.state, page_id)

    def page(self, page_id: str, what: str = "page") -> Page:
        page = self.find(page_id)
        if page is None:
            raise NotFound(f"{what}: there is no page {page_id!r} here.")
        return page

    def item(self, item_id: str, kind: str) -> Item:
        item = self.items.get(item_id)
        if item_id not in self.items:
            item = find_items(self.tx, self.state, [item_id]).get(item_id)
        if item is None or item.kind != kind:
            raise NotFound(f"There is no {kind.replace('-', ' ')} {item_id!r} here.")
        return item

    def variables(self) -> list[Item]:
        stored = list_items(self.tx, self.state, "variable")
        known = [item for item in stored if item.id not in self.items]
        return known + [i for i in self.items.values() if i is not None and i.kind == "variable"]

    def children(self, parent: str | None) -> list[Page]:
        """In order; kept up to date by ``set_page``."""
        known = self._children.get(parent)
        if known is None:
            known = [
                page for page in list_children(self.tx, self.state, [parent]) if page.id not in self.pages
            ]
            known += [page for page in self.pages.values() if page is not None and page.parent == parent]
            known.sort(key=_place)
            self._children[parent] = known
        return known

    def set_page(self, page_id: str, page: Page | None) -> None:
        old = self.find(page_id)
        self.before.setdefault(page_id, old)
        if old is not None:
            self._by_slug[old.parent, old.slug].discard(page_id)
            self._by_path[old.file_path or ""].discard(page_id)
            if old.parent in self._children:
                del self._children[old.parent][self._index(old)]
        self.pages[page_id] = page
        if page is not None:
            self._by_slug[page.parent, page.slug].add(page_id)
            self._by_path[page.file_path or ""].add(page_id)
            if page.parent in self._children:
                insort(self._children[page.parent], page, key=_place)

    def _index(self, page: Page) -> int:
        """Where a page is among its siblings."""
        return bisect_left(self.children(page.parent), _place(page), key=_place)

    def set_item(self, item_id: str, item: Item | None) -> None:
        if item_id not in self.items:
            self.before[item_id] = find_items(self.tx, self.state, [item_id]).get(item_id)
        elif (old := self.items[item_id]) is not None:
            self._by_path[old.path or ""].discard(item_id)
        self.items[item_id] = item
        if item is not None:
            self._by_path[item.path or ""].add(item_id)

    def text(self, digest: str | None) -> str:
        if digest is None:
            return ""
        # A text may be empty, which is no reason to ask for it.
        known = self.texts.get(digest, self._stored.get(digest))
        if known is None:
            known = self._stored[digest] = get_body(self.tx, digest)
        return known

    def put(self, text: str) -> str:
        digest = body_hash(text)
        self.texts[digest] = text
        return digest

    @property
    def root(self) -> str:
        """The folder of the space in its repository: empty, or ending in a slash."""
        if self._root is None:
            config = find_item_by_path(self.tx, self.state, CONFIG_PATH)
            known = config is not None and config.kind == "source" and config.content
            self._root = read_config(get_body(self.tx, config.content)).root if known else ""  # type: ignore[union-attr, arg-type]
        return self._root

    # --- pages ----------------------------------------------------------------------------------------

    def update_page(self, change: UpdatePage) -> None:
        old = self.page(change.page)
        page = old
        self.name(page.id, *(name for name in _FIELDS if getattr(change, name) is not UNSET))
        if change.into is not UNSET or change.at is not UNSET:
            self.name(page.id, "place")
        if change.document is not UNSET:
            self.name(page.id, "document")
            if page.kind != "document":
                raise BadRequest(f"document: a {page.kind} has none.")
            page = self._with_document(page, change.document)
        page = self._with_fields(page, change)
        page = self._with_place(page, change)
        self._set_slug(page, change, old)
        self.outcomes.append(Outcome("updated_page", page.id))

    def update_blocks(self, change: UpdateBlocks) -> None:
        pages, made = update_blocks(self, change)
        for page in pages:
            self.name(page.id, "document")
            self.set_page(page.id, page)
        self.outcomes.append(Outcome("updated_page", change.page, blocks=made))

    def insert_page(self, change: InsertPage) -> None:
        self._require_free_ref(change.ref)
        page = Page(id=ids.new_id(), title=UNTITLED, created_at=now())
        parent = self._parent(change.into)
        first = parent is None and not self.children(None)
        page = replace(page, parent=change.into, rank=self._rank(page.id, change.into, change.at))
        self.before[page.id] = None
        page = self._with_document(page, change.document)
        page = self._with_fields(page, change)
        page = replace(page, slug=self._new_slug(page, change))
        name = "README.md" if first else f"{page.slug}.md"
        page = replace(page, file_path=self._free_path(self._folder(parent), name, first=first))
        self.set_page(page.id, page)
        if change.ref is not None:
            self.page_refs[change.ref] = page.id
        self.outcomes.append(Outcome("created_page", page.id, change.ref))

    def insert_group(self, change: InsertGroup) -> None:
        if self._parent(change.into) is not None:
            raise BadRequest("into: groups of pages are at the top level only.")
        page = Page(
            id=ids.new_id(),
            kind="group",
            title=change.title,
            emoji=change.emoji,
            icon=change.icon,
            created_at=now(),
        )
        page = replace(page, rank=self._rank(page.id, None, change.at))
        page = replace(page, slug=self._new_slug(page, PageFields(slug=change.slug)))
        self.set_page(page.id, page)
        self.outcomes.append(Outcome("created_page", page.id))

    def insert_link(self, change: InsertLink) -> None:
        self._parent(change.into)
        target = change.target
        if target.get("kind") == "url" and isinstance(target.get("url"), str):
            target = {"kind": "url", "url": target["url"]}
        elif target.get("kind") in ("page", "anchor") and isinstance(target.get("page"), str):
            self.page(target["page"], "target")
        elif target.get("kind") == "file" and isinstance(target.get("file"), str):
            self.item(target["file"], "file")
        else:
            raise BadRequest("target: expected a reference to a url, page, anchor or file.")
        page = Page(
            id=ids.new_id(),
            kind="link",
            title=change.title,
            parent=change.into,
            target=target,
            created_at=now(),
        )
        page = replace(page, rank=self._rank(page.id, change.into, change.at))
        self.set_page(page.id, replace(page, slug=self._new_slug(page, PageFields())))
        self.outcomes.append(Outcome("created_page", page.id))

    def delete_page(self, page_id: str) -> None:
        """With all that is below it."""
        self.page(page_id)
        waiting = [page_id]
        while waiting:
            here = waiting.pop()
            waiting += [child.id for child in self.children(here)]
            self.set_page(here, None)
        self.outcomes.append(Outcome("deleted_page", page_id))

    def revert_page(self, change: RevertPage) -> None:
        if change.revision is not None:
            source = revision_state(self.tx, self.state.space_id, change.revision)
        elif self.started is not None:
            source = self.started
        else:
            raise BadRequest("revision: say which one to go back to.")
        old, page = find_page(self.tx, source, change.page), self.find(change.page)
        if old is None and page is None:
            raise NotFound(f"page: there is no page {change.page!r}, here or in that revision.")
        self.name(change.page, "document")
        if change.block is not None:
            if old is None or page is None:
                raise BadRequest("block: the page is not in both states; revert it as a whole.")
            self._revert_blocks(page, old, change.block)
        elif old is None:
            self.delete_page(change.page)
            return
        else:
            self._restore(old, page)
            self.name(change.page, *_FIELDS, "place")
        kind: Any = "updated_page" if page is not None else "created_page"
        self.outcomes.append(Outcome(kind, change.page))

    def _restore(self, old: Page, page: Page | None) -> None:
        parent = old.parent
        if parent is not None and (
            self.find(parent) is None or old.id in self._line_up(parent) or parent == old.id
        ):
            parent = page.parent if page is not None else None
        moved = page is None or page.parent != parent
        rank = page.rank if page is not None and not moved else old.rank
        taken = any(other.rank == rank and other.id != old.id for other in self.children(parent))
        if moved and taken:
            rank = self._rank(old.id, parent, UNSET)
        restored = replace(old, parent=parent, rank=rank)
        restored = replace(restored, slug=self._free_slug(restored))
        path = restored.file_path
        if path is not None and (page is None or page.file_path != path) and self.path_taken(path):
            folder, name = posixpath.split(path)
            here = page.file_path if page is not None else None
            path = here or self._free_path(f"{folder}/" if folder else "", name)
        self.set_page(old.id, replace(restored, file_path=path))

    def _revert_blocks(self, page: Page, old: Page, keys: list[str]) -> None:
        """Top-level blocks by key: changed ones as they were, new ones away, gone ones back behind the block
        that they followed."""
        then, here = self.keyed_of(page.id, old.body), self.keyed_of(page.id, page.body)
        was = {block.key: block for block in then.nodes}
        order = [block.key for block in then.nodes]
        for key in keys:
            there = [block.key for block in here.nodes]
            if key not in was and key not in there:
                raise NotFound(f"block: there is no block {key!r}, here or in that revision.")
            if key in there:
                at = there.index(key)
                here.nodes[at : at + 1] = [was[key]] if key in was else []
                if key not in was:
                    del here.gaps[at]
                continue
            before = [other for other in order[: order.index(key)] if other in there]
            at = there.index(before[-1]) + 1 if before else 0
            here.nodes.insert(at, was[key])
            here.gaps.insert(at, "\n\n" if at else "")
            if len(here.gaps) > at + 1 and at + 1 < len(here.nodes) and not here.gaps[at + 1]:
                here.gaps[at + 1] = "\n\n"
        front, heading, _ = split_page(self.text(page.body))
        body = write(here)
        if heading and body and not body.startswith(("\n", "\r")):
            body = "\n" + body
        self.set_page(page.id, self.with_text(page, front + heading + body))
        self.given[page.id] = here

    # --- what a page says -----------------------------------------------------------------------------

    def with_text(self, page: Page, source: str) -> Page:
        """The page with another source. A heading that stays as it was does not take the title back that the
        navigation gave the page."""
        head = read_head(source)
        before = read_head(self.text(page.body)).title if page.body else None
        title = page.title if head.title in (None, "", before) else head.title
        return replace(page, body=self.put(source), title=title, **head_fields(head))

    def _with_document(self, page: Page, given: DocumentInput) -> Page:
        source, document = self._source(page_owner(page), page.body, given)
        self.given[page.id] = document
        self._unsettled[page.id] = None
        return self.with_text(page, source)

    def _source(self, owner: Owner, body: str | None, given: DocumentInput) -> tuple[str, Document | None]:
        """The whole new source, and its document when it came as nodes. Front matter and title of the old one
        stay where the new one has none."""
        front, heading, _ = split_page(self.text(body))
        document = None
        if isinstance(given.markdown, str):
            new_front, new_heading, text = split_page(given.markdown)
            if new_heading or new_front:
                heading = new_heading or heading
                if new_front:
                    front = new_front
                elif front and not new_heading.startswith(("\n", "\r")):
                    heading = "\n" + heading
        else:
            document, was = self._from_nodes(owner, body, given.document)
            text = write(document, was)
        if heading and text and not text.startswith(("\n", "\r")) and not text.isspace():
            text = ("\n" if heading.endswith(("\n", "\r")) else "\n\n") + text
        source = front + heading + text
        _require_whole(source)
        return source, document

    def _from_nodes(self, owner: Owner, body: str | None, nodes: Any) -> tuple[Document, dict[str, Block]]:
        """The document with references as files write them, and by key the blocks that it was edited from."""
        given = {"object": "document", "data": {"schemaVersion": 1}, "nodes": nodes}
        try:
            new = from_json(nodes if isinstance(nodes, dict) else given)
        except DocumentError as error:
            raise BadRequest(f"document: {error}") from None
        old = self.keyed_of(owner.id, body)
        written = self.references_written(owner, old)
        sources = [block.source for block in old.nodes]
        self.resolver.resolve_all(old, owner)
        for block, source in zip(old.nodes, sources, strict=True):
            block.source = source
        if not any(map(is_empty, old.nodes)):
            new = without_empty(new)
        if old.nodes:
            carry_keys(old, new)
            carry_sources(old, new)
        was: dict[str, Block] = {}
        if any(block.source is None for block in new.nodes):
            was = {block.key or "": block for block in self.keyed_of(owner.id, body).nodes}
        kept = [block.source for block in new.nodes]
        rewrite(new, lambda ref: written.of(ref) or self._as_written(ref, owner.file_path))
        for block, source in zip(new.nodes, kept, strict=True):
            block.source = source
        return new, was

    def references_written(self, owner: Owner, document: Document) -> Written:
        """How the references of a document are written in it."""
        return Written(
            (ref.key, self.resolver.content_ref(owner, ref.ref, ref.type), ref.ref)
            for ref in references(document)
        )

    def as_stored(
        self, page: Page, reference: Reference, written: Written, path: str
    ) -> dict[str, Any] | None:
        """A reference that is new in a page as its file is to have it; None: as it is."""
        now = written.of(reference) or self._as_written(reference, path)
        here = now or reference.ref
        if here.get("kind") == "url" and (match := _BY_REF.fullmatch(str(here.get("url")))):
            self.open_refs[page.id].add(match[1])
        url = self._settled(here, path)
        return now if url is None else {"kind": "url", "url": url}

    def _as_written(self, reference: Reference, path: str | None) -> dict[str, Any] | None:
        """A reference by id as a URL that means the same in a file; None: it stays."""
        ref = reference.ref
        anchor = f"#{ref['anchor']}" if ref.get("anchor") else ""
        here = ref.get("space") in (None, self.state.space_id)
        url: str | None = None
        if ref["kind"] in ("page", "anchor") and here:
            url = f"/pages/{ref['page']}{anchor}" if ref.get("page") else anchor
        elif ref["kind"] == "file":
            url = f"/files/{ref['file']}"
        elif ref["kind"] == "space":
            url = space_href(ref["space"])
        elif ref["kind"] == "reusable-content" and here:
            item = self.item(ref["reusableContent"], "reusable-content")
            url = relative_href(item.path, path or "") if item.path else None
        elif ref["kind"] in ("page", "anchor"):
            url = self.resolver.write_url(ref)
            if url is None:
                raise BadRequest(
                    f"document: {reference.path}: there is no page {ref.get('page')!r} in this space."
                )
        return {"kind": "url", "url": url} if url else None

    def _settle_links(self, owner_id: str) -> None:
        """Refs of this batch and ids become paths, as other files of the space are written."""
        owner, given = self.pages.get(owner_id) or self.items.get(owner_id), self.given[owner_id]
        if owner is None or (
            isinstance(given, Index) and not self.open_refs[owner_id] & self.page_refs.keys()
        ):
            return
        body = owner.body if isinstance(owner, Page) else owner.content
        path = owner.file_path if isinstance(owner, Page) else owner.path
        source = self.text(body)
        front, heading, text = split_page(source)
        if body is None or "/" not in text:
            return
        document, changed = parse_source(body, lambda: source), False

        def change(reference: Reference) -> dict[str, Any] | None:
            nonlocal changed
            url = self._settled(reference.ref, path or "")
            changed |= url is not None
            return None if url is None else {"kind": "url", "url": url}

        made = rewritten(document, change)
        if not changed:
            return
        if isinstance(given, Index):
            self.given[owner_id] = self.keyed_of(owner_id, body)
        digest = self.put(front + heading + made)
        if isinstance(owner, Page):
            self.set_page(owner_id, replace(owner, body=digest))
        else:
            self.items[owner_id] = replace(owner, content=digest)

    def _settled(self, ref: dict[str, Any], path: str) -> str | None:
        url = ref.get("url")
        if ref.get("kind") != "url" or not isinstance(url, str):
            return None
        if (match := _BY_REF.fullmatch(url)) and match[1] in self.page_refs:
            kind, id, anchor = "pages", self.page_refs[match[1]], match[2]
        elif match := _BY_ID.fullmatch(url):
            kind, id, anchor = match[1], match[2], match[3]
            if kind == "files":
                id = self.file_refs.get(id, id)
        else:
            return None
        if kind == "pages":
            page = self.find(id)
            target = page.file_path if page is not None else None
        else:
            item = self.items.get(id) or find_items(self.tx, self.state, [id]).get(id)
            target = item.path if item is not None and item.kind == "file" else None
        if target is None:
            return f"/files/{id}" if kind == "files" and not url.startswith(f"/files/{id}") else None
        return relative_href(target, path) + (anchor or "")

    # --- keys ------------------------------------------------------------------------------------------

    def index(self, page: Page) -> Index:
        """The blocks of a page as it is now."""
        if page.body is None:
            return Index([], "", {})
        known = self.texts.get(page.body, self._stored.get(page.body))
        text, index = block_index(self.tx, page.id, page.body, known, self._kept_here(page.id, page.body))
        self._stored[page.body] = text
        return index

    def keyed_of(self, owner_id: str, body: str | None) -> Document:
        """The document of a source of an owner, with keys, as it is now."""
        kept = None if body is None else self._kept_here(owner_id, body)
        return keyed_document(self.tx, owner_id, body, self.text(body), kept)

    def _kept_here(self, owner_id: str, body: str) -> dict[str, str] | None:
        """The keys to keep for a source that this batch made; None for one that was there before."""
        owner = self.pages.get(owner_id) or self.items.get(owner_id)
        made = owner.body if isinstance(owner, Page) else owner.content if owner is not None else None
        if owner_id not in self.given or made != body:
            return None
        kept = self._keys(owner_id, self.given[owner_id])
        return kept.keys if kept is not None else None

    def _keys(self, owner_id: str, given: Document | Index | None) -> KeptKeys | None:
        """The keys that nodes keep through this batch."""
        owner, before = self.pages.get(owner_id) or self.items.get(owner_id), self.before.get(owner_id)
        if owner is None:
            return None
        body = owner.body if isinstance(owner, Page) else owner.content
        old = None if before is None else (before.body if isinstance(before, Page) else before.content)
        if body is None or body == old or (given is None and old is None):
            return None
        if isinstance(given, Index):
            keep_index(self.tx, owner_id, body, self.text(body), given)
            keys = given.kept
        elif given is None and split_page(self.text(old))[2] == split_page(self.text(body))[2]:
            keys = find_kept_keys(self.tx, owner_id, old or "")
        else:
            source = given if given is not None else keyed_document(self.tx, owner_id, old, self.text(old))
            keys = carried_keys([source], self.text(body))
        return KeptKeys(owner_id, body, keys) if keys else None

    def _with_fields(self, page: Page, change: PageFields) -> Page:
        given = {name: value for name in _FRONT_KEYS if (value := getattr(change, name)) is not UNSET}
        for name, value in given.items():
            if value == "":
                given[name] = None
        if isinstance(given.get("condition"), str):
            try:
                parse(given["condition"])
            except ExpressionError as error:
                raise BadRequest(f"condition: {error}") from None
        if change.title is not UNSET:
            title = " ".join(change.title.split())
            if not title:
                raise BadRequest("title: expected more than blanks.")
            given["title"] = title
        given = {name: value for name, value in given.items() if getattr(page, name) != value}
        if given and page.kind == "document":
            front = {_FRONT_KEYS.get(name, name): value or None for name, value in given.items()}
            page = self.with_text(page, with_head(self.text(page.body), front))
            self.given.setdefault(page.id, None)
        return replace(page, **given)

    # --- where a page is --------------------------------------------------------------------------

    def _with_place(self, page: Page, change: UpdatePage) -> Page:
        if change.into is UNSET and change.at is UNSET:
            return page
        into = page.parent if change.into is UNSET else change.into
        if into != page.parent:
            self._parent(into)
            if into is not None and page.kind == "group":
                raise BadRequest("into: groups of pages are at the top level only.")
            if into is not None and (into == page.id or page.id in self._line_up(into)):
                raise BadRequest("into: a page cannot go into itself or below itself.")
        elif change.at is UNSET:
            return page
        siblings = self.children(into)
        if change.at is not UNSET and into == page.parent:
            if self._index(page) == min(change.at, len(siblings) - 1):
                return page
        return replace(page, parent=into, rank=self._rank(page.id, into, change.at))

    def _parent(self, parent_id: str | None) -> Page | None:
        if parent_id is None:
            return None
        parent = self.page(parent_id, "into")
        if parent.kind not in ("document", "group"):
            raise BadRequest(f"into: a {parent.kind} cannot hold pages.")
        return parent

    def _line_up(self, page_id: str) -> set[str]:
        """The pages above a page."""
        found: set[str] = set()
        page = self.find(page_id)
        while page is not None and page.parent is not None and page.parent not in found:
            found.add(page.parent)
            page = self.find(page.parent)
        return found

    def _rank(self, page_id: str, parent: str | None, at: Any) -> str:
        """A rank for the place ``at`` among the other children (UNSET: behind them)."""
        siblings, page = self.children(parent), self.find(page_id)
        own = self._index(page) if page is not None and page.parent == parent else len(siblings)
        count = len(siblings) - (own < len(siblings))
        place = count if at is UNSET else min(at, count)

        def rank_at(number: int) -> str | None:
            return siblings[number + (number >= own)].rank if 0 <= number < count else None

        low, high = rank_at(place - 1), rank_at(place)
        if low is None or high is None or low < high:
            rank = rank_between(low, high)
            if len(rank) <= _LONGEST_RANK:
                return rank
        # Equal ranks leave no room between them, and long ones cost too much: all get new ones.
        fresh = ranks(count + 1)
        others = [sibling for sibling in siblings if sibling.id != page_id]
        for sibling, rank in zip(others, fresh[:place] + fresh[place + 1 :], strict=True):
            self.set_page(sibling.id, replace(sibling, rank=rank))
        return fresh[place]

    def _set_slug(self, page: Page, change: PageFields, old: Page) -> None:
        """Keeps the page, its slug as asked, following the title, or as it was."""
        slug = page.slug
        if change.slug is not UNSET:
            slug = self._new_slug(page, change)
        elif page.title != old.title and re.fullmatch(rf"{re.escape(slugify(old.title))}(-\d+)?", old.slug):
            slug = self._free_slug(replace(page, slug=slugify(page.title)))
        elif page.parent != old.parent and self._slug_taken(page, slug):
            raise Conflict(f"into: a page with the slug {slug!r} is there already; give another slug.")
        self.set_page(page.id, replace(page, slug=slug))

    def _new_slug(self, page: Page, change: PageFields) -> str:
        if change.slug is UNSET or change.slug == "":
            return self._free_slug(replace(page, slug=slugify(page.title)))
        if _BAD_SLUG.search(change.slug):
            raise BadRequest("slug: no blanks, slashes, `?`, `#` or `%`, and no `~` in front.")
        if self._slug_taken(page, change.slug):
            raise Conflict(f"slug: {change.slug!r} is taken by another page at the same place.")
        return change.slug

    def _slug_taken(self, page: Page, slug: str) -> bool:
        return bool(self._by_slug[page.parent, slug] - {page.id}) or any(
            other.id not in self.pages and other.id != page.id
            for other in list_by_slug(self.tx, self.state, page.parent, slug)
        )

    def _free_slug(self, page: Page) -> str:
        return free_name(page.slug, lambda slug: self._slug_taken(page, slug))

    def _folder(self, parent: Page | None) -> str:
        """Where the files of a page's children go."""
        if parent is None:
            return self.root
        if parent.file_path is None:
            return f"{self.root}{parent.slug}/"
        folder, name = posixpath.split(parent.file_path)
        if name.lower() != "readme.md":
            return f"{posixpath.splitext(parent.file_path)[0]}/"
        return f"{folder}/" if folder else ""

    def _free_path(self, folder: str, name: str, *, first: bool = False) -> str:
        def is_taken(path: str) -> bool:
            return (posixpath.basename(path).lower() in _OWN_NAMES and not first) or self.path_taken(path)

        return made_path(folder, name, is_taken, self.root)

    def path_taken(self, path: str) -> bool:
        if self._by_path[path]:
            return True
        page = find_page_by_file(self.tx, self.state, path)
        item = find_item_by_path(self.tx, self.state, path)
        return (page is not None and page.id not in self.pages) or (
            item is not None and item.id not in self.items
        )

    def _require_free_ref(self, ref: str | None) -> None:
        if ref is not None and (ref in self.page_refs or ref in self.file_refs):
            raise BadRequest(f"ref: {ref!r} is used twice.")

    # --- files, reusable contents, variables ----------------------------------------------------------

    def insert_files(self, change: InsertFiles) -> None:
        for given in change.files:
            self._require_free_ref(given.ref)
            _require_name(given.name)
            item = Item(
                id=ids.new_id(),
                kind="file",
                name=given.name,
                path=self._free_path(f"{self.root}.gitbook/assets/", given.name),
                created_at=now(),
            )
            item = _with_bytes(item, next(self.uploads))
            self.set_item(item.id, item)
            self.files.append(item)
            if given.ref is not None:
                self.file_refs[given.ref] = item.id

    def update_file(self, change: UpdateFile) -> None:
        """The path stays: documents refer to the file by it."""
        item = self.item(change.file, "file")
        self.name(item.id, *(["name"] if change.name is not None else []))
        self.name(item.id, *(["file"] if change.content is not None else []))
        if change.name is not None:
            _require_name(change.name)
            item = replace(item, name=change.name)
        if change.content is not None:
            item = _with_bytes(item, next(self.uploads))
        self.set_item(item.id, item)

    def insert_reusable(self, change: InsertReusableContent) -> None:
        path = self._free_path(f"{self.root}.gitbook/includes/", f"{slugify(change.title)}.md")
        item = Item(id=ids.new_id(), kind="reusable-content", name=change.title, path=path, created_at=now())
        self.set_item(item.id, item)
        self._write_reusable(item, change.title, change.document)

    def update_reusable(self, change: UpdateReusableContent) -> None:
        item = self.item(change.reusable_content, "reusable-content")
        self._write_reusable(item, change.title, change.document)

    def _write_reusable(self, item: Item, title: str | None, given: DocumentInput | None) -> None:
        text = self.text(item.content)
        self.name(item.id, *(["name"] if title is not None else []))
        if given is not None:
            self.name(item.id, "document")
            text, document = self._source(Owner(item.id, "reusable-content", item.path), item.content, given)
            self.given[item.id] = document
            self._unsettled[item.id] = None
        if title is not None:
            front, heading, body = split_page(text)
            if not front and not heading:
                text = f"---\ntitle: x\n---\n\n{body}"
            text = with_head(text, {"title": title})
            self.given.setdefault(item.id, None)
        name = title or read_head(text).title or item.name
        self.set_item(item.id, replace(item, name=name, content=self.put(text), size=len(text.encode())))

    def set_variables(self, change: SetVariables) -> None:
        known = {item.name: item for item in self.variables()}
        for name, value in change.variables.items():
            item = known.get(name)
            if value is None:
                if item is not None:
                    self.set_item(item.id, None)
                continue
            item = item or Item(id=ids.new_id(), kind="variable", name=name, created_at=now())
            self.name(item.id, "content")
            self.set_item(item.id, replace(item, content=msgspec.json.encode(value).decode()))


def _same(one: Page | Item | None, other: Page | Item | None) -> bool:
    if isinstance(one, Page) and isinstance(other, Page):
        return replace(one, updated_at=other.updated_at) == other
    return one == other


def _require_whole(source: str) -> None:
    """Raises TooLarge for a page with more in it than a document holds."""
    if may_be_cut(source) and not parse_source(body_hash(source), lambda: source).whole:
        raise TooLarge(
            f"document: more than the {MAX_NODES} {PARTS} that a page may have; divide it into several pages"
        )


def _require_name(name: str) -> None:
    if _BAD_NAME.search(name):
        raise BadRequest("name: expected a file name, without folders.")


def _with_bytes(item: Item, upload: Upload) -> Item:
    return replace(
        item,
        content=upload.hash,
        size=upload.size,
        content_type=upload.content_type,
        width=upload.width,
        height=upload.height,
    )
