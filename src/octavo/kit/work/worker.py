"""Run jobs in threads that are shared fairly.

Short jobs, long jobs, and jobs that wait for other servers have separate threads. Kinds of jobs take turns, and so
do organizations within a kind. In each group of threads, an organization uses at most its share, and one kind of
its jobs uses at most a part of that share (``kit.scheduling.shares``). The next job is found through an index, at a
cost that doesn't grow with the number of waiting jobs.
"""

from __future__ import annotations

import logging
import random
import threading
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial

import msgspec

from octavo.errors import Unavailable
from octavo.kit.clock import HOUR, now
from octavo.kit.db.database import Database, Transaction
from octavo.kit.observability import logs, tracing
from octavo.kit.scheduling.deadlines import DeadlineExceeded, within
from octavo.kit.scheduling.owners import done_for
from octavo.kit.scheduling.permits import compute_aside
from octavo.kit.scheduling.shares import Shares

from . import jobs
from .job_hours import add_jobs
from .jobs import Kind, Leased, LeaseLost
from .maintenance import find_maintenance

log = logging.getLogger(__name__)

FIRST_RETRY = 5_000
"""Time in milliseconds before the first retry. It is doubled with each further retry."""
LONGEST_RETRY = HOUR
_BATCH = 200
_COUNTED_EVERY = 10.0
"""Number of seconds after which completed jobs are added to the counts of the current hour."""
_UNKNOWN_FOR = 2 * 86_400_000
"""Time in milliseconds after which due jobs are parked if no process knows their kind."""
_REST = 0.05
"""Number of seconds between two checks for events, so that the events of many commits are processed in one
transaction. With a transaction for each commit, the committing threads would have to wait for the lock and the
interpreter."""


