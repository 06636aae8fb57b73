"""Durable background jobs. A job is stored in the same database as the change that causes it.

A job is a row that is written in the same transaction as the change that causes it, leased by one worker at a time,
and deleted when the job is done. A job runs at least once, so handlers are idempotent. A handler that writes to the
same database calls ``finish(tx)`` in that transaction, so that its effect happens exactly once. The wait before each
retry of a failed job gets longer. After the last attempt, the job is ``parked``.

A job's time is limited, so each kind of job declares how its work is limited. A job whose work grows with the
content continues in parts: each part has the whole time limit, and after a failure, the job continues with the part
that failed (``advance``).

States: ``later`` (scheduled), ``ready``, ``running`` (leased), ``parked`` (failed permanently). ``worker.py`` runs
the jobs, and shares its threads fairly among kinds and organizations.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, Literal, NamedTuple, TypeVar
from weakref import WeakSet

import msgspec
from msgspec import Struct

from octavo.errors import NotFound
from octavo.kit.clock import now
from octavo.kit.db.database import Database, Row, Transaction
from octavo.kit.db.tables import Table, declare
from octavo.kit.ids import new_id
from octavo.kit.observability import tracing
from octavo.kit.scheduling import deadlines
from octavo.kit.scheduling.deadlines import Deadline

declare(*(Table(name=name, stays="the server's own") for name in ("jobs", "schedules")))

F = TypeVar("F", bound=Callable[..., None])

ATTEMPTS = 10
SECONDS = 60.0
"""Default time limit of a job in seconds. Jobs of kinds with a higher limit count as long jobs."""

Group = Literal["short", "long", "waiting"]
State = Literal["waiting", "running", "parked"]
STATES: dict[State, tuple[str, ...]] = {
    "parked": ("parked",),
    "running": ("running",),
    "waiting": ("ready", "later"),
}
"""States to show to people, in display order, each with the row states that it represents."""


class Kind(NamedTuple):
    """Kind of job: its function, what limits the work of one job (None if the job continues in parts), the number
    of attempts, and the time limit in seconds for one attempt or part. ``waits``: whether its jobs mostly wait for
    other servers. ``in_maintenance``: whether they run while the server is read-only."""

    run: Callable[..., None]
    bound: str | None
    attempts: int
    seconds: float
    waits: bool = False
    in_maintenance: bool = False

    @property
    def group(self) -> Group:
        """Return the group of this kind. The jobs of a group share its threads, and don't use the threads of other
        groups."""
        if self.waits:
            return "waiting"
        return "long" if self.bound is None or self.seconds > SECONDS else "short"


class Schedule(NamedTuple):
    """Schedule that runs a job of ``kind`` at an interval in milliseconds."""

    every: int
    kind: str


class JobRow(NamedTuple):
    """Background job. ``organization_id``: the organization; empty for the server's own jobs. ``error``: the error
    from the last attempt. The last line of the error describes the problem. Times are in milliseconds."""

    id: str
    kind: str
    organization_id: str
    state: State
    payload: dict[str, Any]
    attempts: int
    created_at: int
    run_at: int
    lease_until: int | None
    error: str | None


class JobCount(Struct, frozen=True):
    """Number of jobs of a kind in a state. ``oldest``: the time in milliseconds at which the oldest of these jobs
    was due."""

    kind: str
    state: State
    count: int
    oldest: int


class LeaseLost(Exception):
    """Raised if another worker has taken over the job. The current run must then have no effect."""


class Leased:
    """Leased job that has been due since ``run_at``. ``trace``: the trace of its cause. ``attempts``: the number of
    attempts, including the current attempt. ``give_back``: a function that releases its thread. ``finished``:
    whether one of its transactions has already finished the job."""

    def __init__(
        self,
        id: str,
        kind: str,
        payload: str,
        attempts: int,
        organization: str,
        run_at: int,
        trace: str | None,
        give_back: Callable[[], None],
    ) -> None:
        self.id = id
        self.kind = kind
        self.payload = payload
        self.attempts = attempts
        self.organization = organization
        self.run_at = run_at
        self.trace = trace
        self.lease = new_id()
        self.deadline = Deadline(kinds[kind].seconds)
        self.given_up = False
        self.finished = False
        self.give_back = give_back


kinds: dict[str, Kind] = {}
former_kinds: dict[str, str] = {}
"""Current kinds by their former names. During an upgrade, processes of the previous version add jobs under the former
names."""
schedules: dict[str, Schedule] = {}
feeders: list[Callable[[Database], bool]] = []
running: ContextVar[Leased | None] = ContextVar("octavo_job", default=None)
"""Job that is running in this thread, with its lease."""
_bells: WeakSet[threading.Event] = WeakSet()


def job(
    kind: str,
    *,
    bound: str | None,
    attempts: int = ATTEMPTS,
    seconds: float = SECONDS,
    waits: bool = False,
    in_maintenance: bool = False,
    formerly: str | None = None,
) -> Callable[[F], F]:
    """Register ``function(context, **payload)`` as the handler for jobs of this kind.

    ``bound``: what limits the work of one job; None if jobs of this kind continue in parts and report each part
    (``advance``, ``renew``). ``waits``: whether its jobs mostly wait for other servers. ``in_maintenance``: whether
    its jobs run while the server is read-only, because they don't change content that people wrote. ``seconds``:
    the time after which an attempt or a part fails. The function must check this limit in its loops, using
    ``deadlines``. ``formerly``: the former name of the kind.
    """

    def register(function: F) -> F:
        if kind in kinds:
            raise ValueError(f"the job kind {kind!r} has two handlers")
        kinds[kind] = Kind(function, bound, attempts, seconds, waits, in_maintenance)
        if formerly is not None:
            former_kinds[formerly] = kind
        return function

    return register


def schedule(name: str, every: float, kind: str) -> None:
    """Schedule a job of ``kind`` without a payload at an interval in seconds. All workers together run the job only
    once per interval."""
    schedules[name] = Schedule(int(every * 1000), kind)


def feeder(function: Callable[[Database], bool]) -> Callable[[Database], bool]:
    """Register a function that every worker calls before looking for jobs. If the function returns True, it
    is called again immediately."""
    feeders.append(function)
    return function


def enqueue(
    tx: Transaction,
    kind: str,
    *,
    organization: str | None = None,
    key: str | None = None,
    run_at: int | None = None,
    **payload: object,
) -> None:
    """Add a job to the transaction. The workers of this process wake up after the transaction commits.

    ``organization``: the organization that the job is for. Jobs of different organizations take turns. ``key``: the
    key of the job. If a job with this key is still waiting for its first run, the new job is skipped. ``run_at``:
    the time in milliseconds. The payload consists of IDs and a version number, as JSON.
    """
    moment = now()
    due = moment if run_at is None else run_at
    tx.run(
        "INSERT INTO jobs (id, kind, organization_id, state, payload, unique_key, run_at, created_at, trace)"
        " VALUES (:id, :kind, :organization, :state, :payload, :key, :run_at, :now, :trace)"
        " ON CONFLICT (unique_key) DO NOTHING",
        id=new_id(),
        kind=kind,
        organization=organization or "",
        state="ready" if due <= moment else "later",
        payload=msgspec.json.encode(payload).decode(),
        key=key,
        run_at=due,
        now=moment,
        trace=tracing.cause(),
    )
    tx.after_commit(wake)


def finish(tx: Transaction) -> None:
    """Finish this thread's job together with the transaction, so that its effect happens exactly once.

    If another worker has taken over the job, this raises LeaseLost, so that the transaction is rolled back. Outside a
    job, this does nothing, so that handlers can be called directly.
    """
    run = running.get()
    if run is None:
        return
    if not delete(tx, run.id, run.lease):
        raise LeaseLost(run.id)
    tx.after_commit(lambda: setattr(run, "finished", True))


def advance(tx: Transaction, **payload: object) -> None:
    """Record in the transaction that a part of this thread's job is done. The job then continues with these values in
    its payload, and with all of its attempts and its full time limit.

    If another worker has taken over the job, this raises LeaseLost, so that the transaction is rolled back. Outside a
    job, this does nothing.
    """
    run = running.get()
    if run is None:
        return
    rest = msgspec.json.encode({**msgspec.json.decode(run.payload), **payload}).decode()
    if not tx.run(
        "UPDATE jobs SET payload = :payload, attempts = 1 WHERE id = :id AND lease = :lease",
        id=run.id,
        payload=rest,
        lease=run.lease,
    ):
        raise LeaseLost(run.id)

    def begin_next() -> None:
        run.payload, run.attempts = rest, 1
        run.deadline.renew()

    tx.after_commit(begin_next)


def run_parts(db: Database, part: Callable[[Transaction], object]) -> None:
    """Run ``part`` in one write transaction after another until it returns a falsy value, such as 0 for the number
    of deleted rows. Each transaction is a part of this thread's job (``advance``). Raises the errors of
    ``deadlines.check``."""
    has_more: object = True
    while has_more:
        deadlines.check()
        with db.write() as tx:
            has_more = part(tx)
            advance(tx)


def renew() -> None:
    """Check the deadline of the current work, and renew the time limit of this thread's job. Call this after each part
    of a job, when the result of the part has been stored or isn't needed yet. Outside a job, only check the
    deadline."""
    deadlines.check()
    run = running.get()
    if run is not None:
        run.deadline.renew()


def delete(tx: Transaction, job_id: str, lease: str) -> bool:
    """Delete a leased job. Return False if the lease is no longer valid."""
    return bool(tx.run("DELETE FROM jobs WHERE id = :id AND lease = :lease", id=job_id, lease=lease))


def wake() -> None:
    """Wake the workers of this process to look for jobs."""
    for bell in list(_bells):
        bell.set()


def listen(bell: threading.Event) -> None:
    """Register an event for ``wake`` to set. It stays registered until it is garbage-collected."""
    _bells.add(bell)


# --- presentation ---------------------------------------------------------------------------------------

_ROW = "id, kind, organization_id, state, payload, attempts, created_at, run_at, lease_until, error"
_SHOWN: dict[str, State] = {state: shown for shown, states in STATES.items() for state in states}


def list_jobs(
    tx: Transaction,
    *,
    state: State | None = None,
    kind: str | None = None,
    limit: int = 100,
    after: tuple[int, str] | None = None,
) -> tuple[list[JobRow], int]:
    """Return jobs and the total number of jobs. Parked jobs come first, then running jobs, then waiting jobs.
    Within a state, the newest job comes first.

    ``after``: the job after which the list continues, given as the position of its state in ``STATES`` and its ID.
    """
    found: list[JobRow] = []
    count = 0
    for place, (shown, states) in enumerate(STATES.items()):
        if state not in (None, shown):
            continue
        where = f"state IN :states{' AND kind = :kind' if kind else ''}"
        given: dict[str, Any] = {"states": states, **({"kind": kind} if kind else {})}
        count += tx.value(f"SELECT count(*) FROM jobs WHERE {where}", **given)
        if after is not None and place < after[0]:
            continue
        rows = tx.all(
            f"SELECT {_ROW} FROM jobs WHERE {where} AND id < :before ORDER BY id DESC LIMIT :limit",
            limit=limit - len(found),
            before=after[1] if after is not None and place == after[0] else "~",
            **given,
        )
        found += map(_job, rows)
    return found, count


def get_job(tx: Transaction, job_id: str) -> JobRow:
    """Return a job. Raises NotFound if it doesn't exist."""
    row = tx.one(f"SELECT {_ROW} FROM jobs WHERE id = :id", id=job_id)
    if row is None:
        raise NotFound(f"There is no job with the ID {job_id!r}. Completed jobs are deleted.")
    return _job(row)


