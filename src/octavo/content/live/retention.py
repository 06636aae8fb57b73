"""Delete obsolete data of live pages."""

from __future__ import annotations

from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.work import jobs

from . import store
from .accepting import EPOCH_LIFETIME
from .documents import encode_document, load_page

_AT_ONCE = 500
_PAGES_AT_ONCE = 20


@jobs.job("pruneLivePages", bound=None)
def prune_live_pages(context: Context) -> None:
    """Delete old steps, live pages that are no longer edited, and expired carets."""
    before = now() - EPOCH_LIFETIME
    with context.db.write() as tx:
        store.remove_ended_carets(tx)
        store.remove_finished(tx, before)
    while True:
        # Steps can only be deleted once a stored document contains them, so update outdated documents first.
        with context.db.read() as tx:
            keys = store.list_outdated_snapshots(tx, before, _PAGES_AT_ONCE)
        for key in keys:
            with context.db.write() as tx:
                row = store.lock_live(tx, key)
                if row is not None:
                    store.put_snapshot(tx, key, row.version, encode_document(load_page(tx, key, row).doc))
        with context.db.write() as tx:
            removed = store.remove_old(tx, before, _AT_ONCE)
        if not keys and removed < _AT_ONCE:
            return
        jobs.renew()


jobs.schedule("pruneLivePages", 3600, "pruneLivePages")
