"""Convert differences between two states to their API format."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from octavo.content.images.making import is_scaled
from octavo.content.images.store import find_scaled_images
from octavo.content.pages.access_wire import present_page_access
from octavo.content.pages.presenting import present_variants
from octavo.content.pages.reading import ContentReader
from octavo.content.pages.tag_wire import present_page_tags
from octavo.content.pages.wire import FileVariant, present_cover, present_layout
from octavo.content.references.concealing import Concealment
from octavo.content.references.resolving import cover_ref, page_owner
from octavo.content.revisions.bodies import get_body
from octavo.content.revisions.files import download_url
from octavo.content.revisions.item_versions import Item
from octavo.content.revisions.keys import keyed_document
from octavo.content.revisions.page_versions import find_page, list_ancestors
from octavo.content.revisions.states import State
from octavo.core.diff import Change, diff_documents, diff_text
from octavo.core.document.nodes import Block, Document
from octavo.core.document.page import split_page
from octavo.core.json_types import JsonObject
from octavo.core.page_fields import wire_name
from octavo.core.pages import PAGE_FIELDS, Page
from octavo.core.tags import Tag
from octavo.errors import BadRequest
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Next, decode_token, encode_token
from octavo.kit.http.operation import Recipient

from .differences import Entry, States, entries_between, page_sides
from .differences_wire import (
    BlockDifference,
    BlockWords,
    ChangedFile,
    ChangedPage,
    ChangedReusableContent,
    ChangedTag,
    SemanticChange,
    SemanticChanges,
    TextChanges,
    TextChangesQuery,
    present_text_changes,
    present_words,
)
from .wire import ChangeRequest


def present_page_changes(
    to: Recipient, tx: Transaction, states: States, page_id: str, query: TextChangesQuery
) -> TextChanges:
    """Return the differences in one page in their API format. Raises NotFound if neither state contains the page."""
    sides = page_sides(tx, states, page_id)
    compared = [
        _Side(Concealment(to, tx, state), ContentReader(to, tx, state), tx, page)
        for state, page in ((states.before, sides.before), (states.after, sides.after))
    ]
    old, new = compared
    shown = present_text_changes(diff_text(old.text, new.text))
    if query.format == "document":
        shown.blocks = _block_differences(old, new, page_id)
    return shown


class _Side:
    """One side of a page comparison, without links to pages that the reader can't see."""

    def __init__(
        self, concealment: Concealment, reader: ContentReader, tx: Transaction, page: Page | None
    ) -> None:
        self._concealment, self._reader, self._tx, self._page = concealment, reader, tx, page

    @property
    def text(self) -> str:
        page = self._page
        if page is None or page.body is None:
            return ""
        front, heading, text = split_page(get_body(self._tx, page.body))
        return front + heading + self._concealment.markdown(text, page_owner(page))

    def document(self, page_id: str) -> Document:
        page = self._page
        document = keyed_document(self._tx, page_id, page.body if page is not None else None)
        return self._concealment.document(document, page_owner(page)) if page is not None else document

    def node(self, page_id: str, node: Block) -> JsonObject:
        body = self._page.body if self._page is not None else None
        found: list[JsonObject] = self._reader.nodes(page_id, body, [node])
        return found[0]


def _block_differences(old: _Side, new: _Side, page_id: str) -> list[BlockDifference]:
    found = []
    for change in diff_documents(old.document(page_id), new.document(page_id)):
        difference = BlockDifference(
            kind=change.kind,
            key=change.key,
            behind=change.behind,
            words=[BlockWords(key, present_words(words)) for key, words in change.words.items()],
        )
        if change.before is not None:
            difference.before = old.node(page_id, change.before)
        if change.after is not None:
            difference.after = new.node(page_id, change.after)
        found.append(difference)
    return found


def present_differences(
    to: Recipient,
    tx: Transaction,
    states: States,
    limit: int,
    page: str | None = None,
    only: str | None = None,
    merged_from: ChangeRequest | UnsetType = UNSET,
) -> SemanticChanges:
    """Return at most ``limit`` changes in their API format, and the number of remaining changes. ``page``: the page
    token; the result starts after the change that the token refers to. ``only``: the ID of the page or item whose
    changes to return. Raises BadRequest if the token refers to a change that no longer exists."""
    entries = entries_between(tx, states)
    if only is not None:
        entries = [entry for entry in entries if isinstance(entry, Change) and entry.id == only]
    start = _start(entries, page)
    chosen = entries[start : start + limit]
    presenter = _Presenter(to, tx, states, chosen)
    shown = [presenter.present(entry) for entry in chosen]
    more = len(entries) - start - len(shown)
    following = Next(encode_token(*_key(chosen[-1]))) if more and chosen else UNSET
    return SemanticChanges(shown, more if more else UNSET, following, merged_from)


def _key(entry: Entry) -> tuple[str, str, str]:
    if isinstance(entry, list):
        return "variable", "", ""
    return entry.target, entry.id, entry.kind


def _start(entries: list[Entry], page: str | None) -> int:
    after = decode_token(page, str, str, str)
    if after is None:
        return 0
    for number, entry in enumerate(entries, 1):
        if _key(entry) == after:
            return number
    raise BadRequest(
        "page: the content has changed since this page token was created. Start again from the first page."
    )


