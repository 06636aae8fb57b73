"""Whether what was computed for one head of main may be written over a later one.

Writers compute without a lock, so others may make revisions meanwhile. Where those changed the texts and fields of
other pages only, and nothing that either side refers to, the order of the two makes no difference: nobody has to
begin again.
"""

from __future__ import annotations

from typing import Any

from octavo.core.pages import Page
from octavo.kit.db.database import Transaction

from .deriving import PreparedParts, is_still_true
from .store import BranchMoved, Changes, State, find_pages, list_changed, lock_branch, main_state

_MOST = 500
"""Pages that others changed; what was computed beside more of them is computed anew."""


def lock_main(tx: Transaction, state: State, changes: Changes, prepared: PreparedParts) -> State:
    """The head of main, locked until the transaction ends, over which ``changes`` of an earlier head ``state`` mean
    the same. Raises BranchMoved where they may not."""
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
    # So neither side adds or moves a page: the space holds no more, and nothing lies deeper.
    if not prepared.in_place or not all(_stays(before.get(id), after.get(id)) for id in moved.pages):
        raise BranchMoved
    if not is_still_true(tx, state.space_id, changes, moved.pages, prepared):
        raise BranchMoved
    return head


def is_in_place(tx: Transaction, state: State, changes: Changes) -> bool:
    """Whether all pages that change stay where they are, under the same names."""
    before = find_pages(tx, state, changes.pages)
    return all(_stays(before.get(id), page) for id, page in changes.pages.items())


def _stays(before: Page | None, after: Page | None) -> bool:
    """Whether a page is where it was, under the same names."""
    return before is not None and after is not None and _place(before) == _place(after)


def _place(page: Page) -> tuple[Any, ...]:
    return page.parent, page.rank, page.slug, page.kind, page.file_path
