"""The pages of a state as somebody meets them: in order, with the paths of their URLs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from .pages import Page


class PageTree:
    """``is_shown`` says of each page whether its condition holds: one that is not shown is not there, nor is
    anything below it.

    ``children`` are in order, ``paths`` lead from ids to the slugs down to a page, in reading order; ``order`` are
    the documents, of which the first is the home page.
    """

    def __init__(self, pages: Iterable[Page], is_shown: Callable[[Page], bool]) -> None:
        self.children: dict[str | None, list[Page]] = {}
        self.paths: dict[str, str] = {}
        self.order: list[Page] = []
        self._by_id: dict[str, Page] = {}
        self._by_path: dict[str, Page] = {}
        self._hidden: set[str] = set()
        every: dict[str | None, list[Page]] = {}
        for page in pages:
            every.setdefault(page.parent, []).append(page)
        stack = [(page, "") for page in reversed(every.get(None, []))]
        while stack:
            page, above = stack.pop()
            if not is_shown(page):
                continue
            path = f"{above}/{page.slug}" if above else page.slug
            self._by_id[page.id] = page
            self.paths[page.id] = path
            self.children.setdefault(page.parent, []).append(page)
            if page.hidden or page.parent in self._hidden:
                self._hidden.add(page.id)
            if page.kind == "document":
                self.order.append(page)
            if page.kind != "link":
                self._by_path.setdefault(path.lower(), page)
            stack += [(child, path) for child in reversed(every.get(page.id, []))]
        self.home = self.order[0] if self.order else None

    def __len__(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[Page]:
        """All pages in reading order, parents before what is below them."""
        return iter(self._by_id.values())

    def page(self, page_id: str) -> Page | None:
        return self._by_id.get(page_id)

    def find(self, path: str) -> Page | None:
        """The page at a path as visitors type it, whatever the case; the empty path is the home page."""
        path = path.strip("/").lower()
        return self._by_path.get(path) if path else self.home

    def url_path(self, page: Page) -> str:
        """The page's path below its space; the home page is at the root."""
        return "" if self.home is not None and page.id == self.home.id else self.paths[page.id]

    def is_hidden(self, page: Page) -> bool:
        """Whether a page, or one above it, is left out of lists. It is there for whoever knows its address."""
        return page.id in self._hidden

    def ancestors(self, page: Page) -> list[Page]:
        """From the top down to the page's parent."""
        chain = []
        above = page.parent
        while above is not None:
            chain.append(self._by_id[above])
            above = self._by_id[above].parent
        return chain[::-1]

    def first_document(self, page: Page) -> Page | None:
        """The page itself, or of a group the first document below it that lists show."""
        stack = [page]
        while stack:
            here = stack.pop()
            if here.kind == "document":
                return here
            below = [child for child in self.children.get(here.id, []) if child.kind in ("document", "group")]
            stack += [child for child in reversed(below) if not child.hidden]
        return None
