"""Durable jobs in the database of the change that causes them.

A job is a row: written with its cause, leased by one worker at a time, gone when done. It runs at least once,
so handlers are idempotent; one that writes to the same database calls ``finish(tx)`` in that transaction and
its effect happens exactly once. A failed job waits longer each time and is parked after its last attempt.
"""

from __future__ import annotations

import random
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any, NamedTuple, TypeVar
from weakref import WeakSet

import msgspec
import structlog

from ..errors import NotFound
from .clock import now
from .db import Database, Transaction
from .ids import new_id

log = structlog.get_logger()

F = TypeVar("F", bound=Callable[..., None])

FIRST_RETRY = 5_000  # milliseconds, doubled with every further attempt
LONGEST_RETRY = 3_600_000
ATTEMPTS = 10


class _Kind(NamedTuple):
    run: Callable[..., None]
    attempts: int


class _Schedule(NamedTuple):
    every: int
    kind: str


class Job(NamedTuple):
    """A leased job; ``attempts`` counts the one that begins."""

    id: str
    kind: str
    payload: str
    attempts: int


class ParkedJob(NamedTuple):
    """A job that failed for good; ``error`` ends with what went wrong last."""

    id: str
    kind: str
    payload: dict[str, Any]
    attempts: int
    error: str
    created_at: int


class LeaseLost(Exception):
    """Another worker has taken the job over: this run must leave no trace."""


_kinds: dict[str, _Kind] = {}
_schedules: dict[str, _Schedule] = {}
_feeders: list[Callable[[Database], bool]] = []
_workers: WeakSet[Worker] = WeakSet()
_running: ContextVar[tuple[str, str] | None] = ContextVar("octavo_job", default=None)


def job(kind: str, attempts: int = ATTEMPTS) -> Callable[[F], F]:
    """Registers ``function(context, **payload)`` as what jobs of this kind do."""

    def register(function: F) -> F:
        if kind in _kinds:
            raise ValueError(f"two handlers of the job kind {kind!r}")
        _kinds[kind] = _Kind(function, attempts)
        return function

    return register


def schedule(name: str, every: float, kind: str) -> None:
    """A job of ``kind`` without payload every so many seconds, once for all workers together."""
    _schedules[name] = _Schedule(int(every * 1000), kind)


def feeder(function: Callable[[Database], bool]) -> Callable[[Database], bool]:
    """Registers what every worker calls before it looks for jobs; True asks to be called again at once."""
    _feeders.append(function)
    return function


def enqueue(
    tx: Transaction, kind: str, *, key: str | None = None, run_at: int | None = None, **payload: Any
) -> None:
    """Adds a job to the transaction; workers of this process wake once it commits.

    ``key``: a job of that key that still waits for its first run makes a second one needless. ``run_at`` is in
    milliseconds. The payload is ids and a version number, as JSON.
    """
    moment = now()
    tx.run(
        "INSERT INTO jobs (id, kind, payload, unique_key, run_at, created_at)"
        " VALUES (:id, :kind, :payload, :key, :run_at, :now) ON CONFLICT (unique_key) DO NOTHING",
        id=new_id(),
        kind=kind,
        payload=msgspec.json.encode(payload).decode(),
        key=key,
        run_at=moment if run_at is None else run_at,
        now=moment,
    )
    tx.after_commit(wake)


def finish(tx: Transaction) -> None:
    """Ends the job that runs in this thread together with the transaction: its effect happens once.

    Raises LeaseLost, for the transaction to roll back, when another worker has the job by now. Outside a job
    it does nothing, so that handlers can be called directly.
    """
    running = _running.get()
    if running is not None and not _delete(tx, *running):
        raise LeaseLost(running[0])


def wake() -> None:
    """Makes the workers of this process look for jobs now."""
    for worker in list(_workers):
        worker._wake.set()


def list_parked(tx: Transaction, limit: int = 100) -> list[ParkedJob]:
    """The latest first."""
    rows = tx.all(
        "SELECT id, kind, payload, attempts, error, created_at FROM jobs WHERE parked = 1"
        " ORDER BY id DESC LIMIT :limit",
        limit=limit,
    )
    return [ParkedJob(row[0], row[1], msgspec.json.decode(row[2]), *row[3:]) for row in rows]


def retry_parked(tx: Transaction, job_id: str) -> None:
    """Gives a parked job all its attempts again. Raises NotFound."""
    if not tx.run(
        "UPDATE jobs SET parked = 0, attempts = 0, run_at = :now WHERE id = :id AND parked = 1",
        id=job_id,
        now=now(),
    ):
        raise NotFound("parked job not found")
    tx.after_commit(wake)


