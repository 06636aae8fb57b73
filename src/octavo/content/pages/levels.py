"""Parts of a state's page tree: one level, and the ancestors of pages. The cost depends on the size of
these parts, not on the size of the space."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from octavo.content.revisions.expanding import Expansion
from octavo.content.revisions.page_versions import (
    count_children,
    find_page,
    find_parents,
    list_ancestors,
    slice_children,
    trace_pages,
)
from octavo.content.revisions.states import State
from octavo.core.pages import Page
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Slice, decode_token, slice_rows

_FIRST = 100
"""Number of pages to read at a time when searching for the first document."""
_MOST = 2**31
"""Maximum index at which part of a level can start."""


class PlacedPage(Struct, frozen=True):
    """Page within its level. ``above``: the path of the parent page."""

    page: Page
    above: str
    has_pages: bool


class LevelPart(Struct, frozen=True):
    """Some of the ``count`` pages under ``parent`` (None: the top level), starting at the index ``at``."""

    parent: str | None
    at: int
    count: int
    entries: list[PlacedPage]


class Levels:
    """Levels of a state's page tree, including its computed pages. A level contains the subpages of a page or, if the
    parent is None, the top-level pages."""

    def __init__(self, tx: Transaction, state: State, expansion: Expansion) -> None:
        self._tx, self._state, self._expansion = tx, state, expansion

    def slice(self, parent: Page | None, limit: int, at: int, token: str | None) -> Slice[Page]:
        """Return up to ``limit`` pages of a level. They start at the index ``at``, relative to the position in
        ``token`` if there is one.

        Tokens contain the number of previous pages and the ID of the last one. They don't contain its rank, because
        ranks depend on siblings that the reader can't see."""
        passed, last_id = decode_token(token, int, str) or (0, "")
        last = self._find(last_id) if last_id else None
        after = None
        if last is not None and last.parent == (parent.id if parent else None):
            after = (last.rank, last.id)
        elif last_id:
            # The page was deleted or moved, so the pages after it have moved up.
            passed -= 1
        start = min(max(passed, 0), _MOST) + at
        rows = self._rows(parent, limit + 1, start if after is None else at, after)
        return slice_rows(rows, limit, self._count(parent), lambda page: (start + limit, page.id))

    def around(self, page: Page, limit: int) -> list[LevelPart]:
        """Return the levels of a page and of each of its ancestors. Only the part of each level that
        contains the page or ancestor is returned; it has ``limit`` pages."""
        levels = []
        way = [*self.above(page), page]
        for parent, child in zip([None, *way], way, strict=False):
            index = self._count(parent, child)
            levels.append(self.level(parent, limit, index - index % limit))
        return levels

    def level(self, parent: Page | None, limit: int, at: int = 0) -> LevelPart:
        entries = self.entries(self._rows(parent, limit, at), parent)
        return LevelPart(parent.id if parent else None, at, self._count(parent), entries)

    def traces(self, page_ids: list[str]) -> dict[str, list[PlacedPage]]:
        """Return the existing pages among these IDs, each with its ancestors, by ID. The ancestors precede the page."""
        ways = trace_pages(self._tx, self._state, page_ids)
        for id in page_ids:
            computed = self._expansion.find(id)
            if computed is not None:
                ways[id] = [*self.above(computed), computed]
        parents = self._parents({page.id for way in ways.values() for page in way})
        return {id: _present_path(ways[id], parents) for id in page_ids if id in ways}

    def entries(self, pages: Iterable[Page], parent: Page | None) -> list[PlacedPage]:
        """Return pages of one level as entries."""
        pages = list(pages)
        above = [*self.above(parent), parent] if parent else []
        path = "/".join(page.slug for page in above)
        parents = self._parents({page.id for page in pages})
        return [PlacedPage(page, path, page.id in parents) for page in pages]

    def above(self, page: Page) -> list[Page]:
        """Return the ancestors of a page from the top down."""
        if self._expansion.find(page.id) is not None:
            return self._expansion.list_ancestors(self._tx, self._state, page)
        return list_ancestors(self._tx, self._state, page)

    def first(self) -> Page | None:
        """Return the first document of the tree."""
        left: list[tuple[Page | None, int]] = [(None, 0)]
        while left:
            parent, at = left.pop()
            rows = self._rows(parent, _FIRST, at)
            for n, page in enumerate(rows):
                if page.kind == "document":
                    return page
                if self._parents({page.id}):
                    left += [(parent, at + n + 1), (page, 0)]
                    break
            else:
                if len(rows) == _FIRST:
                    left.append((parent, at + _FIRST))
        return None

    def _find(self, page_id: str) -> Page | None:
        return self._expansion.find(page_id) or find_page(self._tx, self._state, page_id)

    def _whole(self, parent: Page | None) -> list[Page] | None:
        """Return all pages of a level that contains computed pages. Return None for other levels, which are read in
        parts from an index."""
        return self._expansion.children(self._tx, self._state, parent.id if parent else None)

    def _rows(
        self, parent: Page | None, limit: int, at: int, after: tuple[str, str] | None = None
    ) -> list[Page]:
        whole = self._whole(parent)
        if whole is None:
            within = parent.id if parent else None
            return slice_children(self._tx, self._state, within, limit=limit, at=at, after=after)
        if after is not None:
            whole = [page for page in whole if (page.rank, page.id) > after]
        return whole[at : at + limit]

    def _count(self, parent: Page | None, before: Page | None = None) -> int:
        """Return the number of pages in a level, or only of those before the page ``before``."""
        whole = self._whole(parent)
        if whole is None:
            return count_children(self._tx, self._state, parent.id if parent else None, before)
        if before is None:
            return len(whole)
        return sum((page.rank, page.id) < (before.rank, before.id) for page in whole)

    def _parents(self, page_ids: set[str]) -> set[str]:
        """Return the given pages that have subpages."""
        known = {
            id: children
            for id in page_ids
            if (children := self._expansion.children(self._tx, self._state, id)) is not None
        }
        found = find_parents(self._tx, self._state, page_ids - known.keys())
        return found | {id for id, children in known.items() if children}


def _present_path(way: list[Page], parents: set[str]) -> list[PlacedPage]:
    """Return the pages on a path, from the top level down, as entries."""
    path: list[str] = []
    found = []
    for page in way:
        found.append(PlacedPage(page, "/".join(path), page.id in parents))
        path.append(page.slug)
    return found
