"""Processes that do the same work: the parent that replaces one that dies, and all of them when it is told to; and
how a process without such a parent replaces itself."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from multiprocessing.connection import Connection, Pipe, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

from prometheus_client.multiprocess import mark_process_dead

log = logging.getLogger("octavo.workers")

FIRST_DELAY = 0.5
LONGEST_DELAY = 30.0
_LIVED = 10.0
"""Seconds after which a worker counts as having started well: when it dies then, the next one starts at once."""
_PATIENCE = 35.0
"""Seconds that workers have to end when they are told to."""
_START_PATIENCE = 300.0
"""Seconds in which a worker that is to replace another one has to answer."""
_HANDED_OVER = "LISTENING_SOCKETS"
"""Environment variable that names the sockets which a process left to the one it became."""

Make = Callable[[int, int, Connection], BaseProcess]


class _Started:
    """A process, and the end of a pipe on which it says that it answers."""

    def __init__(self, number: int, starts: int, make: Make) -> None:
        self.answers, said = Pipe(duplex=False)
        with said:
            self.process = make(number, starts, said)
            self.process.start()
        self.at = time.monotonic()

    @property
    def lived(self) -> float:
        return time.monotonic() - self.at

    @property
    def works(self) -> bool | None:
        """Whether it has said so; False where it has ended, and None as long as nobody knows."""
        if not self.answers.poll():
            return None
        try:
            self.answers.recv_bytes()
        except EOFError:
            return False
        return True

    def end(self) -> None:
        """Forgets one that has ended."""
        self.process.join()
        self.answers.close()
        mark_process_dead(self.process.pid)  # type: ignore[no-untyped-call]


class _Worker:
    """``current`` works; ``next`` is about to take its place."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.current: _Started | None = None
        self.next: _Started | None = None
        self.starts = 0
        self.start_at = 0.0
        self.delay = 0.0

    def start(self, make: Make) -> _Started:
        started = _Started(self.number, self.starts, make)
        self.starts += 1
        return started

    def bury(self) -> None:
        """Says when the next one starts, as the current one has died."""
        assert self.current is not None
        died, self.current = self.current, None
        died.end()
        self.delay = 0.0 if died.lived >= _LIVED else min(max(FIRST_DELAY, self.delay * 2), LONGEST_DELAY)
        self.start_at = time.monotonic() + self.delay
        log.error(
            "worker %d (process %d) %s after %.1f seconds; another one starts %s",
            self.number + 1,
            died.process.pid,
            _how(died.process.exitcode),
            died.lived,
            f"in {self.delay:.1f} seconds" if self.delay else "now",
        )


class _Supervisor:
    def __init__(self, count: int, make: Make, renew: Callable[[], bool]) -> None:
        self._make = make
        self._renew = renew
        self._workers = [_Worker(number) for number in range(count)]
        self._leaving: dict[_Started, float] = {}
        """Those that were told to make room, and when they are to have ended."""
        self._to_replace: list[_Worker] = []
        self.stopping = self.replacing = False

    def turn(self) -> tuple[list[object], float | None]:
        """Does what there is to do. What to wait for, and for how many seconds at most."""
        for worker in self._workers:
            if worker.current is not None and not worker.current.process.is_alive():
                worker.bury()
            if worker.current is None and worker.next is not None:
                worker.current, worker.next = worker.next, None
                self._to_replace.remove(worker)
            elif worker.current is None and time.monotonic() >= worker.start_at and not self.stopping:
                worker.current = worker.start(self._make)
        if self.replacing:
            self.replacing = False
            if not self.stopping and self._renew():
                self._to_replace = list(self._workers)
        self._replace()
        for started, until in list(self._leaving.items()):
            if not started.process.is_alive():
                started.end()
                del self._leaving[started]
            elif time.monotonic() >= until:
                log.error("process %d does not end and is killed", started.process.pid)
                started.process.kill()
        moment = time.monotonic()
        due = [worker.start_at - moment for worker in self._workers if worker.current is None]
        due += [until - moment for until in self._leaving.values()]
        due += [_START_PATIENCE - worker.next.lived for worker in self._workers if worker.next is not None]
        waiting: list[object] = [started.process.sentinel for started in self._all()]
        waiting += [worker.next.answers for worker in self._workers if worker.next is not None]
        return waiting, max(0.0, min(due)) if due else None

    def _replace(self) -> None:
        """Goes on with replacing workers, one after another, each by one that answers already."""
        while self._to_replace and not self.stopping:
            worker = self._to_replace[0]
            if worker.next is None:
                if worker.current is None:
                    # It starts anew in any case.
                    self._to_replace.pop(0)
                    continue
                worker.next = worker.start(self._make)
            works = worker.next.works
            if works is None and worker.next.lived < _START_PATIENCE:
                return
            if works:
                assert worker.current is not None and worker.current.process.pid is not None
                os.kill(worker.current.process.pid, signal.SIGHUP)
                self._leaving[worker.current] = time.monotonic() + _PATIENCE
                worker.current, worker.next = worker.next, None
                self._to_replace.pop(0)
            else:
                log.error(
                    "the worker that is to replace worker %d does not start; the others stay",
                    worker.number + 1,
                )
                worker.next.process.kill()
                worker.next.end()
                worker.next, self._to_replace = None, []

    def _all(self) -> list[_Started]:
        there = [one for worker in self._workers for one in (worker.current, worker.next) if one is not None]
        return there + list(self._leaving)

    def end(self) -> None:
        processes = [started.process for started in self._all()]
        for process in processes:
            process.terminate()
        until = time.monotonic() + _PATIENCE
        for process in processes:
            process.join(max(0.0, until - time.monotonic()))
            if process.is_alive():
                log.error("process %d does not end and is killed", process.pid)
                process.kill()
                process.join()


