"""Apply the changes of a batch to a draft one after another."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import replace

from octavo.content.references.lookup import Owner
from octavo.content.references.resolving import NobodyViewer, Resolver, state_resolver
from octavo.content.revisions.drafting import Draft
from octavo.content.revisions.item_versions import Item
from octavo.content.revisions.keys import KeptKeys
from octavo.content.revisions.page_versions import find_last_rules, find_page
from octavo.content.revisions.restrictions import as_seen, find_rules
from octavo.content.revisions.states import State, revision_state
from octavo.content.revisions.store import Changes
from octavo.core.document.page import read_head, split_page, with_head
from octavo.core.document.urls import safe_url
from octavo.core.merge import MergeConflict
from octavo.core.page_fields import EDITED_FIELDS
from octavo.core.pages import Page, slugify
from octavo.core.space_config import TAGS_PATH
from octavo.core.tags import MAX_TAGS, read_tags, write_tags
from octavo.errors import BadRequest, Conflict, NotFound
from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.db.database import Transaction

from .block_editing import BlocksMade, update_blocks
from .commands import (
    ContentChange,
    DeleteFile,
    DeletePage,
    DeleteReusableContent,
    DocumentInput,
    EditedPageFields,
    InsertFiles,
    InsertGroup,
    InsertLink,
    InsertPage,
    InsertReusableContent,
    RevertPage,
    SetTags,
    SetVariables,
    UpdateBlocks,
    UpdateFile,
    UpdatePage,
    UpdateReusableContent,
)
from .documenting import BatchDocuments
from .placing import PagePlacement
from .uploading import Upload

UNTITLED = "Untitled"
_FIELDS = (*EDITED_FIELDS, "title", "slug")
_BAD_NAME = re.compile(r"[/\\\x00-\x1f\x7f]|\A\.{1,2}\Z")


class PageOutcome(Struct, frozen=True):
    """Result of changing one page."""

    kind: Literal["created_page", "updated_page", "deleted_page"]
    page_id: str
    ref: str | None = None
    blocks: BlocksMade | None = None


class EditedContent(Struct, frozen=True):
    """Content that a revision writes, and the results reported to the caller. ``named``: the fields that the changes
    set on pages and items, as ``(ID, field)`` pairs, including fields that already had the same value. Each field is
    ``document`` or one of the field names used in conflicts. ``conflicts``: the conflicts of an edit that was merged
    with later saves. ``shared``: the IDs of pages that also contain other people's changes after that merge."""

    changes: Changes
    bodies: list[str]
    keys: list[KeptKeys]
    outcomes: list[PageOutcome]
    files: list[Item]
    named: frozenset[tuple[str, str]] = frozenset()
    conflicts: list[MergeConflict] = []
    shared: frozenset[str] = frozenset()


