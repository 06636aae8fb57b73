"""Group commit: commit the writes of several concurrent requests in one transaction.

A commit costs the same for twenty batches of steps as for one. Therefore, the first request waits briefly for more
requests, and one thread commits all of them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Generic, TypeVar

from octavo.errors import OctavoError
from octavo.kit.db.database import Database, RetryTransaction, Transaction, no_turn_error
from octavo.kit.scheduling.owners import current_owner, done_for
from octavo.kit.scheduling.permits import compute

T = TypeVar("T")
Shared = TypeVar("Shared")

_GATHER = 0.012
"""Number of seconds that the first request waits for more requests."""
_TRIES = 6


class _Job(Generic[Shared]):
    def __init__(self, work: Callable[[Shared], object]) -> None:
        self.work = work
        self.owner = current_owner()
        self.future: Future[Any] = Future()
        self.result: Any = None
        self.error: BaseException | None = None

    def end(self) -> None:
        if not self.future.set_running_or_notify_cancel():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


class GroupCommit(Generic[Shared]):
    """Transactions shared by several requests. ``begin(tx)`` returns an argument, which is passed to the work of each
    request in the transaction and, after the commit, to ``committed``."""

    def __init__(
        self, db: Database, begin: Callable[[Transaction], Shared], committed: Callable[[Shared], None]
    ) -> None:
        self._db, self._begin, self._committed = db, begin, committed
        self._lock = threading.Lock()
        self._waiting: list[_Job[Shared]] = []
        self._is_led = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="octavo-live")

    def submit(self, work: Callable[[Shared], T]) -> Future[T]:
        """Run ``work`` in a transaction. When the returned future is done, the transaction is committed. ``work`` may
        run more than once. If it raises an error, the future raises the same error."""
        job = _Job(work)
        with self._lock:
            self._waiting.append(job)
            leads, self._is_led = not self._is_led, True
        if leads:
            self._thread.submit(self._lead)
        return job.future

    def _lead(self) -> None:
        while True:
            time.sleep(_GATHER)
            with self._lock:
                jobs, self._waiting = self._waiting, []
                if not jobs:
                    self._is_led = False
                    return
            with done_for(jobs[0].owner):
                compute(self._write_all, jobs)
            for job in jobs:
                job.end()

    def _write_all(self, jobs: Sequence[_Job[Shared]]) -> None:
        try:
            self._write(jobs)
        except BaseException as error:
            if len(jobs) == 1 or isinstance(error, OctavoError):
                for job in jobs:
                    job.error = error
            else:
                # One of the jobs fails in a way that ends the transaction: the others are not affected.
                for job in jobs:
                    self._write_all([job])

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
        raise no_turn_error()
