"""Expansion of computed pages: the results of their sources, inserted into the page tree of a state.

A source that can't be computed stays unchanged. Computed pages in the results aren't expanded again.
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

from .computing import Computed, ComputedSource, Requester, compute_document, compute_revision, state_of
from .item_versions import Item
from .page_versions import find_page, find_page_by_path, list_ancestors, list_children, list_computed
from .states import State

MAX_PAGES = 20_000
"""Maximum number of computed pages in a state. Sources beyond this limit stay unchanged."""


class Expansion:
    """Computed pages of a state. ``fingerprint``: a hash of all data that the pages were computed from; empty if there
    are no computed pages."""

    def __init__(
        self, fingerprint: bytes, placed: dict[str, list[Page]], items: list[Item], parents: set[str | None]
    ) -> None:
        """Create an expansion. ``parents``: the parents of the sources."""
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
        """Return pages of the state, siblings in order, with sources replaced with their computed pages."""
        if not any(page.id in self._placed for page in pages):
            return pages
        whole = [found for page in pages for found in self._placed.get(page.id, [page])]
        return sorted(whole, key=lambda page: (page.parent or "", page.rank, page.id))

    def find(self, page_id: str) -> Page | None:
        return self._by_id.get(page_id)

    def list_of_source(self, page_id: str) -> list[Page]:
        """Return the pages that were computed from a source."""
        return self._placed.get(page_id, [])

    def find_by_path(self, tx: Transaction, state: State, path: str) -> Page | None:
        """Return the computed page at a path of slugs, which may start with ordinary pages."""
        parts = [part for part in path.split("/") if part]
        page: Page | None = None
        for n, slug in enumerate(parts):
            found = self._by_slug.get((page.id if page else None, slug))
            if found is None and (page is None or page.id not in self._by_id):
                found = find_page_by_path(tx, state, "/".join(parts[: n + 1]))
            if found is None:
                return None
            page = found
        return page if page is not None and page.id in self._by_id else None

    def find_item(self, item_id: str, kind: str) -> Item | None:
        return next((item for item in self.items if item.id == item_id and item.kind == kind), None)

    def list_ancestors(self, tx: Transaction, state: State, page: Page) -> list[Page]:
        """Return the ancestors of a computed page from the top down."""
        chain: list[Page] = []
        while page.parent is not None and (above := self._by_id.get(page.parent)) is not None:
            chain.append(above)
            page = above
        ordinary = find_page(tx, state, page.parent) if page.parent is not None else None
        if ordinary is not None:
            chain += [ordinary, *reversed(list_ancestors(tx, state, ordinary))]
        return chain[::-1]

    def children(self, tx: Transaction, state: State, parent: str | None) -> list[Page] | None:
        """Return the children of a page (None: the top level) in order, if they include or could include computed
        pages. Return None otherwise."""
        if parent in self._by_id:
            return self._children.get(parent, [])
        if parent in self._parents:
            level = self.into(list_children(tx, state, [parent]))
            return [page for page in level if page.parent == parent]
        return None

    def list_subtree(self, page: Page) -> list[Page]:
        """Return all pages under a computed page, parents before children."""
        found = [page]
        for above in found:
            found += self._children.get(above.id, [])
        return found[1:]


NOTHING_COMPUTED = Expansion(b"", {}, [], set())
"""Expansion for a state that has no computed pages, or whose computed pages aren't expanded."""

_expansions: OwnCache[Expansion] = OwnCache("expanded page trees", 16)


class _Found(Struct):
    source: Page
    computed: Computed


def expand(tx: Transaction, state: State, actor: Actor | None) -> Expansion:
    """Return the current results of a state's computed pages for an actor, or for site visitors (None). Sources that
    can't be computed don't raise errors."""
    sources = list_computed(tx, state)
    if not sources:
        return NOTHING_COMPUTED
    asker = requester_at(tx, state.space_id, actor)
    fingerprint = blake2b(state.key.encode(), digest_size=32)
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
            _place_all(tx, state, found),
            [item for each in found for item in each.computed.items],
            {each.source.parent for each in found},
        )
        _expansions.of(tx).put(key, kept, 1_500 * (len(kept) + len(kept.items)) + 1)
    return kept


def requester_at(tx: Transaction, space_id: str, actor: Actor | None) -> Requester:
    return Requester(space_id, get_space(tx, space_id).organization_id, actor)


def source_of(page: Page) -> ComputedSource | None:
    """Return the source of a page, or None if the page has no valid source."""
    try:
        return msgspec.convert(page.computed, ComputedSource)
    except msgspec.ValidationError:
        return None


def _place_all(tx: Transaction, state: State, found: list[_Found]) -> dict[str, list[Page]]:
    taken: defaultdict[str | None, set[str]] = defaultdict(set)
    for sibling in list_children(tx, state, {each.source.parent for each in found}):
        if sibling.kind != "computed":
            taken[sibling.parent].add(sibling.slug)
    return {each.source.id: _place(each, taken[each.source.parent]) for each in found}


def _place(found: _Found, taken: set[str]) -> list[Page]:
    """Return the pages of a source as siblings of the source. ``taken``: the slugs in use."""
    source = found.source
    pages = []
    for n, page in enumerate(found.computed.pages):
        # After all ranks that start with the source's rank and before the next rank: no rank contains this
        # character.
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
    """Return the document of a computed page. Raises BadRequest if it can't be computed."""
    source = source_of(page)
    if source is None:
        raise BadRequest(f"The page with the ID {page.id!r} has no valid source for computing its document.")
    encoded = compute_document(tx, requester_at(tx, space_id, actor), source, page.id)
    return from_json(msgspec.json.decode(encoded))


def computed_state(tx: Transaction, space_id: str, page: Page) -> bytes:
    """Return the state that a page's document depends on for visitors, or an empty string if it can't be
    computed."""
    source = source_of(page)
    try:
        return state_of(tx, requester_at(tx, space_id, None), source, page.id) if source is not None else b""
    except BadRequest:
        return b""


def markdown_page(page: Page, document: Document, note: str = "") -> str:
    """Return a page as a Markdown file with only its title and description in front matter. ``note``: a
    paragraph to insert before the text."""
    head = {"title": page.title, **({"description": page.description} if page.description else {})}
    text = contained("markdown", lambda: document, write).strip("\ufeff\r\n")
    parts = [with_head("", head), *(f"{part}\n" for part in (note, text) if part)]
    return "\n".join(parts)
