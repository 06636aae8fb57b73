"""Edit individual blocks of a page: the ``update_blocks`` change of a batch."""

from __future__ import annotations

import posixpath
from typing import Any

from msgspec import UNSET, Struct
from msgspec.structs import replace

from octavo.content.references.resolving import page_owner
from octavo.core.document.blocks import (
    Allowed,
    BlockEdits,
    BlockPosition,
    EditedBlocks,
    EditError,
    Missing,
    NotLocal,
)
from octavo.core.document.json import DocumentError, nodes_from_json
from octavo.core.document.nodes import MAX_NODES, PARTS, Document
from octavo.core.document.page import below_title, split_page
from octavo.core.document.reader import read
from octavo.core.document.references import references, rewrite
from octavo.core.json_types import JsonObject
from octavo.core.pages import Page
from octavo.errors import BadRequest, BlockNotFound, OctavoError, TooLarge

from .commands import BlockPlace, DocumentInput, UpdateBlocks
from .documenting import BatchDocuments
from .written import WrittenReferences


class BlocksMade(Struct, frozen=True):
    """Blocks that an ``update_blocks`` change produced, with keys. For each entry of ``set``, ``insert``, and ``move``,
    there is a list of the resulting blocks that are still in the source ``body``."""

    body: str | None
    set: list[list[Any]]
    insert: list[list[Any]]
    move: list[list[Any]]


def update_blocks(documents: BatchDocuments, change: UpdateBlocks) -> tuple[list[Page], BlocksMade]:
    """Return the changed pages, starting with the page named in the change, and the blocks that the change produced."""
    try:
        return _BlockEdit(documents, change, is_whole=False).run()
    except NotLocal:
        return _BlockEdit(documents, change, is_whole=True).run()


class _OpenPage(Struct):
    page: Page
    front: str
    heading: str
    text: str
    edits: BlockEdits


