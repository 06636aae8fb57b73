"""Documents of pages and reusable content in a draft: sources, references, and the keys that blocks keep."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping

from msgspec import UNSET, structs
from msgspec.structs import replace

from octavo.content.references.lookup import Owner
from octavo.content.references.resolving import Resolver, page_owner
from octavo.content.revisions.bodies import body_hash, parse_source
from octavo.content.revisions.drafting import Draft
from octavo.content.revisions.keys import (
    KeptKeys,
    block_index,
    cache_index,
    carried_keys,
    find_kept_keys,
    keyed_document,
    remember_edit,
)
from octavo.core.document.blocks import Index, is_empty, without_empty
from octavo.core.document.json import DocumentError, from_json
from octavo.core.document.keys import carry_keys, carry_sources
from octavo.core.document.nodes import MAX_NODES, PARTS, Block, Document
from octavo.core.document.page import below_title, front_keys, read_head, split_page, with_head
from octavo.core.document.reader import may_be_cut
from octavo.core.document.references import Reference, references, rewrite
from octavo.core.document.writing import rewritten, write
from octavo.core.expression_syntax import parse
from octavo.core.expression_values import ExpressionError
from octavo.core.import_plan import head_fields
from octavo.core.json_types import JsonObject
from octavo.core.links import relative_href, space_href
from octavo.core.page_fields import EDITED_FIELDS, FRONT_FIELDS, Cover, wire_name
from octavo.core.pages import Page
from octavo.errors import BadRequest, NotFound, TooLarge

from .commands import CoverFile, CoverUrl, DocumentInput, EditedPageFields
from .written import WrittenReferences

_BY_REF = re.compile(r"\./([A-Za-z0-9_-]{1,100})\.md(#.*)?", re.DOTALL)
_BY_ID = re.compile(r"/(pages|files)/([A-Za-z0-9_-]{1,100})(#.*)?", re.DOTALL)


class BatchDocuments:
    """Documents of the pages and reusable content in a batch. ``resolver``: the author's reference resolver."""

    def __init__(self, draft: Draft, resolver: Resolver) -> None:
        self.draft, self.resolver = draft, resolver
        self._page_refs: dict[str, str] = {}
        self._file_refs: dict[str, str] = {}
        """File IDs by the names used in the batch."""
        self._given: dict[str, Document | Index | None] = {}
        """Pages and reusable content whose source this batch creates. The value is the document with keys if the whole
        document was provided as nodes, or the index of the source if only some blocks were."""
        self._copied_from: dict[str, Document] = {}
        self._unresolved: dict[str, None] = {}
        """Owners whose whole document this batch sets, in order."""
        self._open_refs: defaultdict[str, set[str]] = defaultdict(set)
        """Names that are used in a page's links, and that a later change in this batch may assign to a new page."""

    def name_page(self, ref: str, page_id: str) -> None:
        """Record the name that links in the batch use for a new page."""
        self._page_refs[ref] = page_id

    def name_file(self, ref: str, file_id: str) -> None:
        """Record the name that links in the batch use for a new file."""
        self._file_refs[ref] = file_id

    def is_named(self, ref: str) -> bool:
        """Return whether a new page or file in the batch has this name."""
        return ref in self._page_refs or ref in self._file_refs

    def create(self, owner_id: str, given: Document | Index | None = None) -> None:
        """Record that the batch creates the source of a page or reusable content. ``given``: its document
        with keys, or the index of its source if some blocks were provided as nodes."""
        self._given[owner_id] = given

    def touch(self, owner_id: str) -> None:
        """Record that the batch changes a source. This has no effect if the batch also creates the source."""
        self._given.setdefault(owner_id, None)

    def copy_from(self, owner_id: str, document: Document) -> None:
        """Let the blocks of a copied document keep their keys. ``document``: the original document, which is from
        another state."""
        self._copied_from[owner_id] = document

    def resolve_names(self) -> list[KeptKeys]:
        """Replace links by name with links by path after the whole batch has been applied, and return the keys that
        blocks keep."""
        named = self._page_refs.keys()
        for owner_id in [*self._unresolved, *(id for id, refs in self._open_refs.items() if refs & named)]:
            self._write_links_as_paths(owner_id)
        return [kept for owner_id, given in self._given.items() if (kept := self._keys(owner_id, given))]

    def with_text(self, page: Page, source: str) -> Page:
        """Return the page with a new source. An unchanged heading doesn't override the page's title in navigation."""
        head = read_head(source)
        before = read_head(self.draft.text(page.body)).title if page.body else None
        title = page.title if head.title in (None, "", before) else head.title
        return replace(page, body=self.draft.put_text(source), title=title, **head_fields(head))

    def with_document(self, page: Page, given: DocumentInput) -> Page:
        """Return the page with a new document. Raises BadRequest if the document is invalid, and TooLarge if it is too
        large."""
        return self.with_text(page, self.write(page_owner(page), page.body, given))

    def write(self, owner: Owner, body: str | None, given: DocumentInput) -> str:
        """Return the new source of a page or reusable content. Raises BadRequest if the source is invalid,
        and TooLarge if it is too large."""
        source, document = self._source(owner, body, given)
        self._given[owner.id] = document
        self._unresolved[owner.id] = None
        return source

    def _source(self, owner: Owner, body: str | None, given: DocumentInput) -> tuple[str, Document | None]:
        """Return the new source, and its document if it was provided as nodes. If the new source has no front matter or
        title, the front matter or title of the old source is kept."""
        front, heading, before = split_page(self.draft.text(body))
        document = None
        if isinstance(given.markdown, str):
            new_front, new_heading, text = split_page(given.markdown)
            if new_heading or new_front:
                heading = new_heading or heading
                before = text if new_heading else before
                if new_front:
                    front = new_front
                elif front and not new_heading.startswith(("\n", "\r")):
                    heading = "\n" + heading
        else:
            document, was = self._from_nodes(owner, body, given.document)
            text = write(document, was)
        source = front + heading + below_title(heading, text, before)
        _require_whole(source)
        return source, document

    def _from_nodes(self, owner: Owner, body: str | None, nodes: object) -> tuple[Document, dict[str, Block]]:
        """Return the document, with references in the form used in files, and the blocks of the previous version by
        key."""
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

    def references_written(self, owner: Owner, document: Document) -> WrittenReferences:
        """Return a document's references as they are written in its source."""
        return WrittenReferences(
            (ref.key, self.resolver.content_ref(owner, ref.ref, ref.type), ref.ref)
            for ref in references(document)
        )

    def as_stored(
        self, page: Page, reference: Reference, written: WrittenReferences, path: str
    ) -> JsonObject | None:
        """Return a new reference on a page in the form used in the page's file; None if it is unchanged."""
        now = written.of(reference) or self._as_written(reference, path)
        here = now or reference.ref
        if here.get("kind") == "url" and (match := _BY_REF.fullmatch(str(here.get("url")))):
            self._open_refs[page.id].add(match[1])
        url = self._settled(here, path)
        return now if url is None else {"kind": "url", "url": url}

    def _as_written(self, reference: Reference, path: str | None) -> JsonObject | None:
        """Return a URL that is equivalent to a reference by ID, for use in a file; None if the reference stays
        unchanged."""
        ref = reference.ref
        anchor = f"#{ref['anchor']}" if ref.get("anchor") else ""
        here = ref.get("space") in (None, self.draft.state.space_id)
        url: str | None = None
        if ref["kind"] in ("page", "anchor") and here:
            url = f"/pages/{ref['page']}{anchor}" if ref.get("page") else anchor
        elif ref["kind"] == "file":
            url = f"/files/{ref['file']}"
        elif ref["kind"] == "space":
            url = space_href(ref["space"])
        elif ref["kind"] == "reusable-content" and here:
            item = self.draft.get_item(ref["reusableContent"], "reusable-content")
            url = relative_href(item.path, path or "") if item.path else None
        elif ref["kind"] in ("page", "anchor"):
            url = self.resolver.write_url(ref)
            if url is None:
                raise BadRequest(
                    f"document: {reference.path}: there is no page with the ID {ref.get('page')!r} in this"
                    " space"
                )
        return {"kind": "url", "url": url} if url else None

    def _write_links_as_paths(self, owner_id: str) -> None:
        """In links, replace IDs and names used in this batch with paths, because files in a space link to each other by
        path."""
        owner, given = self.draft.find_put(owner_id), self._given[owner_id]
        if owner is None or (
            isinstance(given, Index) and not self._open_refs[owner_id] & self._page_refs.keys()
        ):
            return
        body = owner.body if isinstance(owner, Page) else owner.content
        path = owner.file_path if isinstance(owner, Page) else owner.path
        source = self.draft.text(body)
        front, heading, text = split_page(source)
        if body is None or "/" not in text:
            return
        document, changed = parse_source(body, lambda: source), False

        def change(reference: Reference) -> JsonObject | None:
            nonlocal changed
            url = self._settled(reference.ref, path or "")
            changed |= url is not None
            return None if url is None else {"kind": "url", "url": url}

        made = rewritten(document, change)
        if not changed:
            return
        if isinstance(given, Index):
            self._given[owner_id] = self.keyed_of(owner_id, body)
        digest = self.draft.put_text(front + heading + made)
        if isinstance(owner, Page):
            self.draft.put_page(owner_id, replace(owner, body=digest))
        else:
            self.draft.put_item(owner_id, replace(owner, content=digest))

    def _settled(self, ref: Mapping[str, object], path: str) -> str | None:
        url = ref.get("url")
        if ref.get("kind") != "url" or not isinstance(url, str):
            return None
        if (match := _BY_REF.fullmatch(url)) and match[1] in self._page_refs:
            kind, id, anchor = "pages", self._page_refs[match[1]], match[2]
        elif match := _BY_ID.fullmatch(url):
            kind, id, anchor = match[1], match[2], match[3]
            if kind == "files":
                id = self._file_refs.get(id, id)
        else:
            return None
        if kind == "pages":
            page = self.draft.find_page(id)
            target = page.file_path if page is not None else None
        else:
            item = self.draft.find_item(id, "file")
            target = item.path if item is not None else None
        if target is None:
            return f"/files/{id}" if kind == "files" and not url.startswith(f"/files/{id}") else None
        return relative_href(target, path) + (anchor or "")

    def index(self, page: Page) -> Index:
        """Return the index of a page's current blocks."""
        if page.body is None:
            return Index([], "", {})
        known = self.draft.known_text(page.body)
        text, index = block_index(
            self.draft.tx, page.id, page.body, known, self._kept_here(page.id, page.body)
        )
        self.draft.note_text(page.body, text)
        return index

    def keyed_of(self, owner_id: str, body: str | None) -> Document:
        """Return the current document of a page or reusable content, with keys. ``body``: the hash of its source."""
        kept = None if body is None else self._kept_here(owner_id, body)
        return keyed_document(self.draft.tx, owner_id, body, self.draft.text(body), kept)

    def _kept_here(self, owner_id: str, body: str) -> dict[str, str] | None:
        """Return the keys to keep for a source that this batch created; None if the source already existed."""
        owner = self.draft.find_put(owner_id)
        made = owner.body if isinstance(owner, Page) else owner.content if owner is not None else None
        if owner_id not in self._given or made != body:
            return None
        kept = self._keys(owner_id, self._given[owner_id])
        return kept.keys if kept is not None else None

    def _keys(self, owner_id: str, given: Document | Index | None) -> KeptKeys | None:
        """Return the keys that nodes keep after this batch."""
        owner = self.draft.find_put(owner_id)
        if owner is None:
            return None
        before = self.draft.version_before(owner)
        body = owner.body if isinstance(owner, Page) else owner.content
        old = None if before is None else (before.body if isinstance(before, Page) else before.content)
        if body is None or body == old or (given is None and old is None):
            return None
        if isinstance(given, Index):
            now = cache_index(self.draft.tx, owner_id, body, self.draft.text(body), given)
            if old is not None:
                remember_edit(self.draft.tx, owner_id, block_index(self.draft.tx, owner_id, old), body, now)
            keys = given.kept
        elif given is None and split_page(self.draft.text(old))[2] == split_page(self.draft.text(body))[2]:
            keys = find_kept_keys(self.draft.tx, owner_id, old or "")
        else:
            source = (
                given
                if given is not None
                else keyed_document(self.draft.tx, owner_id, old, self.draft.text(old))
            )
            others = [self._copied_from[owner_id]] if owner_id in self._copied_from else []
            keys = carried_keys([source, *others], self.draft.text(body))
        return KeptKeys(owner_id, body, keys) if keys else None

    def with_fields(self, page: Page, change: EditedPageFields) -> Page:
        given = change.edited(structs.asdict(page))
        for name, value in given.items():
            if value != getattr(page, name) and page.kind not in EDITED_FIELDS[name].kinds:
                raise BadRequest(f"{wire_name(name)}: a page of the type `{page.kind}` can't have this field")
            if EDITED_FIELDS[name].type == "condition" and value is not None:
                try:
                    parse(str(value))
                except ExpressionError as error:
                    raise BadRequest(f"{wire_name(name)}: {error}") from None
        if change.title is not UNSET:
            title = " ".join(change.title.split())
            if not title:
                raise BadRequest("title: must not be blank")
            given["title"] = title
        return self._with(page, given)

    def with_cover(self, page: Page, change: EditedPageFields) -> Page:
        """Return a page with the given cover. The page must already have a path."""
        given = getattr(change, "cover", UNSET)
        if given is UNSET:
            return page
        if given is None:
            return self._with(page, {"cover": None})
        cover = Cover(
            light=self._cover_file(page, given.ref),
            dark=None if given.ref_dark is UNSET else self._cover_file(page, given.ref_dark),
            y=given.y_pos,
            height=None if given.height is UNSET else given.height,
            text_color=None if given.text_color is UNSET else given.text_color,
            text_color_dark=None if given.text_color_dark is UNSET else given.text_color_dark,
        )
        return self._with(page, {"cover": cover})

    def _cover_file(self, page: Page, ref: CoverFile | CoverUrl) -> str:
        if isinstance(ref, CoverUrl):
            return ref.url
        item = self.draft.get_item(ref.file, "file")
        return relative_href(item.path or item.name, page.file_path or "")

    def _with(self, page: Page, given: dict[str, object]) -> Page:
        given = {name: value for name, value in given.items() if getattr(page, name) != value}
        changed = replace(page, **given)
        if given and page.kind == "document":
            front: JsonObject = {}
            for name in given:
                if name == "title":
                    front["title"] = changed.title
                elif name in FRONT_FIELDS:
                    front |= front_keys(changed, name)
            page = self.with_text(page, with_head(self.draft.text(page.body), front))
            self.touch(page.id)
        return replace(page, **given)

    def with_blocks_of(self, page: Page, old: Page, keys: list[str]) -> None:
        """Revert top-level blocks by key: edited blocks are restored, new blocks are removed, and deleted blocks are
        inserted after the block that they followed."""
        then, here = self.keyed_of(page.id, old.body), self.keyed_of(page.id, page.body)
        was = {block.key: block for block in then.nodes}
        order = [block.key for block in then.nodes]
        for key in keys:
            there = [block.key for block in here.nodes]
            if key not in was and key not in there:
                raise NotFound(
                    f"block: there is no block with the key {key!r} on the page or in the earlier revision"
                )
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
        front, heading, text = split_page(self.draft.text(page.body))
        body = below_title(heading, write(here), text)
        self.draft.put_page(page.id, self.with_text(page, front + heading + body))
        self._given[page.id] = here


def _require_whole(source: str) -> None:
    """Raise TooLarge if a page exceeds the limits of a document."""
    if may_be_cut(source) and not parse_source(body_hash(source), lambda: source).whole:
        raise TooLarge(
            f"document: a page can have at most {MAX_NODES:,} {PARTS}. Split it into several pages."
        )
