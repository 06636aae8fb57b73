"""Several processes that do the same work, and the parent that replaces one that dies."""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Callable
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess

from prometheus_client.multiprocess import mark_process_dead

log = logging.getLogger("octavo.workers")

FIRST_DELAY = 0.5
LONGEST_DELAY = 30.0
_LIVED = 10.0
"""Seconds after which a worker counts as having started well: when it dies then, the next one starts at once."""
_PATIENCE = 35.0
"""Seconds that workers have to end when they are told to."""


class _Worker:
    def __init__(self, number: int) -> None:
        self.number = number
        self.process: BaseProcess | None = None
        self.starts = 0
        self.started_at = 0.0
        self.start_at = 0.0
        self.delay = 0.0


def supervise(count: int, make: Callable[[int, int], BaseProcess]) -> None:
    """Keeps ``count`` processes running until SIGTERM or SIGINT, then ends them; none is left afterwards.

    ``make(number, restarts)`` gives a process that was not started yet. One that dies is replaced, at once when it
    had lived for a while, and after a growing delay when it dies again and again.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    stopping = False

    def stop(number: int, frame: object) -> None:
        nonlocal stopping
        stopping = True
        os.write(writing, b"x")

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    workers = [_Worker(number) for number in range(count)]
    try:
        while not stopping:
            moment = time.monotonic()
            for worker in workers:
                if worker.process is not None and not worker.process.is_alive():
                    _bury(worker, moment)
                if worker.process is None and moment >= worker.start_at and not stopping:
                    worker.process = make(worker.number, worker.starts)
                    worker.process.start()
                    worker.starts += 1
                    worker.started_at = moment
            due = [worker.start_at - moment for worker in workers if worker.process is None]
            running = [worker.process.sentinel for worker in workers if worker.process is not None]
            wait([reading, *running], max(0.0, min(due)) if due else None)
    finally:
        _end([worker.process for worker in workers if worker.process is not None])
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(reading)
        os.close(writing)


def _bury(worker: _Worker, moment: float) -> None:
    process = worker.process
    assert process is not None
    process.join()
    mark_process_dead(process.pid)  # type: ignore[no-untyped-call]
    lived = moment - worker.started_at
    worker.delay = 0.0 if lived >= _LIVED else min(max(FIRST_DELAY, worker.delay * 2), LONGEST_DELAY)
    worker.start_at = moment + worker.delay
    worker.process = None
    log.error(
        "worker %d (process %d) %s after %.1f seconds; another one starts %s",
        worker.number + 1,
        process.pid,
        _how(process.exitcode),
        lived,
        f"in {worker.delay:.1f} seconds" if worker.delay else "now",
    )


def _how(code: int | None) -> str:
    if code is not None and code < 0:
        return f"died by {signal.Signals(-code).name}"
    return f"ended with {code}"


def _end(processes: list[BaseProcess]) -> None:
    for process in processes:
        process.terminate()
    until = time.monotonic() + _PATIENCE
    for process in processes:
        process.join(max(0.0, until - time.monotonic()))
        if process.is_alive():
            log.error("process %d does not end and is killed", process.pid)
            process.kill()
            process.join()
