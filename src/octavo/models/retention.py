"""How long the log of calls is kept."""

from __future__ import annotations

from ..kit import deadlines, jobs
from ..kit.allowances import DAY
from ..kit.clock import now
from ..kit.context import Context
from . import store


@jobs.job("pruneModelCalls", seconds=600)
def prune_calls(context: Context) -> None:
    """Deletes calls past the time they are kept for, in small transactions."""
    before = now() - context.settings.llm_log_days * DAY
    while True:
        deadlines.check()
        with context.db.write() as tx:
            if not store.prune_calls(tx, before):
                return


jobs.schedule("pruneModelCalls", 3600, "pruneModelCalls")
