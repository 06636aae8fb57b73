"""Write many rows in several short transactions, so that other transactions can write in between."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from octavo.kit.scheduling import deadlines
from octavo.kit.scheduling.permits import waiting

from .database import Database, Transaction

PAUSE = 0.1
"""Number of seconds to pause between two transactions. After each commit, all processes have to revalidate their
caches."""


@contextmanager
def short_write(db: Database) -> Iterator[Transaction]:
    """Run one of many short write transactions, with a pause after it. Call it outside any transaction.
    Raises the errors of ``deadlines.check``."""
    deadlines.check()
    with db.write() as tx:
        yield tx
    with waiting():
        time.sleep(PAUSE)