class _Presenter:
    """Converter of the differences between two states to the API format. ``entries``: the entries to convert."""

    def __init__(self, to: Recipient, tx: Transaction, states: States, entries: list[Entry]) -> None:
        self.call, self.tx, self.states = to, tx, states
        self._concealments = {
            id(state): Concealment(to, tx, state) for state in (states.before, states.after)
        }
        files = [
            item
            for entry in entries
            if isinstance(entry, Change) and entry.target == "file"
            for item in (entry.before, entry.after)
            if item is not None and is_scaled(item)
        ]
        self._pictures = find_scaled_images(tx, states.after.space_id, [item.content for item in files])

    def present(self, entry: Entry) -> SemanticChange:
        if isinstance(entry, list):
            return SemanticChange(type="variables_edited", variables=self._variables(entry))
        if entry.target == "page":
            return self._page(entry)
        if entry.target == "file":
            return self._file(entry)
        if entry.target == "tag":
            return self._tag(entry)
        return self._reusable(entry)

    def _page(self, change: Change) -> SemanticChange:
        state = self.states.before if change.after is None else self.states.after
        page = self._changed(state, change.after or change.before)
        if change.kind == "moved":
            parent = {
                "before": self._parent(self.states.before, change.before),
                "after": self._parent(self.states.after, change.after),
            }
            known = {name: value for name, value in parent.items() if value is not None}
            return SemanticChange(type="page_moved", page=page, parent=known)
        attributes = self._attributes(change) if change.kind == "edited" else UNSET
        return SemanticChange(type=f"page_{change.kind}", page=page, attributes=attributes)

    def _changed(self, state: State, page: Page) -> ChangedPage:
        path = "/".join(p.slug for p in [*list_ancestors(self.tx, state, page), page])
        return ChangedPage(page.id, page.kind, page.title, path)

    def _parent(self, state: State, page: Page) -> ChangedPage | None:
        parent = find_page(self.tx, state, page.parent) if page.parent else None
        return self._changed(state, parent) if parent is not None else None

    def _attributes(self, change: Change) -> JsonObject:
        found: JsonObject = {}
        for name in change.fields:
            before = self._value(self.states.before, change.before, name)
            after = self._value(self.states.after, change.after, name)
            found[PAGE_FIELDS[name].wire or wire_name(name)] = _pair(before, after)
        return found

    def _value(self, state: State, page: Page, name: str) -> object:
        value = getattr(self._concealments[id(state)].page(page), name)
        if value is None:
            return None
        if name == "layout":
            return present_layout(value)
        if name == "cover":
            return present_cover(page, value, lambda p, written: cover_ref(self.tx, state, p, written))
        match PAGE_FIELDS[name].type:
            case "tags":
                return present_page_tags(value)
            case "people":
                return present_page_access(value)
            case _:
                return value

    def _file(self, change: Change) -> SemanticChange:
        item: Item = change.after or change.before
        file = ChangedFile(
            item.id,
            item.name,
            item.content_type or "application/octet-stream",
            download_url(self.call.context, item),
            self._variants(item) or UNSET,
        )
        if change.kind != "edited":
            return SemanticChange(type=f"file_{change.kind}", file=file)
        attributes = {
            wire_name: _pair(field.before, field.after)
            for name, wire_name in _FILE_ATTRIBUTES.items()
            if (field := change.fields.get(name)) is not None
        }
        if "content" in change.fields:
            attributes["downloadURL"] = _pair(
                download_url(self.call.context, change.before), download_url(self.call.context, change.after)
            )
            variants = _pair(self._variants(change.before), self._variants(change.after))
            if variants:
                attributes["variants"] = variants
        sizes = [
            {"width": i.width, "height": i.height} if i.width and i.height else None
            for i in (change.before, change.after)
        ]
        if sizes[0] != sizes[1]:
            attributes["dimensions"] = _pair(*sizes)
        return SemanticChange(type="file_edited", file=file, attributes=attributes)

    def _variants(self, item: Item) -> list[FileVariant] | None:
        return present_variants(self.call.context, item, self._pictures.get(item.content or "")) or None

    def _tag(self, change: Change) -> SemanticChange:
        found: Tag = change.after or change.before
        tag = ChangedTag(found.tag, found.label)
        if change.kind != "edited":
            return SemanticChange(type=f"tag_{change.kind}", tag=tag)
        attributes = {name: _pair(field.before, field.after) for name, field in change.fields.items()}
        return SemanticChange(type="tag_edited", tag=tag, attributes=attributes)

    def _reusable(self, change: Change) -> SemanticChange:
        item: Item = change.after or change.before
        content = ChangedReusableContent(item.id, item.name, item.content or UNSET)
        if change.kind != "edited":
            return SemanticChange(type=f"reusable_content_{change.kind}", reusable_content=content)
        attributes = {
            wire_name: _pair(field.before, field.after)
            for name, wire_name in (("name", "title"), ("content", "document"))
            if (field := change.fields.get(name)) is not None
        }
        return SemanticChange(type="reusable_content_edited", reusable_content=content, attributes=attributes)

    @staticmethod
    def _variables(changes: list[Change]) -> JsonObject:
        found: dict[str, dict[str, Any]] = {}
        for change in changes:
            for side, item in (("before", change.before), ("after", change.after)):
                if item is not None:
                    found.setdefault(item.name, {})[side] = msgspec.json.decode(item.content or "null")
        return dict(sorted(found.items()))


_FILE_ATTRIBUTES = {"name": "name", "size": "size", "content_type": "contentType"}


def _pair(before: object, after: object) -> JsonObject:
    """Return the two values as ``before`` and ``after``, without values that are None."""
    return {name: value for name, value in (("before", before), ("after", after)) if value is not None}
