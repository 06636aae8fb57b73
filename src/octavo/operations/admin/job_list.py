"""Job lists for ``octavo jobs``, with pending, running, and failed (parked) jobs, for people and for scripts."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from octavo.kit.clock import iso
from octavo.kit.context import Context
from octavo.kit.work import jobs
from octavo.kit.work.jobs import JobRow, State
from octavo.kit.work.outbox import count_waiting


class JobPage(Struct):
    """First page of a job list, parked jobs first. It also contains the total number of jobs and the number of
    pending events by consumer. Failed events are jobs of the kind ``deliverEvent``."""

    jobs: list[dict[str, Any]]
    count: int
    events: dict[str, int]


def list_jobs(context: Context, *, state: State | None, kind: str | None, limit: int) -> JobPage:
    with context.db.read() as tx:
        found, count = jobs.list_jobs(tx, state=state, kind=kind, limit=limit)
        return JobPage([present(row) for row in found], count, count_waiting(tx))


def get_job(context: Context, job_id: str) -> dict[str, object]:
    """Return a job with its payload and its last error. Raises NotFound if it doesn't exist."""
    with context.db.read() as tx:
        row = jobs.get_job(tx, job_id)
    return {**present(row), "payload": row.payload, "error": row.error}


def retry_jobs(context: Context, job_ids: list[str] | None, kind: str | None) -> int:
    """Run these parked jobs again or, by default, all parked jobs (or those of one kind), and return the number of
    jobs. Raises NotFound if an ID doesn't belong to a parked job."""
    with context.db.write() as tx:
        return jobs.retry_parked(tx, job_ids, kind=kind)


def present(row: JobRow) -> dict[str, object]:
    """Return a job in the format of the command's output, with times in ISO 8601 format. ``problem``: the last line
    of the error."""
    return {
        "id": row.id,
        "kind": row.kind,
        "state": row.state,
        "organization": row.organization_id or None,
        "attempts": row.attempts,
        "createdAt": iso(row.created_at),
        "runAt": iso(row.run_at),
        "problem": row.error.strip().rpartition("\n")[2][:200] if row.error else None,
    }
