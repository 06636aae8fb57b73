"""Look up a space's pages and files in the database, one by one.

Unsaved ``changes`` can be overlaid on the state. Every lookup is recorded as a ``Question``. The target of a reference
stays the same as long as the results of its lookups stay the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

from octavo.content.revisions.bodies import read_source
from octavo.content.revisions.drafting import Draft
from octavo.content.revisions.item_versions import Item, ItemKind
from octavo.content.revisions.states import State
from octavo.content.revisions.store import Changes
from octavo.core import links
from octavo.core.document.anchors import Anchors, DocumentPlace, anchors, list_places
from octavo.core.document.evaluating import close_conditions
from octavo.core.pages import Page
from octavo.kit.db.cache import OwnCache
from octavo.kit.db.database import Transaction

from .inclusions import Inclusions

Question = tuple[str, str]
"""Lookup: the ID of the space in which to look, and a text that identifies what was looked up."""

OwnerKind = Literal["page", "reusable-content"]

_MAX_QUESTION = 200
_places: OwnCache[list[DocumentPlace]] = OwnCache("document positions", 4)


class Owner(Struct, frozen=True):
    """Page or reusable content that contains a reference."""

    id: str
    kind: OwnerKind
    file_path: str | None


class SpaceFiles(links.Lookup, Protocol):
    """Pages and files of one space that a reader can see."""

    space_id: str

    @property
    def revision_id(self) -> str: ...

    @property
    def hides(self) -> bool:
        """Return whether restrictions hide pages of the space from the reader."""
        ...

    def find_reusable_by_id(self, item: str) -> str | None: ...

    def find_path(self, page: str) -> str | None:
        """Return the URL path of a page, given its ID."""

    def find_anchor(self, owner: Owner, wanted: str) -> str | None:
        """Return the ID of an anchor in a page or reusable content, or in content that it includes. ``wanted``: the
        anchor as written in a link."""

    def owner(self, owner_id: str, kind: OwnerKind) -> Owner | None: ...


def question(kind: str, what: str) -> str:
    """Return the text that identifies a lookup. A very long text is truncated, so it may stand for several lookups;
    this only costs an extra check."""
    return f"{kind}:{what}"[:_MAX_QUESTION]


def places_of(tx: Transaction, body: str | None) -> list[DocumentPlace]:
    """Return the anchors in a document. Content that the document includes isn't resolved."""
    found = _places.of(tx).get(body) if body else []
    if found is None:
        found = [place for _, place in list_places(close_conditions(read_source(tx, body)))]
        _places.of(tx).put(body, found, 100 + sum(200 + len(place.name) for place in found))
    return found


def with_included(
    places: Iterable[DocumentPlace], find: Callable[[str], Iterable[DocumentPlace] | None]
) -> Iterable[DocumentPlace]:
    """Yield the anchors, including anchors in included content. ``find``: a function that returns the anchors for a
    reference."""
    for place in places:
        if place.include is None:
            yield place
            continue
        for inner in find(place.include) or ():
            # Reusable content can't be nested.
            if inner.include is None:
                yield replace(inner, conditions=(*place.conditions, *inner.conditions), included=True)


def find_include(files: SpaceFiles, owner: Owner, written: str) -> str | None:
    """Return the ID of the reusable content that an include refers to."""
    named = links.by_kind(written)
    if named is not None and named["kind"] == "reusable-content":
        return files.find_reusable_by_id(named["reusableContent"])
    paths = links.include_paths(written, owner.file_path or "")
    return next((found for path in paths if (found := files.find_reusable(path))), None)