def count_jobs(tx: Transaction) -> list[JobCount]:
    """Return the number of jobs by kind and state, excluding scheduled jobs."""
    rows = tx.all(
        "SELECT kind, state, count(*), min(run_at) FROM jobs WHERE state <> 'later' GROUP BY kind, state"
    )
    return [JobCount(kind, _SHOWN[state], count, oldest) for kind, state, count, oldest in rows]


def count_later(tx: Transaction) -> int:
    """Return the number of scheduled jobs."""
    return int(tx.value("SELECT count(*) FROM jobs WHERE state = 'later'"))


def retry_parked(tx: Transaction, job_ids: Sequence[str] | None = None, *, kind: str | None = None) -> int:
    """Reset the attempts of these parked jobs or, by default, of all parked jobs (or those of one kind), and return
    the number of jobs.

    Raises NotFound if an ID doesn't belong to a parked job.
    """
    conditions = ["state = 'parked'"]
    if job_ids is not None:
        conditions.append("id IN :ids")
    if kind is not None:
        conditions.append("kind = :kind")
    count = tx.run(
        f"UPDATE jobs SET state = 'ready', attempts = 0, run_at = :now WHERE {' AND '.join(conditions)}",
        now=now(),
        ids=job_ids or (),
        kind=kind,
    )
    if job_ids is not None and count < len(set(job_ids)):
        raise NotFound(
            "At least one of these jobs hasn't failed, and only failed jobs can be retried. Nothing was"
            " changed."
        )
    tx.after_commit(wake)
    return count


def _job(row: Row) -> JobRow:
    found = JobRow(*row)
    return found._replace(state=_SHOWN[found.state], payload=msgspec.json.decode(row[4]))