class Worker:
    """Worker that runs jobs in threads: ``threads`` for short jobs, the same number for long jobs, and twice as
    many for jobs that wait for other servers. ``context``: the first argument of every handler.

    A lease lasts ``lease`` seconds and is renewed while the job runs. If a worker is killed, another worker takes
    over its jobs ``lease`` seconds after the last renewal. A job that is still running ``grace`` seconds after its
    time limit counts as failed. Its thread then loses the job and can no longer have any effect. Jobs added by
    other processes are found within ``poll`` seconds.
    """

    def __init__(
        self,
        database: Database,
        context: object,
        *,
        threads: int = 4,
        lease: float = 60,
        grace: float = 5,
        poll: float = 1,
    ) -> None:
        self._database = database
        self._context = context
        each = (max(1, threads - 1), max(1, threads // 2))
        self._groups: dict[jobs.Group, Shares] = {
            "short": Shares("short jobs are running", threads, each),
            "long": Shares("long jobs are running", threads, each),
            "waiting": Shares("jobs are waiting for other servers", 2 * threads, (threads, threads)),
        }
        self._threads = sum(places.size for places in self._groups.values())
        self._lease = int(lease * 1000)
        self._grace = grace
        self._poll = poll
        self._wake = threading.Event()
        self._lock = threading.Lock()
        self._active: dict[str, Leased] = {}
        self._turns: list[str] = []
        self._served: dict[str, str] = {}
        self._done = self._failed = 0
        jobs.listen(self._wake)

    def run_forever(self, stop: threading.Event) -> None:
        """Run jobs until ``stop`` is set. Jobs that are already running are finished. Call ``jobs.wake()`` to make the
        worker notice ``stop`` immediately."""
        done = threading.Event()
        heart = threading.Thread(target=self._beat, args=(done,), name="octavo-lease", daemon=True)
        heart.start()
        fed_at = -_REST
        try:
            with ThreadPoolExecutor(self._threads, thread_name_prefix="octavo-job") as pool:
                while not stop.is_set():
                    self._wake.clear()
                    rest = fed_at + _REST - time.monotonic()
                    more = False
                    try:
                        if rest <= 0:
                            more = self._feed()
                            fed_at = time.monotonic()
                        for found in self._claim(self._threads):
                            pool.submit(self._run_and_wake, found)
                    except Unavailable as error:
                        # The database may be unreachable for a while; a worker survives that.
                        log.warning("jobs can't be fetched: %s", error.message)
                        more = False
                    except Exception:
                        log.exception("jobs can't be fetched")
                        more = False
                    if not more:
                        self._wake.wait(rest if rest > 0 else self._poll)
        finally:
            done.set()
            heart.join()
            self._record_counts()

    def run_pending(self) -> int:
        """Run all due jobs in this thread, including jobs that these jobs create, and return the number of jobs."""
        count, more = 0, True
        while more:
            more = self._feed()
            while found := self._claim(1):
                self._run(found[0])
                count, more = count + 1, True
        return count

    def _feed(self) -> bool:
        self._enqueue_scheduled()
        return any([feed(self._database) for feed in jobs.feeders])

    def _enqueue_scheduled(self) -> None:
        moment = now()
        with self._database.read() as tx:
            known: dict[str, int] = dict(tx.all("SELECT name, next_at FROM schedules"))
        if all(known.get(name, 0) > moment for name in jobs.schedules):
            return
        with self._database.write() as tx:
            _park_unknown(tx)
            for name, (every, kind) in sorted(jobs.schedules.items()):
                tx.run(
                    "INSERT INTO schedules (name, next_at) VALUES (:n, 0) ON CONFLICT (name) DO NOTHING",
                    n=name,
                )
                if tx.run(
                    "UPDATE schedules SET next_at = :next WHERE name = :name AND next_at <= :now",
                    next=moment + every,
                    name=name,
                    now=moment,
                ):
                    jobs.enqueue(tx, kind, key=f"schedule:{name}")

    # --- choice of the next job -----------------------------------------------------------------------

    def _claim(self, count: int) -> list[Leased]:
        """Lease up to ``count`` due jobs of kinds that this process knows and has room for."""
        if len(self._turns) < len(jobs.kinds):
            self._turns += sorted(jobs.kinds.keys() - self._turns)
        if not any(places.has_room for places in self._groups.values()):
            return []
        with self._database.read() as tx:
            # An idle worker takes no lock.
            if not (self._free_kinds(_ready_kinds(tx), tx) or _is_anything_overdue(tx)):
                return []
        leased: list[Leased] = []
        try:
            with self._database.write() as tx:
                _make_ready(tx)
                _rename_former(tx)
                ready = self._free_kinds(_ready_kinds(tx), tx)
                while len(leased) < count and (found := self._next(tx, ready)) is not None:
                    leased.append(found)
                    tx.run(
                        "UPDATE jobs SET state = 'running', attempts = :attempts, unique_key = NULL, lease = :lease,"
                        " lease_until = :until WHERE id = :id",
                        id=found.id,
                        attempts=found.attempts,
                        lease=found.lease,
                        until=now() + self._lease,
                    )
        except BaseException:
            for run in leased:
                run.give_back()
            raise
        with self._lock:
            self._active.update({found.lease: found for found in leased})
        return leased

    def _free_kinds(self, ready: set[str], tx: Transaction) -> set[str]:
        """Return the kinds of jobs that this process knows and that can run right now, regardless of their owner."""
        ready = {jobs.former_kinds.get(kind, kind) for kind in ready}
        known = {kind: jobs.kinds[kind] for kind in ready & jobs.kinds.keys()}
        paused = bool(known) and find_maintenance(tx) is not None
        return {
            name
            for name, kind in known.items()
            if self._groups[kind.group].has_room and (kind.in_maintenance or not paused)
        }

    def _next(self, tx: Transaction, ready: set[str]) -> Leased | None:
        for kind in list(self._turns):
            places = self._groups[jobs.kinds[kind].group]
            if kind not in ready or not places.has_room:
                continue
            for organization in _organizations(tx, kind, self._served.get(kind, "")):
                if not places.may_take((organization, kind)):
                    continue
                row = tx.one(
                    "SELECT id, payload, attempts, run_at, trace FROM jobs WHERE state = 'ready' AND kind = :kind"
                    f" AND organization_id = :organization ORDER BY run_at, id LIMIT 1{tx.skip_locked}",
                    kind=kind,
                    organization=organization,
                )
                if row is not None:
                    self._served[kind] = organization
                    self._turns.remove(kind)
                    self._turns.append(kind)
                    give_back = places.hold((organization, kind))
                    id, payload, attempts, run_at, trace = row
                    return Leased(id, kind, payload, attempts + 1, organization, run_at, trace, give_back)
        return None

    # --- leases ---------------------------------------------------------------------------------------

    def _beat(self, done: threading.Event) -> None:
        """Renew the leases of running jobs, and take jobs away from threads that exceed their time limit."""
        renewed = counted = time.monotonic()
        while not done.wait(min(self._lease / 3000, 1)):
            moment = time.monotonic()
            with self._lock:
                runs = [run for run in self._active.values() if not run.given_up]
            try:
                for run in runs:
                    if moment > run.deadline.at + self._grace:
                        kind = jobs.kinds[run.kind]
                        run.given_up = True
                        self._fail(
                            run, kind, DeadlineExceeded(f"the job took longer than {kind.seconds:g} seconds")
                        )
                if runs and moment - renewed >= self._lease / 3000:
                    with self._database.write() as tx:
                        tx.run(
                            "UPDATE jobs SET lease_until = :until WHERE id IN :ids AND lease IN :leases",
                            until=now() + self._lease,
                            ids=[run.id for run in runs],
                            leases=[run.lease for run in runs if not run.given_up],
                        )
            except Exception:
                log.exception("leases can't be renewed")
            if moment - renewed >= self._lease / 3000:
                renewed = moment
            if moment - counted >= _COUNTED_EVERY:
                counted = moment
                self._record_counts()

    def _record_counts(self) -> None:
        """Add the jobs that ran since the last call to the counts of the current hour. Errors are only logged,
        because a gap in the counts is acceptable."""
        with self._lock:
            done, failed = self._done, self._failed
            self._done = self._failed = 0
        if not done and not failed:
            return
        try:
            with self._database.write() as tx:
                add_jobs(tx, done, failed)
        except Exception:
            log.exception("jobs can't be counted")

    # --- running --------------------------------------------------------------------------------------

    def _run_and_wake(self, found: Leased) -> None:
        try:
            self._run(found)
        except Exception:
            # Even the failure could not be recorded: the lease expires and the job runs again.
            log.exception(
                "a job failed, but the failure couldn't be recorded; the job will run again when its lease expires",
                extra={"job": found.id, "kind": found.kind},
            )
        self._wake.set()

    def _run(self, found: Leased) -> None:
        kind = jobs.kinds[found.kind]
        token = jobs.running.set(found)
        try:
            with logs.bound(job=found.id, kind=found.kind), done_for((found.organization, "")):
                try:
                    with within(found.deadline), _traced(found):
                        payload = msgspec.json.decode(found.payload)
                        compute_aside(partial(kind.run, self._context, **payload))
                except LeaseLost:
                    log.warning("job taken over by another worker")
                except Exception as error:
                    self._fail(found, kind, error)
                else:
                    if not found.finished:
                        with self._database.write() as tx:
                            jobs.delete(tx, found.id, found.lease)
                    with self._lock:
                        self._done += 1
        finally:
            jobs.running.reset(token)
            with self._lock:
                self._active.pop(found.lease, None)
            found.give_back()

    def _fail(self, found: Leased, kind: Kind, error: Exception) -> None:
        last = found.attempts >= kind.attempts
        delay = min(FIRST_RETRY * 2 ** (found.attempts - 1), LONGEST_RETRY)
        with self._database.write() as tx:
            changed = tx.run(
                "UPDATE jobs SET state = :state, run_at = :run_at, error = :error, lease = NULL,"
                " lease_until = NULL WHERE id = :id AND lease = :lease",
                state="parked" if last else "later",
                run_at=now() + int(delay * random.uniform(0.5, 1)),  # noqa: S311 - spreads, hides nothing
                error="".join(traceback.format_exception(error))[-8000:],
                id=found.id,
                lease=found.lease,
            )
        if changed:
            if last:
                with self._lock:
                    self._failed += 1
            log.error(
                "job failed permanently" if last else "job failed",
                extra={"job": found.id, "kind": found.kind, "attempt": found.attempts},
                exc_info=error,
            )


@contextmanager
def _traced(found: Leased) -> Iterator[None]:
    """Run the block in a separate trace, which links to the cause of the job."""
    span = tracing.start(
        f"job {found.kind}",
        "consumer",
        {
            "octavo.job.id": found.id,
            "octavo.job.kind": found.kind,
            "octavo.job.attempt": found.attempts,
            "octavo.job.late.seconds": max(0, now() - found.run_at) / 1000,
            "octavo.organization.id": found.organization,
        },
        causes=[found.trace],
    )
    if span is None:
        yield
        return
    with logs.bound(trace_id=span.trace_id), tracing.running(span):
        yield


def _is_anything_overdue(tx: Transaction) -> bool:
    """Return whether a scheduled job is due, or whether the lease of a running job has expired."""
    moment = now()
    return (
        tx.one("SELECT 1 FROM jobs WHERE state = 'later' AND run_at <= :now LIMIT 1", now=moment) is not None
        or tx.one("SELECT 1 FROM jobs WHERE state = 'running' AND lease_until <= :now LIMIT 1", now=moment)
        is not None
    )


def _make_ready(tx: Transaction) -> None:
    """Mark due scheduled jobs and the jobs of crashed workers as ready. If a crashed worker was running the last
    attempt of a job, park the job."""
    moment = now()
    tx.run(
        f"""UPDATE jobs SET state = 'ready' WHERE id IN (SELECT id FROM jobs WHERE state = 'later'
              AND run_at <= :now ORDER BY run_at LIMIT {_BATCH}{tx.skip_locked})""",
        now=moment,
    )
    lost = tx.all(
        f"""SELECT id, kind, attempts FROM jobs WHERE state = 'running' AND lease_until <= :now
            ORDER BY lease_until LIMIT {_BATCH}{tx.skip_locked}""",
        now=moment,
    )
    for id, kind, attempts in lost:
        # Its last run ended silently: it may be crashing its workers.
        parked = kind in jobs.kinds and attempts >= jobs.kinds[kind].attempts
        error = "the worker crashed or lost its lease during the last attempt" if parked else None
        tx.run(
            "UPDATE jobs SET state = :state, lease = NULL, lease_until = NULL, error = coalesce(:error, error)"
            " WHERE id = :id",
            id=id,
            state="parked" if parked else "ready",
            error=error,
        )
        if parked:
            log.error("job failed permanently", extra={"job": id, "kind": kind, "error": error})


def _ready_kinds(tx: Transaction) -> set[str]:
    """Return the kinds with ready jobs. Each kind requires a single index lookup, regardless of the number of jobs."""
    return {
        kind
        for (kind,) in tx.all(
            """WITH RECURSIVE ready (kind) AS (
                 SELECT (SELECT kind FROM jobs WHERE state = 'ready' ORDER BY kind LIMIT 1)
                 UNION ALL
                 SELECT (SELECT jobs.kind FROM jobs WHERE state = 'ready' AND jobs.kind > ready.kind
                         ORDER BY jobs.kind LIMIT 1)
                 FROM ready WHERE ready.kind IS NOT NULL)
               SELECT kind FROM ready WHERE kind IS NOT NULL"""
        )
    }


def _rename_former(tx: Transaction) -> None:
    """Replace former names of kinds with the current names in jobs that processes of an older version added."""
    for former in _ready_kinds(tx) & jobs.former_kinds.keys():
        tx.run(
            "UPDATE jobs SET kind = :kind WHERE kind = :former AND state = 'ready'",
            kind=jobs.former_kinds[former],
            former=former,
        )


def _park_unknown(tx: Transaction) -> None:
    """Park jobs that have been due for days because no process knows their kind. They aren't parked earlier,
    because processes of two versions run at the same time during an upgrade."""
    for kind in _ready_kinds(tx) - jobs.kinds.keys() - jobs.former_kinds.keys():
        parked = tx.run(
            "UPDATE jobs SET state = 'parked', error = :error WHERE kind = :kind AND state = 'ready' AND run_at < :at",
            kind=kind,
            error=(
                f"No process on this server can run jobs of the kind {kind!r}. Another version of Octavo"
                " added this job."
            ),
            at=now() - _UNKNOWN_FOR,
        )
        if parked:
            log.error("jobs of an unknown kind failed permanently", extra={"kind": kind, "count": parked})


def _organizations(tx: Transaction, kind: str, after: str) -> Iterator[str]:
    """Yield the organizations with ready jobs of a kind: first the organizations after ``after``, and then the
    other organizations from the beginning. Each organization requires one index lookup, regardless of the number of
    jobs."""
    for condition, until in ((">", None), (">=", after)):
        last = after if until is None else ""
        while True:
            found = tx.value(
                f"SELECT organization_id FROM jobs WHERE state = 'ready' AND kind = :kind"
                f" AND organization_id {condition} :last ORDER BY organization_id LIMIT 1",
                kind=kind,
                last=last,
            )
            if found is None or (until is not None and found > until):
                break
            yield found
            last, condition = found, ">"
