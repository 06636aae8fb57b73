"""How long the log of calls and the vectors of texts are kept."""

from __future__ import annotations

from ..kit import deadlines, jobs
from ..kit.allowances import DAY
from ..kit.clock import now
from ..kit.context import Context
from . import store

MAX_VECTORS = 100_000
"""Vectors that are kept in all, those that were used last."""
_VECTOR_DAYS = 30
"""Days for which a vector is kept that nobody uses."""


@jobs.job("pruneModelCalls", bound=None, seconds=600)
def prune_calls(context: Context) -> None:
    """Deletes calls past the time they are kept for, in small transactions."""
    before = now() - context.settings.llm_log_days * DAY
    while True:
        deadlines.check()
        with context.db.write() as tx:
            if not store.prune_calls(tx, before):
                return
            jobs.advance(tx)


jobs.schedule("pruneModelCalls", 3600, "pruneModelCalls")


@jobs.job("pruneEmbeddings", bound=None, seconds=600)
def prune_embeddings(context: Context) -> None:
    """Deletes the vectors that nobody used for long, or that are too many, in small transactions."""
    with context.db.read() as tx:
        until = max(now() - _VECTOR_DAYS * DAY, store.find_oldest_kept(tx, MAX_VECTORS))
    while True:
        deadlines.check()
        with context.db.write() as tx:
            if not store.prune_vectors(tx, until):
                return
            jobs.advance(tx)


jobs.schedule("pruneEmbeddings", 3600, "pruneEmbeddings")
