"""Check whether changes computed for one head of main can be written on top of a later head.

Writers compute changes without a lock, so other writers may create revisions in the meantime. If those revisions
changed only the content and fields of other pages, and nothing that either side refers to, the order makes no
difference, and neither writer has to start again.
"""

from __future__ import annotations

from octavo.core.pages import Page
from octavo.kit.db.database import Transaction

from .deriving import PreparedParts, is_still_true
from .page_versions import find_pages
from .states import State, list_changed, lock_branch, main_state
from .store import BranchMoved, Changes

_MOST = 500
"""Maximum number of concurrently changed pages. If there are more, the changes are computed again."""


def lock_main(tx: Transaction, state: State, changes: Changes, prepared: PreparedParts) -> State:
    """Lock the head of main until the transaction ends, and return it. Raises BranchMoved if ``changes``, which were
    computed for the earlier head ``state``, don't apply to it unchanged."""
    lock_branch(tx, state.layers[0].branch_id)
    head = main_state(tx, state.space_id)
    if head.layers == state.layers:
        return state
    (there,), (here,) = head.layers, state.layers
    if there.branch_id != here.branch_id or changes.items:
        raise BranchMoved
    moved = list_changed(tx, there, after=here.sequence)
    if moved.items or len(moved.pages) > _MOST or not moved.pages.isdisjoint(changes.pages):
        raise BranchMoved
    before, after = find_pages(tx, state, moved.pages), find_pages(tx, head, moved.pages)
    # Neither side adds or moves a page, so no limit on their number or depth can be exceeded.
    if not prepared.in_place or not all(_keeps_place(before.get(id), after.get(id)) for id in moved.pages):
        raise BranchMoved
    if not is_still_true(tx, state.space_id, changes, moved.pages, prepared):
        raise BranchMoved
    return head


def is_in_place(tx: Transaction, state: State, changes: Changes) -> bool:
    """Return whether all changed pages keep their positions and names."""
    before = find_pages(tx, state, changes.pages)
    return all(_keeps_place(before.get(id), page) for id, page in changes.pages.items())


def _keeps_place(before: Page | None, after: Page | None) -> bool:
    """Return whether a page keeps its position and names."""
    return before is not None and after is not None and _place(before) == _place(after)


def _place(page: Page) -> tuple[object, ...]:
    return page.parent, page.rank, page.slug, page.kind, page.file_path
