"""Computed pages of a state: what their sources give, put where they are.

What cannot be computed stays as the source says. Pages of other sources in what was computed are not expanded in
their turn.
"""

from __future__ import annotations

from collections import defaultdict
from hashlib import blake2b

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from octavo.core.document.containing import contained
from octavo.core.document.json import from_json
from octavo.core.document.nodes import Document
from octavo.core.document.page import with_head
from octavo.core.document.writing import write
from octavo.core.free_names import free_name
from octavo.core.pages import Page
from octavo.errors import BadRequest
from octavo.kit.db.cache import OwnCache
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor
from octavo.organization.spaces.store import get_space

from . import store
from .computing import Asker, Computed, Source, compute_document, compute_revision, state_of
from .store import Item, State

MAX_PAGES = 20_000
"""Computed pages of one state; sources beyond stay as they are."""


class Expansion:
    """``state`` names all that the pages were computed of; empty when the state has no computed pages."""

    def __init__(
        self, fingerprint: bytes, placed: dict[str, list[Page]], items: list[Item], parents: set[str | None]
    ) -> None:
        """``parents``: of the sources."""
        self.fingerprint = fingerprint
        self.items = items
        self._placed = placed
        self._parents = parents
        self.pages = pages = [page for found in placed.values() for page in found]
        self._by_id = {page.id: page for page in pages}
        self._by_slug = {(page.parent, page.slug): page for page in pages if page.kind != "link"}
        self._children: defaultdict[str | None, list[Page]] = defaultdict(list)
        for page in pages:
            self._children[page.parent].append(page)

    def __len__(self) -> int:
        return len(self._by_id)

    def into(self, pages: list[Page]) -> list[Page]:
        """Pages of the state, siblings in order, with those that are computed in the place of their sources."""
        if not any(page.id in self._placed for page in pages):
            return pages
        whole = [found for page in pages for found in self._placed.get(page.id, [page])]
        return sorted(whole, key=lambda page: (page.parent or "", page.rank, page.id))

    def find(self, page_id: str) -> Page | None:
        return self._by_id.get(page_id)

    def find_by_path(self, tx: Transaction, state: State, path: str) -> Page | None:
        """The computed page at a path of slugs, the first of which may be those of ordinary pages."""
        parts = [part for part in path.split("/") if part]
        page: Page | None = None
        for n, slug in enumerate(parts):
            found = self._by_slug.get((page.id if page else None, slug))
            if found is None and (page is None or page.id not in self._by_id):
                found = store.find_page_by_path(tx, state, "/".join(parts[: n + 1]))
            if found is None:
                return None
            page = found
        return page if page is not None and page.id in self._by_id else None

    def find_item(self, item_id: str, kind: str) -> Item | None:
        return next((item for item in self.items if item.id == item_id and item.kind == kind), None)

    def list_ancestors(self, tx: Transaction, state: State, page: Page) -> list[Page]:
        """From the top down to a computed page's parent."""
        chain: list[Page] = []
        while page.parent is not None and (above := self._by_id.get(page.parent)) is not None:
            chain.append(above)
            page = above
        ordinary = store.find_page(tx, state, page.parent) if page.parent is not None else None
        if ordinary is not None:
            chain += [ordinary, *reversed(store.list_ancestors(tx, state, ordinary))]
        return chain[::-1]

    def children(self, tx: Transaction, state: State, parent: str | None) -> list[Page] | None:
        """The children of a page (None: the top) in order, where computed ones are or may be among them, else None."""
        if parent in self._by_id:
            return self._children.get(parent, [])
        if parent in self._parents:
            level = self.into(store.list_children(tx, state, [parent]))
            return [page for page in level if page.parent == parent]
        return None

    def list_subtree(self, page: Page) -> list[Page]:
        """Everything below a computed page, parents before children."""
        found = [page]
        for above in found:
            found += self._children.get(above.id, [])
        return found[1:]


NOTHING_COMPUTED = Expansion(b"", {}, [], set())
"""Of a state whose computed pages are left as they are, or that has none."""

_expansions: OwnCache[Expansion] = OwnCache("states with computed pages", 16)


