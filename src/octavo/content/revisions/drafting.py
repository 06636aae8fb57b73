"""Drafts: states with unsaved changes on top. A draft can be read like a state. This module doesn't write to the
database."""

from __future__ import annotations

from bisect import bisect_left, insort

from msgspec.structs import replace

from octavo.core.free_names import free_name
from octavo.core.pages import Page
from octavo.core.space_config import CONFIG_PATH, read_config
from octavo.errors import require_found
from octavo.kit.db.database import Transaction

from .bodies import body_hash, get_body
from .item_versions import (
    Item,
    ItemKind,
    find_item_by_path,
    find_items,
    list_items,
)
from .page_versions import (
    find_page,
    find_page_by_file,
    list_by_slug,
    list_children,
)
from .restrictions import require_editable_page
from .states import State
from .store import Changes


class Draft:
    """State with the changes ``laid`` and all later changes of this draft on top. Each part of the state is read only
    once."""

    def __init__(self, tx: Transaction, state: State, laid: Changes | None = None) -> None:
        self.tx, self.state = tx, state
        self._pages: dict[str, Page | None] = {}
        self._items: dict[str, Item | None] = {}
        self._pages_below: dict[str, Page | None] = {}
        self._items_below: dict[str, Item | None] = {}
        self._texts: dict[str, str] = {}
        self._texts_below: dict[str, str] = {}
        self._children: dict[str | None, list[Page]] = {}
        self._by_slug: dict[tuple[str | None, str], list[str]] = {}
        self._by_file: dict[str, list[str]] = {}
        self._by_path: dict[str, list[str]] = {}
        """IDs of the files that were added or changed, by their current path."""
        self._root: str | None = None
        for page_id, page in (laid.pages if laid is not None else {}).items():
            self._lay_page(page_id, page)
        for item_id, item in (laid.items if laid is not None else {}).items():
            self._lay_item(item_id, item)

    # --- pages ------------------------------------------------------------------------------------------

    def find_page(self, page_id: str) -> Page | None:
        """Return a page that the reader of the state can see."""
        return self._find_any(page_id) if page_id not in self.state.hidden else None

    def _find_any(self, page_id: str) -> Page | None:
        return self._pages[page_id] if page_id in self._pages else self.page_before(page_id)

    def get_page(self, page_id: str, what: str = "page") -> Page:
        """Return a page. ``what``: the name of the field for the error. Raises NotFound if the page doesn't
        exist."""
        return require_found(
            self.find_page(page_id),
            f"{what}: there is no page with the ID {page_id!r} in this version of the space",
        )

    def page_before(self, page_id: str) -> Page | None:
        """Return the page as it was before the draft."""
        if page_id not in self._pages_below:
            self._pages_below[page_id] = find_page(self.tx, self.state.whole, page_id)
        return self._pages_below[page_id]

    def children(self, parent: str | None) -> list[Page]:
        """Return the subpages of a page in order; ``put_page`` keeps the result up to date."""
        known = self._children.get(parent)
        if known is None:
            below = list_children(self.tx, self.state.whole, [parent])
            known = [page for page in below if page.id not in self._pages]
            known += [page for page in self._pages.values() if page is not None and page.parent == parent]
            known.sort(key=_place)
            self._children[parent] = known
        return known

    def seen_children(self, parent: str | None) -> list[Page]:
        """Return the subpages of a page that the reader of the state can see, in order."""
        hidden, every = self.state.hidden, self.children(parent)
        return [page for page in every if page.id not in hidden] if hidden else every

    def place_of(self, page: Page, siblings: list[Page] | None = None) -> int:
        """Return the index of a page among the children of its parent. If the page isn't in the draft yet, return the
        index at which it would be inserted. ``siblings``: the children to count."""
        every = self.children(page.parent) if siblings is None else siblings
        return bisect_left(every, _place(page), key=_place)

    def list_by_slug(self, parent: str | None, slug: str) -> list[Page]:
        """Return the children of a page with this slug that the reader of the state can see."""
        return [page for page in self._list_any_by_slug(parent, slug) if page.id not in self.state.hidden]

    def _list_any_by_slug(self, parent: str | None, slug: str) -> list[Page]:
        below = list_by_slug(self.tx, self.state.whole, parent, slug)
        found = [page for page in below if page.id not in self._pages]
        return found + [page for id in self._by_slug.get((parent, slug), ()) if (page := self._pages[id])]

    def slug_taken(self, page: Page, slug: str) -> bool:
        """Return whether another page with the same parent has this slug."""
        return any(other.id != page.id for other in self._list_any_by_slug(page.parent, slug))

    def free_slug(self, page: Page) -> str:
        """Return the page's own slug if it is unused; otherwise, the first unused slug with an appended number."""
        return free_name(page.slug, lambda slug: self.slug_taken(page, slug))

    def put_page(self, page_id: str, page: Page | None) -> None:
        """Set a page; None deletes it. Raises Forbidden if the page's restrictions don't allow that."""
        old = self._find_any(page_id)
        require_editable_page(self.state, page_id, page, old)
        if old is not None:
            if page_id in self._pages:
                self._by_slug[old.parent, old.slug].remove(page_id)
                if old.file_path:
                    self._by_file[old.file_path].remove(page_id)
            if old.parent in self._children:
                del self._children[old.parent][self.place_of(old)]
        self._lay_page(page_id, page)
        if page is not None and page.parent in self._children:
            insort(self._children[page.parent], page, key=_place)

    def _lay_page(self, page_id: str, page: Page | None) -> None:
        self._pages[page_id] = page
        if page is not None:
            self._by_slug.setdefault((page.parent, page.slug), []).append(page_id)
            if page.file_path:
                self._by_file.setdefault(page.file_path, []).append(page_id)

    # --- items ------------------------------------------------------------------------------------------

    def find_item(self, item_id: str, kind: str) -> Item | None:
        item = self._items[item_id] if item_id in self._items else self.item_before(item_id)
        return item if item is not None and item.kind == kind else None

    def get_item(self, item_id: str, kind: str) -> Item:
        """Return an item. Raises NotFound if it doesn't exist."""
        return require_found(
            self.find_item(item_id, kind),
            f"There is no {kind.replace('-', ' ')} with the ID {item_id!r} in this version of the space.",
        )

    def item_before(self, item_id: str) -> Item | None:
        """Return the item as it was before the draft."""
        if item_id not in self._items_below:
            self._items_below[item_id] = find_items(self.tx, self.state, [item_id]).get(item_id)
        return self._items_below[item_id]

    def list_items(self, kind: ItemKind) -> list[Item]:
        below = [item for item in list_items(self.tx, self.state, kind) if item.id not in self._items]
        return below + [item for item in self._items.values() if item is not None and item.kind == kind]

    def put_item(self, item_id: str, item: Item | None) -> None:
        """Set an item; None deletes it."""
        if (old := self._items.get(item_id)) is not None and old.path:
            self._by_path[old.path].remove(item_id)
        self._lay_item(item_id, item)

    def _lay_item(self, item_id: str, item: Item | None) -> None:
        self._items[item_id] = item
        if item is not None and item.path:
            self._by_path.setdefault(item.path, []).append(item_id)

    # --- files of the space -----------------------------------------------------------------------------

    def find_page_by_file(self, path: str) -> Page | None:
        """Return the page whose file has this path, if the reader of the state can see it."""
        found = self._find_any_by_file(path)
        return found if found is not None and found.id not in self.state.hidden else None

    def _find_any_by_file(self, path: str) -> Page | None:
        """Return the page whose file has this path; if there are several, the page with the lowest ID."""
        found = [page for id in self._by_file.get(path, ()) if (page := self._pages[id])]
        below = find_page_by_file(self.tx, self.state.whole, path)
        if below is not None and below.id not in self._pages:
            found.append(below)
        return min(found, key=lambda page: page.id, default=None)

    def find_item_by_path(self, path: str) -> Item | None:
        if ids := self._by_path.get(path):
            return self._items[ids[-1]]
        below = find_item_by_path(self.tx, self.state, path)
        return below if below is not None and below.id not in self._items else None

    def path_taken(self, path: str) -> bool:
        """Return whether the file of a page or an item has this path."""
        return self._find_any_by_file(path) is not None or self.find_item_by_path(path) is not None

    @property
    def root(self) -> str:
        """Return the folder of the space in its repository: an empty string, or a path with a trailing slash."""
        if self._root is None:
            config = find_item_by_path(self.tx, self.state, CONFIG_PATH)
            known = config is not None and config.kind == "source" and config.content
            self._root = read_config(get_body(self.tx, known)).root if known else ""
        return self._root

    # --- texts ------------------------------------------------------------------------------------------

    def text(self, digest: str | None) -> str:
        if digest is None:
            return ""
        # A known text may be empty and must not be read again.
        known = self.known_text(digest)
        if known is None:
            known = self._texts_below[digest] = get_body(self.tx, digest)
        return known

    def known_text(self, digest: str) -> str | None:
        """Return a page source, or None if it would have to be read from the database."""
        return self._texts.get(digest, self._texts_below.get(digest))

    def note_text(self, digest: str, text: str) -> None:
        """Record a page source that was already read from the database."""
        self._texts_below[digest] = text

    def put_text(self, text: str) -> str:
        digest = body_hash(text)
        self._texts[digest] = text
        return digest

    # --- contents of a revision -------------------------------------------------------------------------

    def find_put(self, owner_id: str) -> Page | Item | None:
        """Return the new page or item, or None if it was deleted or not changed."""
        return self._pages.get(owner_id) or self._items.get(owner_id)

    def version_before(self, now: Page | Item) -> Page | Item | None:
        """Return the page or item as it was before the draft."""
        return self.page_before(now.id) if isinstance(now, Page) else self.item_before(now.id)

    @property
    def changes(self) -> Changes:
        """Return the changes, without entries that are unchanged from the state."""
        return Changes(
            {id: page for id, page in self._pages.items() if not same_version(page, self.page_before(id))},
            {id: item for id, item in self._items.items() if not same_version(item, self.item_before(id))},
        )

    def texts_of(self, changes: Changes) -> list[str]:
        """Return the sources created in this draft that these changes refer to."""
        used = {page.body for page in changes.pages.values() if page is not None}
        used |= {item.content for item in changes.items.values() if item is not None}
        return [text for digest, text in self._texts.items() if digest in used]


def same_version(one: Page | Item | None, other: Page | Item | None) -> bool:
    """Return whether two versions are the same except for their times."""
    if isinstance(one, Page) and isinstance(other, Page):
        return replace(one, updated_at=other.updated_at) == other
    return one == other


def _place(page: Page) -> tuple[str, str]:
    return page.rank, page.id
