"""Add a batch of steps to the rows of a live page."""

from __future__ import annotations

from msgspec.structs import replace

from octavo.kit.clock import now
from octavo.kit.db.database import Transaction

from . import store
from .documents import LivePage
from .store import LiveRow, PageKey

PAUSE = 3_000
_LONGEST = 15_000
"""Times in milliseconds after which a page is saved: ``PAUSE`` after the last step, or, if that is earlier,
``_LONGEST`` after the first unsaved step."""


def add_batch(tx: Transaction, key: PageKey, row: LiveRow, page: LivePage) -> LiveRow:
    """Write the last batch of a page, and return the page's updated row."""
    store.insert_batch(tx, key, page.tail[-1].row)
    return schedule_save(tx, key, replace(row, version=page.version))


def schedule_save(tx: Transaction, key: PageKey, row: LiveRow) -> LiveRow:
    """Record the version of a page that has unsaved steps, schedule its next save, and return the page's updated
    row."""
    moment = now()
    if row.unsaved_since is None:
        tx.live = (
            False  # Reads of the branch, whose cached values depend on this, wait for a save from now on.
        )
    since = row.unsaved_since or moment
    save_at = min(moment + PAUSE, since + _LONGEST)
    store.set_version(tx, key, row.version, since, save_at, moment)
    return replace(row, unsaved_since=since, save_at=save_at, touched_at=moment)