class Worker:
    """Runs jobs in threads. ``context`` is handed to every handler as its first argument.

    A lease lasts ``lease`` seconds and is renewed while the job runs, so a job of a killed worker is taken over
    that long after its last renewal. Jobs of other processes are found within ``poll`` seconds.
    """

    def __init__(
        self, database: Database, context: Any, *, threads: int = 4, lease: float = 60, poll: float = 1
    ) -> None:
        self._database = database
        self._context = context
        self._threads = threads
        self._lease = int(lease * 1000)
        self._poll = poll
        self._id = new_id()
        self._wake = threading.Event()
        self._lock = threading.Lock()
        self._active: set[str] = set()
        _workers.add(self)

    def run_forever(self, stop: threading.Event) -> None:
        """Until ``stop`` is set (``wake()`` makes it noticed at once); what runs then is finished."""
        done = threading.Event()
        heart = threading.Thread(target=self._beat, args=(done,), name="octavo-lease", daemon=True)
        heart.start()
        try:
            with ThreadPoolExecutor(self._threads, thread_name_prefix="octavo-job") as pool:
                while not stop.is_set():
                    self._wake.clear()
                    try:
                        more = self._feed()
                        for found in self._claim(self._threads - len(self._active)):
                            pool.submit(self._run_and_wake, found)
                    except Exception:
                        # The database may be away for a while; a worker outlives that.
                        log.exception("jobs cannot be fetched")
                        more = False
                    if not more:
                        self._wake.wait(self._poll)
        finally:
            done.set()
            heart.join()

    def run_pending(self) -> int:
        """Runs all that is due in this thread, jobs caused on the way included; how many ran."""
        count = 0
        while True:
            more = self._feed()
            found = self._claim(1)
            for each in found:
                self._run(each)
                count += 1
            if not found and not more:
                return count

    def _feed(self) -> bool:
        self._enqueue_scheduled()
        return any([feed(self._database) for feed in _feeders])

    def _enqueue_scheduled(self) -> None:
        moment = now()
        with self._database.read() as tx:
            known: dict[str, int] = dict(tx.all("SELECT name, next_at FROM schedules"))
        if all(known.get(name, 0) > moment for name in _schedules):
            return
        with self._database.write() as tx:
            for name, (every, kind) in sorted(_schedules.items()):
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
                    enqueue(tx, kind, key=f"schedule:{name}")

    def _claim(self, count: int) -> list[Job]:
        """Leases up to ``count`` due jobs of the kinds this process knows."""
        if count <= 0 or not _kinds:
            return []
        due = (
            "SELECT id, kind, payload, attempts FROM jobs WHERE parked = 0 AND run_at <= :now"
            " AND (lease_until IS NULL OR lease_until <= :now) AND kind IN :kinds"
            " ORDER BY run_at, id LIMIT :count"
        )
        asked = {"now": now(), "kinds": sorted(_kinds), "count": count}
        with self._database.read() as tx:
            # An idle worker takes no lock.
            if tx.one(due, **asked) is None:
                return []
        leased = []
        with self._database.write() as tx:
            for id, kind, payload, attempts in tx.all(due + tx.skip_locked, **asked):
                if attempts >= _kinds[kind].attempts:
                    # Its last run ended without a word: it takes its workers down with it.
                    error = "the worker died or lost its lease during the last attempt"
                    tx.run(
                        "UPDATE jobs SET parked = 1, unique_key = NULL, lease_owner = NULL, lease_until = NULL,"
                        " error = :error WHERE id = :id",
                        id=id,
                        error=error,
                    )
                    log.error("job parked", job=id, kind=kind, error=error)
                    continue
                tx.run(
                    "UPDATE jobs SET attempts = attempts + 1, unique_key = NULL, lease_owner = :me,"
                    " lease_until = :until WHERE id = :id",
                    id=id,
                    me=self._id,
                    until=now() + self._lease,
                )
                leased.append(Job(id, kind, payload, attempts + 1))
        with self._lock:
            self._active.update(found.id for found in leased)
        return leased

    def _beat(self, done: threading.Event) -> None:
        while not done.wait(self._lease / 3000):
            with self._lock:
                active = sorted(self._active)
            if not active:
                continue
            try:
                with self._database.write() as tx:
                    tx.run(
                        "UPDATE jobs SET lease_until = :until WHERE lease_owner = :me AND id IN :ids",
                        until=now() + self._lease,
                        me=self._id,
                        ids=active,
                    )
            except Exception:
                log.exception("leases cannot be renewed")

    def _run_and_wake(self, found: Job) -> None:
        try:
            self._run(found)
        except Exception:
            # Not even the failure could be recorded: the lease runs out and the job runs again.
            log.exception("job left to its lease", job=found.id, kind=found.kind)
        self._wake.set()

    def _run(self, found: Job) -> None:
        kind = _kinds[found.kind]
        token = _running.set((found.id, self._id))
        try:
            with structlog.contextvars.bound_contextvars(job=found.id, kind=found.kind):
                try:
                    kind.run(self._context, **msgspec.json.decode(found.payload))
                except LeaseLost:
                    log.warning("job taken over by another worker")
                except Exception as error:
                    self._fail(found, kind, error)
                else:
                    with self._database.write() as tx:
                        _delete(tx, found.id, self._id)
        finally:
            _running.reset(token)
            with self._lock:
                self._active.discard(found.id)

    def _fail(self, found: Job, kind: _Kind, error: Exception) -> None:
        last = found.attempts >= kind.attempts
        delay = min(FIRST_RETRY * 2 ** (found.attempts - 1), LONGEST_RETRY)
        with self._database.write() as tx:
            tx.run(
                "UPDATE jobs SET parked = :parked, run_at = :run_at, error = :error, lease_owner = NULL,"
                " lease_until = NULL WHERE id = :id AND lease_owner = :me",
                parked=int(last),
                run_at=now() + int(delay * random.uniform(0.5, 1)),  # noqa: S311 - spreads, hides nothing
                error="".join(traceback.format_exception(error))[-8000:],
                id=found.id,
                me=self._id,
            )
        log.error("job parked" if last else "job failed", attempt=found.attempts, exc_info=error)


def _delete(tx: Transaction, job_id: str, owner: str) -> bool:
    return bool(tx.run("DELETE FROM jobs WHERE id = :id AND lease_owner = :me", id=job_id, me=owner))