class StateFiles:
    """Implementation of ``SpaceFiles`` for a state of a space, with ``changes`` overlaid."""

    def __init__(self, tx: Transaction, state: State, changes: Changes | None = None) -> None:
        self._tx = tx
        self._draft = Draft(tx, state, changes)
        self.space_id = state.space_id
        self.revision_id = state.key
        self.hides = bool(state.hidden)
        self.asked: set[Question] = set()
        self._known: dict[str, str | None] = {}
        self._anchors: dict[str, tuple[Anchors, set[Question]]] = {}

    # --- pages and items --------------------------------------------------------------------------------

    def page(self, page_id: str) -> Page | None:
        return self._draft.find_page(page_id)

    def item(self, item_id: str, kind: ItemKind) -> Item | None:
        return self._draft.find_item(item_id, kind)

    def path(self, page: Page) -> str:
        """Return the URL path of a page."""
        slugs, seen = [page.slug], {page.id}
        above = page.parent
        while above is not None and above not in seen:
            seen.add(above)
            parent = self.page(above)
            if parent is None:
                break
            slugs.append(parent.slug)
            above = parent.parent
        return "/".join(reversed(slugs))

    def find_path(self, page: str) -> str | None:
        found = self.page(page)
        return self.path(found) if found is not None else None

    def owner(self, owner_id: str, kind: OwnerKind) -> Owner | None:
        if kind == "page":
            page = self.page(owner_id)
            return Owner(page.id, "page", page.file_path) if page is not None else None
        item = self.item(owner_id, "reusable-content")
        return Owner(item.id, "reusable-content", item.path) if item is not None else None

    def _body(self, owner: Owner) -> str | None:
        if owner.kind == "page":
            page = self.page(owner.id)
            return page.body if page is not None else None
        item = self.item(owner.id, "reusable-content")
        return item.content if item is not None else None

    # --- core.links.Lookup, recording questions -------------------------------------------------------

    def _ask(self, kind: str, what: str, find: Any) -> str | None:
        asked = question(kind, what)
        self.asked.add((self.space_id, asked))
        key = f"{kind}:{what}"
        if key not in self._known:
            self._known[key] = find()
        return self._known[key]

    def find_page(self, file_path: str) -> str | None:
        return self._ask("file", file_path, lambda: self._page_by_file(file_path))

    def _page_by_file(self, file_path: str) -> str | None:
        page = self._draft.find_page_by_file(file_path)
        return page.id if page is not None else None

    def find_page_by_path(self, path: str) -> str | None:
        return self._ask("path", path, lambda: self._page_by_path(path))

    def _page_by_path(self, path: str) -> str | None:
        parent: str | None = None
        for part in [part for part in path.split("/") if part]:
            found = self._draft.list_by_slug(parent, part)
            if not found:
                return None
            parent = min(found, key=lambda page: (page.rank, page.id)).id
        return parent

    def find_page_by_id(self, page: str) -> str | None:
        return self._ask("page", page, lambda: page if self.page(page) is not None else None)

    def find_file(self, path: str) -> str | None:
        return self._ask("item", path, lambda: self._item_by_path(path, "file"))

    def find_reusable(self, path: str) -> str | None:
        return self._ask("include", path, lambda: self._item_by_path(path, "reusable-content"))

    def _item_by_path(self, path: str, kind: ItemKind) -> str | None:
        item = self._draft.find_item_by_path(path)
        return item.id if item is not None and item.kind == kind else None

    def find_file_by_id(self, file: str) -> str | None:
        return self._ask("id", file, lambda: file if self.item(file, "file") is not None else None)

    def find_reusable_by_id(self, item: str) -> str | None:
        return self._ask(
            "id", item, lambda: item if self.item(item, "reusable-content") is not None else None
        )

    # --- anchors ----------------------------------------------------------------------------------------

    def find_anchor(self, owner: Owner, wanted: str) -> str | None:
        if owner.id not in self._anchors:
            self._anchors[owner.id] = self._anchors_of(owner)
        found, asked = self._anchors[owner.id]
        self.asked |= asked
        return found.find(wanted)

    def _anchors_of(self, owner: Owner) -> tuple[Anchors, set[Question]]:
        before, self.asked = self.asked, set()
        # Any change to the text may rename all of its anchors, so the query covers the entire text.
        self.asked.add((self.space_id, question("anchor", f"{owner.id}#")))

        inclusions = Inclusions()

        def included(written: str) -> list[DocumentPlace] | None:
            found = find_include(self, owner, written)
            there = self.item(found, "reusable-content") if found is not None else None
            if there is None:
                return None
            self.asked.add((self.space_id, question("anchor", f"{there.id}#")))
            return places_of(self._tx, there.content) if inclusions.admit(there.size) else None

        places = list(with_included(places_of(self._tx, self._body(owner)), included))
        asked, self.asked = self.asked, before
        page = self.page(owner.id) if owner.kind == "page" else None
        return anchors(places, title=page.title if page is not None else ""), asked
