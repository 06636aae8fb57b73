"""Commit what several requests write at the same time in one transaction.

A commit costs the same for one batch of steps and for twenty. So the first request of several waits a moment,
and commits for all of them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar, cast

from octavo.errors import OctavoError
from octavo.kit.db.database import Database, RetryTransaction, Transaction, no_turn
from octavo.kit.scheduling.permits import without

T = TypeVar("T")
Shared = TypeVar("Shared")

_GATHER = 0.012
"""Seconds for which the first request waits for others."""
_TRIES = 6


class _Job(Generic[Shared]):
    def __init__(self, work: Callable[[Shared], object]) -> None:
        self.work = work
        self.ready = threading.Event()
        self.leads = False
        self.result: object = None
        self.error: BaseException | None = None


class GroupCommit(Generic[Shared]):
    """Transactions that requests share. ``begin(tx)`` returns what each job of a transaction gets, and
    ``committed(it)`` is called once it is committed."""

    def __init__(
        self, db: Database, begin: Callable[[Transaction], Shared], committed: Callable[[Shared], None]
    ) -> None:
        self._db, self._begin, self._committed = db, begin, committed
        self._lock = threading.Lock()
        self._waiting: list[_Job[Shared]] = []
        self._is_led = False

    def run(self, work: Callable[[Shared], T]) -> T:
        """Return the result of ``work`` in a transaction that is committed by then. It may run again, and
        raises what it raises."""
        job = _Job(work)
        with self._lock:
            self._waiting.append(job)
            leads, self._is_led = not self._is_led, True
        with without():
            if not leads:
                job.ready.wait()
            if leads or job.leads:
                self._lead()
        if job.error is not None:
            raise job.error
        return cast(T, job.result)

    def _lead(self) -> None:
        time.sleep(_GATHER)
        with self._lock:
            jobs, self._waiting = self._waiting, []
        try:
            self._write(jobs)
        except BaseException as error:
            if len(jobs) == 1 or isinstance(error, OctavoError):
                for job in jobs:
                    job.error = error
            else:
                # One of them fails in a way that ends the transaction: the others are not affected.
                for job in jobs:
                    self._write_alone(job)
        finally:
            with self._lock:
                following = self._waiting[0] if self._waiting else None
                self._is_led = following is not None
            if following is not None:
                following.leads = True
                following.ready.set()
            for job in jobs:
                job.ready.set()

    def _write_alone(self, job: _Job[Shared]) -> None:
        try:
            self._write([job])
        except BaseException as error:
            job.error = error

    def _write(self, jobs: Sequence[_Job[Shared]]) -> None:
        for _ in range(_TRIES):
            try:
                with self._db.write() as tx:
                    shared = self._begin(tx)
                    for job in jobs:
                        job.error = None
                        try:
                            job.result = job.work(shared)
                        except OctavoError as error:
                            job.error = error
            except RetryTransaction:
                continue
            self._committed(shared)
            return
        raise no_turn()
