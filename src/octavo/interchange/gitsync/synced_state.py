"""State of a space in its repository: the last synced revision, without the changes that the repository doesn't
have yet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from octavo.content.changes.comparing import Sides
from octavo.content.revisions.item_versions import (
    ITEM_KINDS,
    Item,
    find_item_by_path,
    find_items,
    list_items,
)
from octavo.content.revisions.page_versions import find_page_by_file, find_pages, list_pages
from octavo.content.revisions.states import State
from octavo.core.merge import Versions
from octavo.core.pages import Page
from octavo.kit.db.database import Transaction


class SyncedState:
    """State of a space in its repository. ``state``: the state of the revision. ``pages``, ``items``: the versions
    in the repository that are different from those in the revision (None if deleted)."""

    def __init__(
        self, state: State, pages: Mapping[str, Page | None], items: Mapping[str, Item | None]
    ) -> None:
        self.state = state
        self.ahead_pages, self.ahead_items = dict(pages), dict(items)

    def find_pages(self, tx: Transaction, ids: Iterable[str]) -> dict[str, Page]:
        wanted = list(ids)
        found = find_pages(tx, self.state, [id for id in wanted if id not in self.ahead_pages])
        return found | {id: page for id in wanted if (page := self.ahead_pages.get(id)) is not None}

    def find_items(self, tx: Transaction, ids: Iterable[str]) -> dict[str, Item]:
        wanted = list(ids)
        found = find_items(tx, self.state, [id for id in wanted if id not in self.ahead_items])
        return found | {id: item for id in wanted if (item := self.ahead_items.get(id)) is not None}

    def page_of_file(self, tx: Transaction, path: str) -> Page | None:
        for page in self.ahead_pages.values():
            if page is not None and page.file_path == path:
                return page
        found = find_page_by_file(tx, self.state, path)
        return found if found is not None and found.id not in self.ahead_pages else None

    def item_of_path(self, tx: Transaction, path: str) -> Item | None:
        for item in self.ahead_items.values():
            if item is not None and item.path == path:
                return item
        found = find_item_by_path(tx, self.state, path)
        return found if found is not None and found.id not in self.ahead_items else None

    def all_pages(self, tx: Transaction) -> dict[str, Page]:
        found = {page.id: page for page in list_pages(tx, self.state) if page.id not in self.ahead_pages}
        return found | {id: page for id, page in self.ahead_pages.items() if page is not None}

    def all_items(self, tx: Transaction) -> dict[str, Item]:
        found = {
            item.id: item
            for kind in ITEM_KINDS
            for item in list_items(tx, self.state, kind)
            if item.id not in self.ahead_items
        }
        return found | {id: item for id, item in self.ahead_items.items() if item is not None}

    def with_changes(self, theirs: Versions) -> SyncedState:
        """Return this state with further changes from the repository."""
        return SyncedState(
            self.state, {**self.ahead_pages, **theirs.pages}, {**self.ahead_items, **theirs.items}
        )


def same_page(one: Page | None, two: Page | None) -> bool:
    """Return whether two versions have the same content, ignoring timestamps."""
    if one is None or two is None:
        return one is two
    return replace(one, updated_at=two.updated_at, created_at=two.created_at) == two


def same_item(one: Item | None, two: Item | None) -> bool:
    if one is None or two is None:
        return one is two
    return replace(one, created_at=two.created_at) == two


def sides_beside(
    tx: Transaction,
    agreed: SyncedState,
    theirs: Versions,
    main: State,
    page_ids: set[str],
    item_ids: set[str],
) -> Sides:
    """Return the two sides for merging the repository into the main version, relative to their common state. The
    repository's side has the same format as a change request."""
    base_pages, base_items = agreed.find_pages(tx, page_ids), agreed.find_items(tx, item_ids)
    pages, items = find_pages(tx, main, page_ids), find_items(tx, main, item_ids)

    def page_of(now: Page | None, id: str) -> Page | None:
        return base_pages.get(id) if same_page(now, base_pages.get(id)) else now

    def item_of(now: Item | None, id: str) -> Item | None:
        return base_items.get(id) if same_item(now, base_items.get(id)) else now

    return Sides(
        Versions(base_pages, base_items),
        Versions(
            {id: page_of(page, id) for id, page in theirs.pages.items()},
            {id: item_of(item, id) for id, item in theirs.items.items()},
        ),
        Versions(
            {id: page_of(pages.get(id), id) for id in page_ids},
            {id: item_of(items.get(id), id) for id in item_ids},
        ),
    )