class _Found(Struct):
    source: Page
    computed: Computed


def expand(tx: Transaction, state: State, actor: Actor | None) -> Expansion:
    """What the computed pages of a state give now to somebody, or (None) to visitors of a site. Never raises for a
    source that nobody can compute."""
    sources = store.list_computed(tx, state)
    if not sources:
        return NOTHING_COMPUTED
    asker = asker_at(tx, state.space_id, actor)
    fingerprint = blake2b(state.revision_id.encode(), digest_size=32)
    found: list[_Found] = []
    left = MAX_PAGES
    for page in sources:
        source = source_of(page)
        if source is None:
            continue
        try:
            computed, made_of = compute_revision(tx, asker, source, page.id)
        except BadRequest:
            continue
        if len(computed.pages) > left:
            continue
        left -= len(computed.pages)
        fingerprint.update(page.id.encode() + b"\0" + made_of)
        found.append(_Found(page, computed))
    key = fingerprint.digest()
    kept = _expansions.of(tx).get(key)
    if kept is None:
        kept = Expansion(
            key,
            _placed(tx, state, found),
            [item for each in found for item in each.computed.items],
            {each.source.parent for each in found},
        )
        _expansions.of(tx).put(key, kept, 1_500 * (len(kept) + len(kept.items)) + 1)
    return kept


def asker_at(tx: Transaction, space_id: str, actor: Actor | None) -> Asker:
    return Asker(space_id, get_space(tx, space_id).organization_id, actor)


def source_of(page: Page) -> Source | None:
    """The source that a page names, None when it is none."""
    try:
        return msgspec.convert(page.computed, Source)
    except msgspec.ValidationError:
        return None


def _placed(tx: Transaction, state: State, found: list[_Found]) -> dict[str, list[Page]]:
    taken: defaultdict[str | None, set[str]] = defaultdict(set)
    for sibling in store.list_children(tx, state, {each.source.parent for each in found}):
        if sibling.kind != "computed":
            taken[sibling.parent].add(sibling.slug)
    return {each.source.id: _place(each, taken[each.source.parent]) for each in found}


def _place(found: _Found, taken: set[str]) -> list[Page]:
    """The pages of a source as siblings of its own siblings, whose slugs are ``taken``."""
    source = found.source
    pages = []
    for n, page in enumerate(found.computed.pages):
        # Behind all that begins with the source's rank and before whatever follows it: no rank has this sign.
        parent, slug, rank = page.parent, page.slug, f"{n:06d}"
        if parent is None:
            parent, slug, rank = source.parent, free_name(slug, taken.__contains__), f"{source.rank}!{rank}"
            taken.add(slug)
        pages.append(
            replace(
                page,
                parent=parent,
                slug=slug,
                rank=rank,
                created_at=page.created_at or source.created_at,
                updated_at=page.updated_at or source.updated_at,
            )
        )
    return pages


def computed_document(tx: Transaction, space_id: str, actor: Actor | None, page: Page) -> Document:
    """The document of a page that says what it is computed of. Raises BadRequest when it cannot be."""
    source = source_of(page)
    if source is None:
        raise BadRequest(f"The page {page.id!r} names no source that a document could be computed of.")
    encoded = compute_document(tx, asker_at(tx, space_id, actor), source, page.id)
    return from_json(msgspec.json.decode(encoded))


def computed_state(tx: Transaction, space_id: str, page: Page) -> bytes:
    """What the document of a page is computed of that visitors read; empty where it cannot be."""
    source = source_of(page)
    try:
        return state_of(tx, asker_at(tx, space_id, None), source, page.id) if source is not None else b""
    except BadRequest:
        return b""


def markdown_page(page: Page, document: Document, note: str = "") -> str:
    """A page as the file that it would be, with nothing but its title and description above the text. ``note``: a
    paragraph that comes before the text."""
    head = {"title": page.title, **({"description": page.description} if page.description else {})}
    text = contained("markdown", lambda: document, write).strip("\ufeff\r\n")
    parts = [with_head("", head), *(f"{part}\n" for part in (note, text) if part)]
    return "\n".join(parts)