def supervise(count: int, make: Make, renew: Callable[[], bool]) -> None:
    """Keeps ``count`` processes running until SIGTERM or SIGINT, then ends them; none is left afterwards.

    ``make(number, restarts, answers)`` gives a process that was not started yet; it sends something through
    ``answers`` once it does its work. One that dies is replaced, at once when it had lived for a while, and after a
    growing delay when it dies again and again. On SIGHUP all are replaced, unless ``renew`` says otherwise: one after
    another, each told by SIGHUP to make room when its successor works. Where one of those does not start, the
    others stay.
    """
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    supervisor = _Supervisor(count, make, renew)

    def note(number: int, frame: object) -> None:
        if number == signal.SIGHUP:
            supervisor.replacing = True
        else:
            supervisor.stopping = True
        try:
            os.write(writing, b"x")
        except BlockingIOError:
            pass

    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    before = {number: signal.signal(number, note) for number in numbers}
    try:
        while not supervisor.stopping:
            waiting, seconds = supervisor.turn()
            if reading in wait([reading, *waiting], seconds):  # type: ignore[list-item]
                os.read(reading, 1024)
    finally:
        supervisor.end()
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(reading)
        os.close(writing)


def run_anew(sockets: Iterable[socket.socket]) -> None:
    """Becomes the command that this process was started with, which finds these sockets with ``take_handed_over``.
    Connections wait meanwhile. Does not return."""
    numbers = []
    for one in sockets:
        os.set_inheritable(one.fileno(), True)
        numbers.append(str(one.fileno()))
    os.environ[_HANDED_OVER] = ",".join(numbers)
    # Who asks again before the new program listens is not to end it.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    sys.stdout.flush()
    sys.stderr.flush()
    command = command_of(sys.executable, sys.orig_argv)
    os.execv(command[0], command)  # noqa: S606


def command_of(python: str, arguments: Sequence[str]) -> list[str]:
    """What starts a process again that was started as ``arguments``. A script that may be executed is, for what is at
    its path may be that of a newer program by now, with an interpreter of its own."""
    if len(arguments) > 1 and Path(arguments[1]).is_file() and os.access(arguments[1], os.X_OK):
        return [*arguments[1:]]
    return [python, *arguments[1:]]


def take_handed_over() -> list[socket.socket]:
    """The sockets that ``run_anew`` left to this process."""
    return [
        socket.socket(fileno=int(given)) for given in os.environ.pop(_HANDED_OVER, "").split(",") if given
    ]


def _how(code: int | None) -> str:
    if code is not None and code < 0:
        return f"died by {signal.Signals(-code).name}"
    return f"ended with {code}"
