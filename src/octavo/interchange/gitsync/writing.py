"""Files that a commit must write for a space, and changes to the space that must be recorded with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from octavo.content.revisions.bodies import body_hash
from octavo.content.revisions.item_versions import ITEM_KINDS, Item, find_items, list_items
from octavo.content.revisions.page_versions import find_pages, list_pages
from octavo.content.revisions.states import State
from octavo.content.revisions.store import Changes
from octavo.core.pages import Page
from octavo.interchange.transfer.exporting import lay_out
from octavo.kit import ids
from octavo.kit.db.database import Transaction

from .synced_state import SyncedState, same_item, same_page

_STRUCTURE = (
    "parent",
    "rank",
    "kind",
    "title",
    "link_title",
    "target",
    "computed",
    "file_path",
)


class FileContent(Struct, frozen=True):
    """Text or bytes to write to a file, by hash."""

    kind: Literal["text", "file"]
    content: str


class Writing(Struct):
    """Files to write. ``files``: the new content by path; None to delete a file. ``noted``: changes that must be
    recorded in the space's own pages and items so that both sides agree. ``bodies``: the new text for these
    changes."""

    files: dict[str, FileContent | None] = field(default_factory=dict)
    noted: Changes = field(default_factory=Changes)
    bodies: list[str] = field(default_factory=list)


class Differing(Struct, frozen=True):
    """Pages and items that differ, by ID: the version in the repository, and the new version in the space (None if
    it doesn't exist)."""

    pages: dict[str, tuple[Page | None, Page | None]]
    items: dict[str, tuple[Item | None, Item | None]]


def differing(
    pages: Mapping[str, tuple[Page | None, Page | None]], items: Mapping[str, tuple[Item | None, Item | None]]
) -> Differing:
    """Return only the pairs whose two versions actually differ."""
    return Differing(
        {id: pair for id, pair in pages.items() if not same_page(*pair)},
        {id: pair for id, pair in items.items() if not same_item(*pair)},
    )


def differing_from(
    tx: Transaction, then: SyncedState, main: State, changes: Changes, page_ids: set[str], item_ids: set[str]
) -> Differing:
    """Return the differences between the repository and the new state of the space."""
    old_pages, old_items = then.find_pages(tx, page_ids), then.find_items(tx, item_ids)
    pages, items = find_pages(tx, main, page_ids), find_items(tx, main, item_ids)
    return differing(
        {id: (old_pages.get(id), changes.pages.get(id, pages.get(id))) for id in page_ids},
        {id: (old_items.get(id), changes.items.get(id, items.get(id))) for id in item_ids},
    )


def write_files(
    tx: Transaction, state: State, changes: Changes, found: Differing, read: Callable[[str], str]
) -> Writing:
    """Return the files to write so that the repository matches ``state`` with ``changes`` applied. ``read``: a
    function that returns the text with a given hash."""
    if not found.pages and not found.items:
        return Writing()
    if not _is_structural(found):
        return _contents(found)
    return _Everything(tx, state, changes, found, read).write()


def write_all(tx: Transaction, state: State, read: Callable[[str], str]) -> Writing:
    """Return all files of a space, so that a commit can write them."""
    everything = _Everything(tx, state, Changes(), None, read)
    return everything.write()


def _is_structural(found: Differing) -> bool:
    """Return whether files are added or removed, or whether the navigation changes."""
    for old, new in found.pages.values():
        if old is None or new is None or any(getattr(old, n) != getattr(new, n) for n in _STRUCTURE):
            return True
        if new.body and not new.file_path or bool(old.body) != bool(new.body):
            return True
    for before, after in found.items.values():
        if before is None or after is None or before.path != after.path or not after.path:
            return True
        if after.kind in ("variable", "source"):
            return True
    return False


def _contents(found: Differing) -> Writing:
    writing = Writing()
    for _, page in found.pages.values():
        if page is not None and page.body and page.file_path:
            writing.files[page.file_path] = FileContent("text", page.body)
    for _, item in found.items.values():
        if item is not None and item.content and item.path:
            writing.files[item.path] = FileContent("file" if item.kind == "file" else "text", item.content)
    return writing


class _Everything:
    """All pages and items in a space's new state, for writing files. ``found``: the differences to write; None to
    write all files."""

    def __init__(
        self,
        tx: Transaction,
        state: State,
        changes: Changes,
        found: Differing | None,
        read: Callable[[str], str],
    ) -> None:
        self.found, self.read = found, read
        pages = {page.id: page for page in list_pages(tx, state)}
        items = {item.id: item for kind in ITEM_KINDS for item in list_items(tx, state, kind)}
        for page_id, page in changes.pages.items():
            pages.pop(page_id, None)
            if page is not None:
                pages[page_id] = page
        for item_id, item in changes.items.items():
            items.pop(item_id, None)
            if item is not None:
                items[item_id] = item
        self.pages = dict(sorted(pages.items(), key=lambda pair: (pair[1].rank, pair[0])))
        self.items = dict(sorted(items.items()))
        self.summary = found is None or any(
            old is None
            or new is None
            or any(getattr(old, name) != getattr(new, name) for name in _STRUCTURE if name != "file_path")
            for old, new in found.pages.values()
        )

    def write(self) -> Writing:
        layout = lay_out(list(self.pages.values()), self.items.values(), self.read, summary=self.summary)
        writing = Writing()
        wanted: dict[str, FileContent] = {}
        for page in self.pages.values():
            path = layout.paths.get(page.id)
            if page.body and path:
                wanted[path] = FileContent("text", page.body)
                if page.file_path != path:
                    writing.noted.pages[page.id] = replace(page, file_path=path)
        for item in self.items.values():
            path = layout.paths.get(item.id)
            if path and item.content and item.kind in ("file", "reusable-content"):
                wanted.setdefault(path, FileContent("file" if item.kind == "file" else "text", item.content))
                if item.path != path:
                    writing.noted.items[item.id] = replace(item, path=path)
        self._configuration(layout.texts, wanted, writing)
        if self.found is None:
            writing.files = dict(wanted)
            return writing
        touched: dict[str, None] = dict.fromkeys(layout.texts)
        for old, new in [*self.found.pages.values(), *self.found.items.values()]:
            for side in (old, new):
                if side is not None:
                    path = side.file_path if isinstance(side, Page) else side.path
                    place = layout.paths.get(side.id) if side is new else None
                    touched |= dict.fromkeys(p for p in (path, place) if p)
        touched |= dict.fromkeys(layout.paths[id] for id in writing.noted.pages)
        touched |= dict.fromkeys(
            layout.paths[id] for id, item in writing.noted.items.items() if item and item.kind != "source"
        )
        # A page without text refers to a file that doesn't exist, so there is none to delete.
        writing.files = {path: wanted.get(path) for path in touched}
        return writing

    def _configuration(self, texts: dict[str, str], wanted: dict[str, FileContent], writing: Writing) -> None:
        sources = {item.path: item for item in self.items.values() if item.kind == "source"}
        for path, text in texts.items():
            digest = body_hash(text)
            wanted[path] = FileContent("text", digest)
            there = sources.get(path)
            if there is not None and there.content == digest:
                continue
            writing.bodies.append(text)
            name = path.rpartition("/")[2]
            item = there or Item(id=ids.new_id(), kind="source", name=name, path=path)
            writing.noted.items[item.id] = replace(item, content=digest)