class _BlockEdit:
    """One attempt at the edit, based on the index of a page or on its whole document."""

    def __init__(self, documents: BatchDocuments, change: UpdateBlocks, *, is_whole: bool) -> None:
        self.documents, self.change, self.is_whole = documents, change, is_whole
        self.open: dict[str, _OpenPage] = {}
        self.written: WrittenReferences | None = None

    def run(self) -> tuple[list[Page], BlocksMade]:
        change = self.change
        here = self.open_page(change.page, "page")
        edits = here.edits
        moved_from = [
            self.open_page(move.from_, f"move[{n}].from") if move.from_ is not UNSET else here
            for n, move in enumerate(change.move)
        ]
        found: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
        for n, entry in enumerate(change.set):
            field = f"set[{n}]"
            with _ErrorPrefix(field):
                allowed = edits.allowed(entry.block, "block")
                given = self.given(here, entry.document, f"{field}.document", allowed)
                found[0].append(edits.set(entry.block, given, "block"))
        for n, entry_ in enumerate(change.insert):
            field = f"insert[{n}]"
            with _ErrorPrefix(field):
                place = _position(entry_)
                given = self.given(here, entry_.document, f"{field}.document", edits.allowed_at(place))
                found[1].append(edits.insert(given, place))
        for n, (move, source) in enumerate(zip(change.move, moved_from, strict=True)):
            with _ErrorPrefix(f"move[{n}]"):
                place = _position(move)
                if source is here:
                    found[2].append(edits.move(move.blocks, place, "blocks"))
                else:
                    edits.allowed_at(place)
                    nodes = self.adapt_blocks(source, here, source.edits.detach(move.blocks, "blocks"))
                    found[2].append(edits.attach(nodes, place))
        with _ErrorPrefix(""):
            edits.delete(change.delete, "delete")
        pages: list[Page] = []
        nodes_now: JsonObject = {}
        for open_page in self.open.values():
            done = open_page.edits.finish()
            pages.append(self.page_with(open_page, done))
            if open_page is here:
                nodes_now = done.nodes
        shown = [[_remaining_blocks(nodes, nodes_now) for nodes in part] for part in found]
        return pages, BlocksMade(pages[0].body, *shown)

    def open_page(self, page_id: str, field: str) -> _OpenPage:
        if page_id not in self.open:
            page = self.documents.draft.get_page(page_id, field)
            if page.kind != "document":
                raise BadRequest(f"{field}: a {page.kind} can't have blocks")
            index = self.documents.index(page)
            front, heading, text = split_page(self.documents.draft.text(page.body))
            whole = self.documents.keyed_of(page.id, page.body) if self.is_whole else None
            self.open[page_id] = _OpenPage(page, front, heading, text, BlockEdits(text, index, whole))
        return self.open[page_id]

    def given(self, here: _OpenPage, given: DocumentInput, field: str, allowed: Allowed) -> Document:
        """Return the nodes to insert, with references written as in the page's file."""
        documents, path = self.documents, here.page.file_path or ""
        if isinstance(given.markdown, str):
            if allowed.type != "blocks":
                raise BadRequest(f"{field}.markdown: must contain only nodes of the type {allowed.type}")
            document = read(given.markdown)
            if not document.whole:
                raise TooLarge(f"{field}.markdown: a page can have at most {MAX_NODES:,} {PARTS}")
            written_references = WrittenReferences()
            if allowed.depth > 1:
                for node in document.nodes:
                    node.source = None
        else:
            value: Any = given.document
            where = f"{field}.document"
            if isinstance(value, dict):
                value, where = value.get("nodes"), f"{where}.nodes"
            try:
                document = nodes_from_json(value, where, allowed.type, allowed.depth)
            except DocumentError as error:
                raise BadRequest(str(error)) from None
            written_references = (
                self.written_references(here) if references(document) else WrittenReferences()
            )
        try:
            rewrite(document, lambda ref: documents.as_stored(here.page, ref, written_references, path))
        except OctavoError as error:
            raise error.inside(field) from None
        return document

    def written_references(self, here: _OpenPage) -> WrittenReferences:
        """Return the written form of the references in the blocks named in this change."""
        if self.written is None:
            keys = [entry.block for entry in self.change.set] + list(self.change.delete)
            blocks = []
            for key in dict.fromkeys(keys):
                try:
                    blocks.append(here.edits.top(key, ""))
                except Missing:
                    continue
            self.written = self.documents.references_written(page_owner(here.page), Document(blocks))
        return self.written

    def adapt_blocks(self, source: _OpenPage, here: _OpenPage, nodes: list[Any]) -> list[Any]:
        """Return blocks of another page, with references adjusted to keep their targets."""
        there, path = source.page.file_path or "", here.page.file_path or ""
        if posixpath.dirname(there) == posixpath.dirname(path):
            return nodes
        documents, owner = self.documents, page_owner(source.page)

        def change(reference: Any) -> JsonObject | None:
            meant = documents.resolver.content_ref(owner, reference.ref, reference.type)
            if meant == reference.ref or meant.get("kind") == "url":
                return None
            return documents.as_stored(here.page, replace(reference, ref=meant), WrittenReferences(), path)

        return rewrite(Document(nodes), change).nodes

    def page_with(self, open_page: _OpenPage, done: EditedBlocks) -> Page:
        """Return the page with its new text. Raises NotLocal if its heading or front matter changed but only part of
        the page was parsed."""
        documents, page = self.documents, open_page.page
        front, heading, text = open_page.front, open_page.heading, done.text
        index = done.index
        text = below_title(heading, text, open_page.text)
        if index.entries and (more := len(text) - len(done.text)):
            first = replace(index.entries[0], gap=index.entries[0].gap + more)
            index = replace(index, entries=[first, *index.entries[1:]])
        source = front + heading + text
        if source == documents.draft.text(page.body):
            return page
        if split_page(source)[:2] != (front, heading):
            if done.document is None:
                raise NotLocal
            documents.create(page.id, done.document)
            return documents.with_text(page, source)
        page = documents.with_text(page, source)
        documents.create(page.id, index)
        return page


class _ErrorPrefix:
    """Context manager that adds the position of the change in the batch to the errors of an edit."""

    def __init__(self, entry: str) -> None:
        self.entry = entry

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, EditError):
            where = ".".join(part for part in (self.entry, error.field) if part)
            made = BlockNotFound if isinstance(error, Missing) else BadRequest
            raise made(f"{where}: {error}") from None


def _position(place: BlockPlace) -> BlockPosition:
    def given(value: object) -> Any:
        return None if value is UNSET else value

    return BlockPosition(given(place.after), given(place.before), given(place.into), given(place.at))


def _remaining_blocks(nodes: list[Any], now: JsonObject) -> list[Any]:
    return [now.get(node.key, node) for node in nodes if node.key in now or node.source is not None]
