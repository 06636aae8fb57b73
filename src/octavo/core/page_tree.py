"""Pages of a state as readers see them: in order, with their URL paths."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from .layered_mapping import Layered
from .page_fields import NAVIGATION
from .pages import Page

_DEEPEST = 1000
"""Maximum number of levels of a tree. A longer path to the top level must contain a cycle."""
_OF_SHAPE = ("parent", "rank", "slug", "kind", "title", "link_title", "target", "computed", *NAVIGATION)


class PageTree:
    """Pages of a state, with siblings ordered by rank and ID. The tree omits pages that are ``withheld``,
    their descendants, and pages without a position in the tree.

    A tree is immutable. ``changed`` and ``without`` return new trees that share the unchanged parts, so the cost of the
    next revision's tree depends only on its changes. ``children``: the children of each page, in order. ``shape``: a
    value that is equal for two trees with the same navigation.
    """

    def __init__(self, pages: Iterable[Page]) -> None:
        by_id: dict[str, Page] = {}
        children: dict[str | None, list[Page]] = {}
        for page in pages:
            by_id[page.id] = page
            children.setdefault(page.parent, []).append(page)
        self.children = Layered(children)
        self.conditional = frozenset(page.id for page in by_id.values() if page.condition is not None)
        """Pages that have a condition."""
        self.links = frozenset(page.id for page in by_id.values() if page.kind == "link")
        """Pages that are links in the table of contents, including withheld pages."""
        self._computed = frozenset(page.id for page in by_id.values() if page.computed is not None)
        self.withheld: frozenset[str] = frozenset()
        self.shape = object()
        self._by_id = Layered(by_id)
        self._slugs: dict[str | None, dict[str, list[str]]] = {}

    def _copy(self) -> PageTree:
        copy = PageTree(())
        copy.children, copy._by_id, copy._slugs = self.children, self._by_id, self._slugs.copy()
        copy.conditional, copy.links, copy._computed = self.conditional, self.links, self._computed
        copy.withheld, copy.shape = self.withheld, self.shape
        return copy

    def changed(self, changes: Mapping[str, Page | None]) -> PageTree:
        """Return the tree with these pages, which replace pages with the same IDs; None removes a page. Call this only
        on a tree without withheld pages."""
        assert not self.withheld
        copy = self._copy()
        copy._by_id = self._by_id.changed(changes)
        moved: dict[str | None, set[str]] = {}
        for id, page in changes.items():
            old = self._by_id.get(id)
            if old is not None:
                moved.setdefault(old.parent, set()).add(id)
            if page is not None:
                moved.setdefault(page.parent, set()).add(id)
            if _place_of(old) != _place_of(page):
                for place in (old, page):
                    if place is not None:
                        copy._slugs.pop(place.parent, None)
            if _shape_of(old) != _shape_of(page):
                copy.shape = object()
        below: dict[str | None, list[Page] | None] = {}
        for parent, ids in moved.items():
            siblings = list(self.children.get(parent, []))
            for id in ids:
                old, page = self._by_id.get(id), copy._by_id.get(id)
                if old is not None and old.parent == parent:
                    del siblings[bisect_left(siblings, _order_of(old), key=_order_of)]
                if page is not None and page.parent == parent:
                    insort(siblings, page, key=_order_of)
            below[parent] = siblings or None
        copy.children = self.children.changed(below)
        with_condition = {
            id for id, page in changes.items() if page is not None and page.condition is not None
        }
        copy.conditional = (self.conditional - changes.keys()) | with_condition
        links = {id for id, page in changes.items() if page is not None and page.kind == "link"}
        copy.links = (self.links - changes.keys()) | links
        computed = {id for id, page in changes.items() if page is not None and page.computed is not None}
        copy._computed = (self._computed - changes.keys()) | computed
        return copy

    def without(self, withheld: frozenset[str]) -> PageTree:
        """Return the tree with these pages withheld."""
        if not withheld:
            return self
        copy = PageTree(())
        copy._by_id = self._by_id
        copy.conditional, copy.links, copy._computed = self.conditional, self.links, self._computed
        copy.shape = self.shape
        copy.withheld = self.withheld | withheld
        below: dict[str | None, list[Page] | None] = dict.fromkeys(withheld)
        for parent in {self._by_id[id].parent for id in withheld} - withheld:
            left = [other for other in self.children.get(parent, []) if other.id not in withheld]
            below[parent] = left or None
        copy.children = self.children.changed(below)
        return copy

    def starting_at(self, page_id: str) -> PageTree:
        """Return the tree with another home page, or the same tree if that page isn't a document that visitors can
        see."""
        page = self.page(page_id)
        home = self.first_document(page) if page is not None else None
        if home is None or home is self.home:
            return self
        copy = PageTree(())
        copy._by_id, copy.children, copy.withheld = self._by_id, self.children, self.withheld
        copy.conditional, copy.links, copy._computed = self.conditional, self.links, self._computed
        copy.home = home
        return copy

    def __len__(self) -> int:
        """Return the number of pages in the state, visible or not."""
        return len(self._by_id)

    def __iter__(self) -> Iterator[Page]:
        """Yield all pages in reading order, parents before their descendants."""
        stack = list(reversed(self.children.get(None, [])))
        while stack:
            page = stack.pop()
            yield page
            stack += reversed(self.children.get(page.id, []))

    def documents(self) -> Iterator[Page]:
        """Yield the documents, in reading order."""
        return (page for page in self if page.kind == "document")

    def computed(self) -> Iterator[Page]:
        """Yield the computed pages, in reading order. If there are none, this doesn't visit the pages of the tree."""
        return (page for page in self if page.computed is not None) if self._computed else iter(())

    @cached_property
    def home(self) -> Page | None:
        """Return the first document."""
        return next(self.documents(), None)

    def all_pages(self) -> Iterable[Page]:
        """Return all pages of the state, including misplaced and withheld pages, in no particular order."""
        return self._by_id.values()

    def any_page(self, page_id: str) -> Page | None:
        """Return a page of the state, even if it is misplaced or withheld."""
        return self._by_id.get(page_id)

    def page(self, page_id: str) -> Page | None:
        page = self._by_id.get(page_id)
        return page if page is not None and self._line(page) is not None else None

    def _line(self, page: Page) -> list[Page] | None:
        """Return the page and its ancestors, from the bottom up; None if the page isn't in the tree."""
        line = [page]
        for _ in range(_DEEPEST):
            if page.id in self.withheld:
                return None
            if page.parent is None:
                return line
            above = self._by_id.get(page.parent)
            if above is None:
                return None
            line.append(above)
            page = above
        return None

    def path(self, page: Page) -> str:
        """Return the slugs from the top level down to a page in the tree."""
        return "/".join(here.slug for here in reversed(self._line(page) or [page]))

    def find(self, path: str) -> Page | None:
        """Return the page at a path that a visitor requested, ignoring case; the empty path is the home page. Links in
        the table of contents have no path."""
        parts = path.strip("/").lower().split("/")
        if parts == [""]:
            return self.home
        level: list[str | None] = [None]
        for part in parts:
            level = [id for parent in level for id in self._with_slug(parent, part)]
        return next((page for id in level if id and (page := self._by_id[id]).kind != "link"), None)

    def _with_slug(self, parent: str | None, slug: str) -> list[str]:
        """Return the children whose slug is ``slug`` in lowercase, in order."""
        known = self._slugs.get(parent)
        if known is None:
            known = {}
            for page in self.children.get(parent, []):
                known.setdefault(page.slug.lower(), []).append(page.id)
            self._slugs[parent] = known
        return known.get(slug, [])

    def url_path(self, page: Page) -> str:
        """Return the page's path under its space; the home page is at the root."""
        return "" if self.home is not None and page.id == self.home.id else self.path(page)

    def is_hidden(self, page: Page) -> bool:
        """Return whether a page or one of its ancestors is hidden from lists. The page's URL still works."""
        return any(here.hidden for here in self._line(page) or [page])

    def ancestors(self, page: Page) -> list[Page]:
        """Return the ancestors from the top down to the page's parent."""
        return (self._line(page) or [page])[:0:-1]

    def first_document(self, page: Page) -> Page | None:
        """Return the page itself or, for a group, the first listed document under it."""
        stack = [page]
        while stack:
            here = stack.pop()
            if here.kind == "document":
                return here
            below = [child for child in self.children.get(here.id, []) if child.kind in ("document", "group")]
            stack += [child for child in reversed(below) if not child.hidden]
        return None

    def neighbors(self, page: Page) -> tuple[Page | None, Page | None]:
        """Return the previous and next listed documents of a page, in reading order."""
        return self._before(page), self._behind(page)

    def _behind(self, page: Page) -> Page | None:
        if not self.is_hidden(page):
            below = _first(self, self.children.get(page.id, []))
            if below is not None:
                return below
        for _, siblings, at in self._upwards(page):
            found = _first(self, siblings[at + 1 :])
            if found is not None and not self.is_hidden(found):
                return found
        return None

    def _before(self, page: Page) -> Page | None:
        for here, siblings, at in self._upwards(page):
            found = _last(self, siblings[:at])
            if found is None and here.parent is not None and self._by_id[here.parent].kind == "document":
                found = self._by_id[here.parent]
            if found is not None and not self.is_hidden(found):
                return found
        return None

    def _upwards(self, page: Page) -> Iterator[tuple[Page, list[Page], int]]:
        """Yield the page and each of its ancestors, together with the siblings of each and its index among them."""
        for here in self._line(page) or []:
            siblings = self.children.get(here.parent, [])
            yield here, siblings, bisect_left(siblings, _order_of(here), key=_order_of)


def _first(tree: PageTree, pages: list[Page]) -> Page | None:
    """Return the first listed document among these pages and their descendants."""
    stack = [page for page in reversed(pages) if not page.hidden]
    while stack:
        page = stack.pop()
        if page.kind == "document":
            return page
        stack += [child for child in reversed(tree.children.get(page.id, [])) if not child.hidden]
    return None


def _last(tree: PageTree, pages: list[Page]) -> Page | None:
    """Return the last listed document among these pages and their descendants."""
    for page in reversed(pages):
        if not page.hidden:
            found = _last(tree, tree.children.get(page.id, []))
            if found is not None or page.kind == "document":
                return found or page
    return None


def _order_of(page: Page) -> tuple[str, str]:
    return page.rank, page.id


def _place_of(page: Page | None) -> tuple[object, ...] | None:
    return (page.parent, page.rank, page.slug) if page is not None else None


def _shape_of(page: Page | None) -> tuple[object, ...] | None:
    return tuple(getattr(page, name) for name in _OF_SHAPE) if page is not None else None
