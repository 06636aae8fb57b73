"""Retention of model call logs and vectors."""

from __future__ import annotations

from octavo.kit.clock import DAY, now
from octavo.kit.context import Context
from octavo.kit.work import jobs

from . import store

MAX_VECTORS = 100_000
"""Maximum number of vectors to keep. The most recently used vectors are kept."""
_VECTOR_DAYS = 30
"""Number of days for which unused vectors are kept."""


@jobs.job("pruneModelCalls", bound=None, seconds=600)
def prune_calls(context: Context) -> None:
    """Delete logged calls after their retention period, in small transactions."""
    before = now() - context.settings.llm_log_days * DAY
    jobs.run_parts(context.db, lambda tx: store.prune_calls(tx, before))


jobs.schedule("pruneModelCalls", 3600, "pruneModelCalls")


@jobs.job("pruneEmbeddings", bound=None, seconds=600)
def prune_embeddings(context: Context) -> None:
    """Delete vectors that haven't been used for a long time or exceed the limit, in small transactions."""
    with context.db.read() as tx:
        until = max(now() - _VECTOR_DAYS * DAY, store.find_oldest_kept(tx, MAX_VECTORS))
    jobs.run_parts(context.db, lambda tx: store.prune_vectors(tx, until))


jobs.schedule("pruneEmbeddings", 3600, "pruneEmbeddings")
