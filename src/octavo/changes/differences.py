"""What changed, as people read it: pages, files, reusable contents and variables between two states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from ..content import (
    Item,
    Layer,
    State,
    Touched,
    download_url,
    find_items,
    find_page,
    find_pages,
    get_body,
    get_revision,
    keyed_document,
    list_ancestors,
    list_changed,
    list_held,
    revision_state,
    state_before,
)
from ..core.diff import BlockChange, Change, diff_documents, diff_text, semantic_changes
from ..core.pages import Page
from ..errors import BadRequest, NotFound
from ..images import find_pictures, is_scaled
from ..kit.cache import OwnCache
from ..kit.db import Transaction
from ..kit.operation import Recipient
from ..kit.pagination import Next, decode_token, encode_token
from ..pages import FileVariant, Reader, present_cover, present_layout, present_variants
from ..references import cover_ref
from .differences_wire import (
    BlockDifference,
    BlockWords,
    ChangedFile,
    ChangedPage,
    ChangedReusableContent,
    SemanticChange,
    SemanticChanges,
    TextChanges,
    TextChangesQuery,
    present_text_changes,
    present_words,
)
from .store import ChangeRow

_CHANGE_BYTES = 2_000
Entry = Change | list[Change]
"""What a list of changes shows as one: a change, or those of all variables."""

_differences: OwnCache[list[Entry]] = OwnCache("differences", 8)
"""What differs between two states, neither of which ever changes."""


class States(Struct, frozen=True):
    """Two states. ``find_touched`` says what may differ between them."""

    before: State
    after: State
    find_touched: Callable[[], Touched]


def states_of_change(tx: Transaction, change: ChangeRow, since: str | None = None) -> States:
    """A change request against the state of main that it is based on, or against an earlier revision of its own. Raises
    BadRequest for any other revision."""
    if since is None:
        return States(change.below, change.state, lambda: list_held(tx, change.state.layers[0]))
    return _states_since(tx, change.state, since)


def _states_since(tx: Transaction, after: State, since: str) -> States:
    try:
        before = revision_state(tx, after.space_id, since)
    except NotFound:
        raise BadRequest(f"since: there is no revision {since!r} in this space.") from None
    top = after.layers[0]
    if before.layers[0].branch_id != top.branch_id:
        what = "this change request" if len(after.layers) > 1 else "main, as this one is"
        raise BadRequest(f"since: expected a revision of {what}.")
    if before.layers[0].sequence > top.sequence:
        raise BadRequest("since: expected an earlier revision.")

    def find_touched() -> Touched:
        found = [
            list_changed(tx, now, was.sequence) for now, was in zip(after.layers, before.layers, strict=True)
        ]
        pages, items = (one.pages for one in found), (one.items for one in found)
        return Touched(frozenset().union(*pages), frozenset().union(*items))

    return States(before, after, find_touched)


def states_of_revision(tx: Transaction, space_id: str, revision_id: str, since: str | None = None) -> States:
    """A revision, with the saves in a row that it goes on, against what was before on its branch; the first of a change
    request against main. ``since``: against this earlier revision of its branch. Raises BadRequest for any other."""
    after = revision_state(tx, space_id, revision_id)
    top, *below = after.layers
    if since is not None:
        return _states_since(tx, after, since)
    if top.sequence == 1:
        before = State(space_id, "", tuple(below) or (Layer(top.branch_id, 0),))
        return States(before, after, lambda: list_changed(tx, top, 0))
    revision = get_revision(tx, revision_id)
    before = state_before(tx, space_id, revision)

    def find_touched() -> Touched:
        touched = list_changed(tx, top, revision.before)
        if below and below[0] != before.layers[1]:
            moved = list_changed(tx, below[0], before.layers[1].sequence)
            touched = Touched(touched.pages | moved.pages, touched.items | moved.items)
        return touched

    return States(before, after, find_touched)


def entries_between(tx: Transaction, states: States) -> list[Entry]:
    """What differs, in the order in which it is shown."""
    key = (states.before.layers, states.after.layers)
    found = _differences.of(tx).get(key)
    if found is None:
        touched = states.find_touched()
        changes = semantic_changes(
            find_pages(tx, states.before, touched.pages),
            find_pages(tx, states.after, touched.pages),
            find_items(tx, states.before, touched.items),
            find_items(tx, states.after, touched.items),
        )
        found = _entries(changes)
        _differences.of(tx).put(key, found, _CHANGE_BYTES * (1 + len(changes)))
    return found


def _entries(found: list[Change]) -> list[Entry]:
    variables = [change for change in found if change.target == "variable"]
    others = [change for change in found if change.target not in ("variable", "source")]
    entries: list[Entry] = [*others]
    if variables:
        # All variables are one entry, between files and reusable contents.
        at = sum(change.target in ("page", "file") for change in others)
        entries.insert(at, variables)
    return entries


def text_changes(tx: Transaction, states: States, page_id: str) -> list[BlockChange]:
    """The blocks of a page that differ, word by word. Raises NotFound for a page in neither state."""
    before, after = find_page(tx, states.before, page_id), find_page(tx, states.after, page_id)
    if before is None and after is None:
        raise NotFound(f"There is no page {page_id!r} here.")
    old = get_body(tx, before.body) if before is not None and before.body else ""
    new = get_body(tx, after.body) if after is not None and after.body else ""
    return diff_text(old, new)


def present_page_changes(
    to: Recipient, tx: Transaction, states: States, page_id: str, query: TextChangesQuery
) -> TextChanges:
    """What differs in one page. Raises NotFound when neither state has it."""
    shown = present_text_changes(text_changes(tx, states, page_id))
    if query.format == "document":
        shown.blocks = _block_differences(to, tx, states, page_id)
    return shown


def _block_differences(to: Recipient, tx: Transaction, states: States, page_id: str) -> list[BlockDifference]:
    sides = []
    for state in (states.before, states.after):
        page = find_page(tx, state, page_id)
        body = page.body if page is not None else None
        sides.append((Reader(to, tx, state), body, keyed_document(tx, page_id, body)))
    (old, old_body, before), (new, new_body, after) = sides
    found = []
    for change in diff_documents(before, after):
        difference = BlockDifference(
            change.kind,
            change.key,
            change.behind,
            [BlockWords(key, present_words(words)) for key, words in change.words.items()],
        )
        if change.before is not None:
            (difference.before,) = old.nodes(page_id, old_body, [change.before])
        if change.after is not None:
            (difference.after,) = new.nodes(page_id, new_body, [change.after])
        found.append(difference)
    return found


# --- on the wire --------------------------------------------------------------------------------------


def present_differences(
    to: Recipient,
    tx: Transaction,
    states: States,
    limit: int,
    page: str | None = None,
    only: str | None = None,
    merged_from: Any | UnsetType = UNSET,
) -> SemanticChanges:
    """``limit`` changes behind a page, those of ``only`` one thing, and how many more there are. Raises BadRequest where the change that the page
    ended with is none any more."""
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
    raise BadRequest("page: what this page begins after is not changed any more; begin anew.")


class _Presenter:
    """``entries``: those that it will present."""

    def __init__(self, to: Recipient, tx: Transaction, states: States, entries: list[Entry]) -> None:
        self.call, self.tx, self.states = to, tx, states
        files = [
            item
            for entry in entries
            if isinstance(entry, Change) and entry.target == "file"
            for item in (entry.before, entry.after)
            if item is not None and is_scaled(item)
        ]
        self._pictures = find_pictures(tx, states.after.space_id, [item.content for item in files])

    def present(self, entry: Entry) -> SemanticChange:
        if isinstance(entry, list):
            return SemanticChange("variables_edited", variables=self._variables(entry))
        if entry.target == "page":
            return self._page(entry)
        if entry.target == "file":
            return self._file(entry)
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
            return SemanticChange("page_moved", page=page, parent=known)
        attributes = self._attributes(change) if change.kind == "edited" else UNSET
        return SemanticChange(f"page_{change.kind}", page=page, attributes=attributes)

    def _changed(self, state: State, page: Page) -> ChangedPage:
        path = "/".join(p.slug for p in [*list_ancestors(self.tx, state, page), page])
        return ChangedPage(page.id, page.kind, page.title, path)

    def _parent(self, state: State, page: Page) -> ChangedPage | None:
        parent = find_page(self.tx, state, page.parent) if page.parent else None
        return self._changed(state, parent) if parent is not None else None

    def _attributes(self, change: Change) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, field in change.fields.items():
            told = _PAGE_ATTRIBUTES.get(name)
            if told is None:
                continue
            before = self._value(self.states.before, change.before, name, field.before)
            after = self._value(self.states.after, change.after, name, field.after)
            found[told] = _pair(before, after)
        return found

    def _value(self, state: State, page: Page, name: str, value: Any) -> Any:
        if value is None:
            return None
        if name == "layout":
            return present_layout(value)
        if name == "cover":
            return present_cover(page, value, lambda p, written: cover_ref(self.tx, state, p, written))
        return list(value) if name == "tags" else value

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
            return SemanticChange(f"file_{change.kind}", file=file)
        attributes = {
            told: _pair(field.before, field.after)
            for name, told in _FILE_ATTRIBUTES.items()
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
        return SemanticChange("file_edited", file=file, attributes=attributes)

    def _variants(self, item: Item) -> list[FileVariant] | None:
        return present_variants(self.call.context, item, self._pictures.get(item.content or "")) or None

    def _reusable(self, change: Change) -> SemanticChange:
        item: Item = change.after or change.before
        content = ChangedReusableContent(item.id, item.name, item.content or UNSET)
        if change.kind != "edited":
            return SemanticChange(f"reusable_content_{change.kind}", reusable_content=content)
        attributes = {
            told: _pair(field.before, field.after)
            for name, told in (("name", "title"), ("content", "document"))
            if (field := change.fields.get(name)) is not None
        }
        return SemanticChange("reusable_content_edited", reusable_content=content, attributes=attributes)

    @staticmethod
    def _variables(changes: list[Change]) -> dict[str, Any]:
        found: dict[str, dict[str, Any]] = {}
        for change in changes:
            for side, item in (("before", change.before), ("after", change.after)):
                if item is not None:
                    found.setdefault(item.name, {})[side] = msgspec.json.decode(item.content or "null")
        return dict(sorted(found.items()))


_PAGE_ATTRIBUTES = {
    "title": "title",
    "description": "description",
    "slug": "slug",
    "body": "document",
    "cover": "cover",
    "emoji": "emoji",
    "layout": "layout",
    "variables": "variables",
    "target": "target",
    "icon": "icon",
    "hidden": "hidden",
    "no_index": "noIndex",
    "no_robots_index": "noRobotsIndex",
    "condition": "condition",
    "tags": "tags",
    "meta_links": "metaLinks",
    "computed": "computed",
    "link_title": "linkTitle",
    "kind": "type",
    "file_path": "filePath",
}
"""The last ones are not in the public description, which names fewer fields than pages have."""

_FILE_ATTRIBUTES = {"name": "name", "size": "size", "content_type": "contentType"}


def _pair(before: Any, after: Any) -> dict[str, Any]:
    """What is not there is left out."""
    return {name: value for name, value in (("before", before), ("after", after)) if value is not None}