class BatchApplication:
    """Batch that is being applied. ``uploads``: the contents of its files, in order. ``started``: the state that
    ``revert_page`` restores if no revision is given. ``resolver``: the reference resolver; if None, references are
    resolved without access to other spaces."""

    def __init__(
        self,
        tx: Transaction,
        state: State,
        started: State | None,
        uploads: Iterable[Upload] = (),
        resolver: Resolver | None = None,
    ) -> None:
        self.draft = Draft(tx, state)
        self.places = PagePlacement(self.draft)
        self.documents = BatchDocuments(self.draft, resolver or state_resolver(tx, state, (), NobodyViewer()))
        self.outcomes: list[PageOutcome] = []
        self.files: list[Item] = []
        self.named: set[tuple[str, str]] = set()
        self.uploads, self.started = iter(uploads), started

    def finish(self) -> EditedContent:
        keys, changes = self.documents.resolve_names(), self.draft.changes
        texts = self.draft.texts_of(changes)
        return EditedContent(changes, texts, keys, self.outcomes, self.files, frozenset(self.named))

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
                self.draft.put_item(self.draft.get_item(change.file, "file").id, None)
            case InsertReusableContent():
                self.insert_reusable(change)
            case UpdateReusableContent():
                self.update_reusable(change)
            case DeleteReusableContent():
                self.draft.put_item(self.draft.get_item(change.reusable_content, "reusable-content").id, None)
            case SetTags():
                self.set_tags(change)
            case SetVariables():
                self.set_variables(change)

    def name(self, id: str, *fields: str) -> None:
        """Record that the batch sets these fields of a page or item."""
        self.named.update((id, field) for field in fields)

    def update_page(self, change: UpdatePage) -> None:
        old = self.draft.get_page(change.page)
        page = old
        self.name(page.id, *(name for name in _FIELDS if getattr(change, name) is not UNSET))
        if change.into is not UNSET or change.at is not UNSET:
            self.name(page.id, "place")
        if change.document is not UNSET:
            self.name(page.id, "document")
            if page.kind != "document":
                raise BadRequest(f"document: a {page.kind} can't have a document")
            page = self.documents.with_document(page, change.document)
        page = self.documents.with_fields(page, change)
        page = self.documents.with_cover(page, change)
        page = self.places.moved(page, change)
        self.places.put_with_slug(page, change, old)
        self.outcomes.append(PageOutcome("updated_page", page.id))

    def update_blocks(self, change: UpdateBlocks) -> None:
        pages, made = update_blocks(self.documents, change)
        for page in pages:
            self.name(page.id, "document")
            self.draft.put_page(page.id, page)
        self.outcomes.append(PageOutcome("updated_page", change.page, blocks=made))

    def insert_page(self, change: InsertPage) -> None:
        self.require_free_ref(change.ref)
        page = Page(id=ids.new_id(), title=UNTITLED, created_at=now())
        parent = self.places.parent(change.into)
        first = parent is None and not self.draft.children(None)
        page = replace(page, parent=change.into, rank=self.places.rank(page.id, change.into, change.at))
        page = self.documents.with_document(page, change.document)
        page = self.documents.with_fields(page, change)
        page = replace(page, slug=self.places.new_slug(page, change))
        name = "README.md" if first else f"{page.slug}.md"
        page = replace(page, file_path=self.places.free_path(self.places.folder(parent), name, first=first))
        page = self.documents.with_cover(page, change)
        self.draft.put_page(page.id, page)
        if change.ref is not None:
            self.documents.name_page(change.ref, page.id)
        self.outcomes.append(PageOutcome("created_page", page.id, change.ref))

    def insert_group(self, change: InsertGroup) -> None:
        if self.places.parent(change.into) is not None:
            raise BadRequest("into: page groups must be at the top level")
        page = Page(
            id=ids.new_id(),
            kind="group",
            title=change.title,
            emoji=change.emoji,
            icon=change.icon,
            created_at=now(),
        )
        page = replace(page, rank=self.places.rank(page.id, None, change.at))
        page = replace(page, slug=self.places.new_slug(page, EditedPageFields(slug=change.slug)))
        self.draft.put_page(page.id, page)
        self.outcomes.append(PageOutcome("created_page", page.id))

    def insert_link(self, change: InsertLink) -> None:
        self.places.parent(change.into)
        target = change.target
        if target.get("kind") == "url" and isinstance(target.get("url"), str):
            url = safe_url(target["url"])
            if url is None:
                raise BadRequest(
                    "target.url: this type of URL isn't allowed. Use an http, https, mailto, tel, or relative"
                    " URL."
                )
            target = {"kind": "url", "url": url}
        elif target.get("kind") in ("page", "anchor") and isinstance(target.get("page"), str):
            self.draft.get_page(target["page"], "target")
        elif target.get("kind") == "file" and isinstance(target.get("file"), str):
            self.draft.get_item(target["file"], "file")
        else:
            raise BadRequest("target: must be a reference to a URL, page, anchor, or file")
        page = Page(
            id=ids.new_id(),
            kind="link",
            title=change.title,
            parent=change.into,
            target=target,
            created_at=now(),
        )
        page = replace(page, rank=self.places.rank(page.id, change.into, change.at))
        self.draft.put_page(page.id, replace(page, slug=self.places.new_slug(page, EditedPageFields())))
        self.outcomes.append(PageOutcome("created_page", page.id))

    def delete_page(self, page_id: str) -> None:
        """Delete a page and all pages under it."""
        self.draft.get_page(page_id)
        waiting = [page_id]
        while waiting:
            here = waiting.pop()
            waiting += [child.id for child in self.draft.children(here)]
            self.draft.put_page(here, None)
        self.outcomes.append(PageOutcome("deleted_page", page_id))

    def revert_page(self, change: RevertPage) -> None:
        if change.revision is not None:
            source = revision_state(self.draft.tx, self.draft.state.space_id, change.revision)
        elif self.started is not None:
            source = self.started
        else:
            raise BadRequest("revision: is required. Specify the revision to restore the page from.")
        source = as_seen(self.draft.tx, source, self.draft.state)
        old, page = find_page(self.draft.tx, source, change.page), self.draft.find_page(change.page)
        if change.page in source.hidden or (old is None and page is None):
            raise NotFound(
                f"page: there is no page with the ID {change.page!r} in the current content or in that"
                " revision"
            )
        self.name(change.page, "document")
        if change.block is not None:
            if old is None or page is None:
                raise BadRequest(
                    "block: can only be reverted if the page exists in both revisions. Revert the whole page"
                    " instead."
                )
            self.documents.with_blocks_of(page, old, change.block)
        elif old is None:
            self.delete_page(change.page)
            return
        else:
            self._restore(old, page)
            self.name(change.page, *_FIELDS, "place")
        kind: Any = "updated_page" if page is not None else "created_page"
        self.outcomes.append(PageOutcome(kind, change.page))

    def _restore(self, old: Page, page: Page | None) -> None:
        parent = old.parent
        if parent is not None and (
            self.draft.find_page(parent) is None
            or old.id in self.places.ancestor_ids(parent)
            or parent == old.id
        ):
            parent = page.parent if page is not None else None
        moved = page is None or page.parent != parent
        rank = page.rank if page is not None and not moved else old.rank
        taken = any(other.rank == rank and other.id != old.id for other in self.draft.children(parent))
        if moved and taken:
            rank = self.places.rank(old.id, parent, UNSET)
        # Restoring content never changes who can see it.
        if page is not None:
            rule = page.visible_to
        else:
            rule = find_last_rules(self.draft.tx, self.draft.state, [old.id]).get(old.id, ())
        if page is None:
            rules = find_rules(self.draft.tx, self.draft.state)
            lost = set(rules.get(old.id, ())) - {rule, *rules.get(parent or "", ())}
            if lost and parent != old.parent:
                raise Conflict("page: the parent page was deleted. Restore it first.")
        restored = replace(old, parent=parent, rank=rank, visible_to=rule)
        restored = replace(restored, slug=self.draft.free_slug(restored))
        path = restored.file_path
        if path is not None and (page is None or page.file_path != path) and self.draft.path_taken(path):
            folder, name = posixpath.split(path)
            here = page.file_path if page is not None else None
            path = here or self.places.free_path(f"{folder}/" if folder else "", name)
        self.draft.put_page(old.id, replace(restored, file_path=path))

    def require_free_ref(self, ref: str | None) -> None:
        if ref is not None and self.documents.is_named(ref):
            raise BadRequest(f"ref: {ref!r} is used twice. Use each name only once.")

    def insert_files(self, change: InsertFiles) -> None:
        for given in change.files:
            self.require_free_ref(given.ref)
            _require_name(given.name)
            item = Item(
                id=ids.new_id(),
                kind="file",
                name=given.name,
                path=self.places.free_path(f"{self.draft.root}.gitbook/assets/", given.name),
                created_at=now(),
            )
            item = _with_bytes(item, next(self.uploads))
            self.draft.put_item(item.id, item)
            self.files.append(item)
            if given.ref is not None:
                self.documents.name_file(given.ref, item.id)

    def update_file(self, change: UpdateFile) -> None:
        """Update a file. Its path stays the same because documents link to it."""
        item = self.draft.get_item(change.file, "file")
        self.name(item.id, *(["name"] if change.name is not None else []))
        self.name(item.id, *(["file"] if change.content is not None else []))
        if change.name is not None:
            _require_name(change.name)
            item = replace(item, name=change.name)
        if change.content is not None:
            item = _with_bytes(item, next(self.uploads))
        self.draft.put_item(item.id, item)

    def insert_reusable(self, change: InsertReusableContent) -> None:
        path = self.places.free_path(f"{self.draft.root}.gitbook/includes/", f"{slugify(change.title)}.md")
        item = Item(id=ids.new_id(), kind="reusable-content", name=change.title, path=path, created_at=now())
        self.draft.put_item(item.id, item)
        self._write_reusable(item, change.title, change.document)

    def update_reusable(self, change: UpdateReusableContent) -> None:
        item = self.draft.get_item(change.reusable_content, "reusable-content")
        self._write_reusable(item, change.title, change.document)

    def _write_reusable(self, item: Item, title: str | None, given: DocumentInput | None) -> None:
        text = self.draft.text(item.content)
        self.name(item.id, *(["name"] if title is not None else []))
        if given is not None:
            self.name(item.id, "document")
            text = self.documents.write(Owner(item.id, "reusable-content", item.path), item.content, given)
        if title is not None:
            front, heading, body = split_page(text)
            if not front and not heading:
                text = f"---\ntitle: x\n---\n\n{body}"
            text = with_head(text, {"title": title})
            self.documents.touch(item.id)
        name = title or read_head(text).title or item.name
        self.draft.put_item(
            item.id, replace(item, name=name, content=self.draft.put_text(text), size=len(text.encode()))
        )

    def set_tags(self, change: SetTags) -> None:
        path = self.draft.root + TAGS_PATH
        there = self.draft.find_item_by_path(path)
        item = there or Item(
            id=ids.new_id(), kind="source", name=path.rpartition("/")[2], path=path, created_at=now()
        )
        if item.kind != "source":
            raise Conflict(f"tags: {path} is already used by a page or file. Rename that page or file first.")
        found, problems = read_tags(self.draft.text(item.content))
        if problems:
            raise Conflict(f"tags: {path} isn't a valid tag file. Fix it first: {problems[0].message}")
        tags = {tag.tag: tag for tag in found}
        for slug, given in change.tags.items():
            if given is None:
                tags.pop(slug, None)
            else:
                tags[slug] = given.tag(slug)
        if len(tags) > max(MAX_TAGS, len(found)):
            raise BadRequest(f"tags: a space can have at most {MAX_TAGS} tags")
        self.name(item.id, "content")
        self.draft.put_item(item.id, replace(item, content=self.draft.put_text(write_tags(tags.values()))))

    def set_variables(self, change: SetVariables) -> None:
        known = {item.name: item for item in self.draft.list_items("variable")}
        for name, value in change.variables.items():
            item = known.get(name)
            if value is None:
                if item is not None:
                    self.draft.put_item(item.id, None)
                continue
            item = item or Item(id=ids.new_id(), kind="variable", name=name, created_at=now())
            self.name(item.id, "content")
            self.draft.put_item(item.id, replace(item, content=msgspec.json.encode(value).decode()))


def _require_name(name: str) -> None:
    if _BAD_NAME.search(name):
        raise BadRequest("name: must be a file name without folders")


def _with_bytes(item: Item, upload: Upload) -> Item:
    return replace(
        item,
        content=upload.hash,
        size=upload.size,
        content_type=upload.content_type,
        width=upload.width,
        height=upload.height,
    )
