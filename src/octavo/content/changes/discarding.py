"""Delete empty drafts, which are created when someone opens the editor and leaves without making a change."""

from __future__ import annotations

from octavo.errors import Conflict
from octavo.kit.clock import DAY, now
from octavo.kit.context import Context
from octavo.kit.work import jobs

from . import store
from .pending import has_pending, try_to_save_pending

DAYS = 7
"""Number of days after which an empty draft is deleted if it wasn't discarded, for example because a tab was closed or
the browser was offline."""
_AT_ONCE = 100


def discard(context: Context, change_id: str) -> None:
    """Delete an empty draft. Raises Conflict if it isn't empty."""
    try_to_save_pending(context, change_id)
    with context.db.write() as tx:
        change = store.lock_change(tx, change_id)
        if not store.is_empty_draft(tx, change.id) or has_pending(tx, change.branch_id):
            raise Conflict("This change request isn't empty, so it can't be discarded. Archive it instead.")
        store.delete_change(tx, change)


@jobs.job("discardEmptyDrafts", bound=None)
def discard_empty_drafts(context: Context) -> None:
    """Delete drafts that have been empty for a week."""
    before = now() - DAYS * DAY
    while True:
        with context.db.write() as tx:
            found = store.list_empty_drafts(tx, before, _AT_ONCE)
            for change_id in found:
                change = store.lock_change(tx, change_id)
                if not has_pending(tx, change.branch_id):
                    store.delete_change(tx, change)
        if len(found) < _AT_ONCE:
            return
        jobs.renew()


jobs.schedule("discardEmptyDrafts", 86_400, "discardEmptyDrafts")
