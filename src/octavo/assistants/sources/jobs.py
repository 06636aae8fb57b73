"""Jobs that sync connections on request and every hour."""

from __future__ import annotations

from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.work import jobs

from . import store
from .connectors.registry import PULLED
from .syncing import JOB, sync_connection

_EVERY = 3600.0


@jobs.job(JOB, bound=None, attempts=3, seconds=120, waits=True)
def run_sync(context: Context, connection_id: str) -> None:
    """Sync a connection in batches."""
    try:
        sync_connection(context, connection_id)
    except Exception:
        with context.db.write() as tx:
            store.update_connection(
                tx,
                connection_id,
                status="failed",
                failure_reason="unknown",
                failure_message="The sync failed unexpectedly. See the server log for details.",
            )
        raise


@jobs.job("syncSources", bound="one row for each connection")
def sync_all(context: Context) -> None:
    """Sync every connection that wasn't synced in the last hour."""
    with context.db.write() as tx:
        for connection_id, organization_id in store.list_due(tx, now() - int(_EVERY * 1000), PULLED):
            jobs.enqueue(
                tx,
                JOB,
                organization=organization_id,
                key=f"{JOB} {connection_id}",
                connection_id=connection_id,
            )
        jobs.finish(tx)


jobs.schedule("syncSources", _EVERY, "syncSources")
