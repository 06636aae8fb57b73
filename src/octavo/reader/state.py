"""One revision of a space as visitors meet it: its pages by path, in order, in memory.

Revisions never change, so a state is built once and kept; a page view then asks the database for the text of
that page alone.
"""

from __future__ import annotations

from typing import Any

from ..content import Expansion, Item, State, expand, list_items, list_pages, list_variables
from ..core.expressions import Shown
from ..core.pages import Page
from ..kit.cache import ByteCache
from ..kit.db import Transaction

_CACHE_BYTES = 128 * 1024 * 1024
_PAGE_BYTES = 900


class SpaceState:
    """The pages and files of one revision; also what ``core.links`` looks references up in. ``computed`` names all
    that its computed pages are made of."""

    def __init__(
        self,
        state: State,
        pages: list[Page],
        items: list[Item],
        variables: dict[str, Any],
        computed: bytes = b"",
    ) -> None:
        self.state = state
        self.computed = computed
        self.variables = variables
        self.children: dict[str | None, list[Page]] = {}
        self.paths: dict[str, str] = {}
        self.order: list[Page] = []
        self._by_id: dict[str, Page] = {}
        self._by_path: dict[str, Page] = {}
        self._by_file: dict[str, str] = {}
        self._files = {item.path: item for item in items if item.kind == "file" and item.path}
        self.items = {item.id: item for item in items}
        self._reusable = {item.path: item for item in items if item.kind == "reusable-content" and item.path}
        all_children: dict[str | None, list[Page]] = {}
        for page in pages:
            all_children.setdefault(page.parent, []).append(page)
        stack = [(page, "") for page in reversed(all_children.get(None, []))]
        while stack:
            page, above = stack.pop()
            if not self._shown(page):
                continue
            path = f"{above}/{page.slug}" if above else page.slug
            self._by_id[page.id] = page
            self.paths[page.id] = path
            self.children.setdefault(page.parent, []).append(page)
            if page.kind == "document":
                self.order.append(page)
                if page.file_path:
                    self._by_file.setdefault(page.file_path, page.id)
            if page.kind != "link":
                self._by_path.setdefault(path.lower(), page)
            stack += [(child, path) for child in reversed(all_children.get(page.id, []))]
        self.home = self.order[0] if self.order else None

    def _shown(self, page: Page) -> bool:
        """A page whose condition is not met is not there for this visitor, nor is anything below it."""
        return page.condition is None or Shown(self.variables, page.variables).holds(page.condition)

    # --- asked by visitors ------------------------------------------------------------------------------

    def page(self, page_id: str) -> Page | None:
        return self._by_id.get(page_id)

    def find(self, path: str) -> Page | None:
        """The page at a path as visitors type it, whatever the case; the empty path is the home page."""
        path = path.strip("/").lower()
        return self._by_path.get(path) if path else self.home

    def url_path(self, page: Page) -> str:
        """The page's path below its space; the home page is at the root."""
        return "" if self.home is not None and page.id == self.home.id else self.paths[page.id]

    def ancestors(self, page: Page) -> list[Page]:
        chain = []
        above = page.parent
        while above is not None:
            chain.append(self._by_id[above])
            above = self._by_id[above].parent
        return chain[::-1]

    def first_document(self, page: Page) -> Page | None:
        """The page itself, or the first document below a group."""
        while page.kind != "document":
            below = [child for child in self.children.get(page.id, []) if child.kind in ("document", "group")]
            if not below:
                return None
            page = below[0]
        return page

    def item(self, item_id: str) -> Item | None:
        return self.items.get(item_id)

    # --- core.links.Lookup ------------------------------------------------------------------------------

    def find_page(self, file_path: str) -> str | None:
        return self._by_file.get(file_path)

    def find_page_by_path(self, path: str) -> str | None:
        page = self.find(path)
        return page.id if page else None

    def find_page_by_id(self, page: str) -> str | None:
        return page if page in self._by_id else None

    def find_file(self, path: str) -> str | None:
        item = self._files.get(path)
        return item.id if item else None

    def find_file_by_id(self, file: str) -> str | None:
        item = self.items.get(file)
        return item.id if item and item.kind == "file" else None

    def find_reusable(self, path: str) -> str | None:
        item = self._reusable.get(path)
        return item.id if item else None


_states: ByteCache[SpaceState] = ByteCache(_CACHE_BYTES)


def load_state(tx: Transaction, state: State) -> SpaceState:
    # A state without computed pages is all that its revision says, and is kept under it alone.
    loaded = _states.get((state.revision_id, b""))
    if loaded is None:
        expansion = expand(tx, state, None)
        loaded = _states.get((state.revision_id, expansion.fingerprint))
        if loaded is None:
            loaded = _load(tx, state, expansion)
            size = _PAGE_BYTES * (len(loaded.paths) + len(loaded.items))
            _states.put((state.revision_id, expansion.fingerprint), loaded, size + 1)
    return loaded


def _load(tx: Transaction, state: State, expansion: Expansion) -> SpaceState:
    pages = expansion.into(list_pages(tx, state))
    items = [*list_items(tx, state, "file"), *list_items(tx, state, "reusable-content"), *expansion.items]
    return SpaceState(state, pages, items, list_variables(tx, state), expansion.fingerprint)
