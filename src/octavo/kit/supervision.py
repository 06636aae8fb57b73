"""Processes that do the same work: the parent that replaces one that dies, and how a program gives way to the one that
takes its place under the same id.

A reload has three steps. The command that the process was started with is tried beside it, by a process that does all
of a start but listen; where that fails, nothing has changed. Then the process becomes that command by ``exec``, and
leaves it the sockets and the workers. The new program replaces those one after another.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import wait
from pathlib import Path
from tempfile import TemporaryFile

import msgspec
from msgspec import Struct

log = logging.getLogger("octavo.workers")

FIRST_DELAY = 0.5
LONGEST_DELAY = 30.0
_LIVED = 10.0
"""Seconds after which a worker counts as having started well: when it dies then, the next one starts at once."""
_PATIENCE = 35.0
"""Seconds that workers have to end when they are told to."""
_START_PATIENCE = 300.0
"""Seconds in which a program that is tried has to start, and a worker that is to replace another one to answer."""
_REASON = 4000
"""Bytes at most of what a program that does not start said, for the log."""
_LEFT = "LEFT_BY_PROGRAM"
_START = "STARTED_AS_WORKER"
"""Environment variables for a process that goes on for another one, and for one that was started by its parent."""


class Process(Struct, eq=False):
    """A worker that was started by this process, whichever program it was at the time."""

    pid: int
    number: int
    restarts: int
    began: float
    """By the monotonic clock."""
    leaving: bool = False
    """Whether it was told to make room."""
    status: int | None = None
    """Its exit code once it has ended, negative for a signal."""
    answers: int = -1
    """A file on which it says that it answers; none where another program started it."""

    @property
    def lived(self) -> float:
        return time.monotonic() - self.began

    @property
    def works(self) -> bool | None:
        """Whether it has said so; False where it has ended, and None as long as nobody knows."""
        if self.status is not None:
            return False
        try:
            return bool(os.read(self.answers, 8))
        except BlockingIOError:
            return None

    @property
    def has_ended(self) -> bool:
        if self.status is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:
                pid, status = self.pid, 0
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
                if self.answers >= 0:
                    os.close(self.answers)
        return self.status is not None

    def send(self, number: signal.Signals) -> None:
        """A signal, unless it has ended."""
        if not self.has_ended:
            os.kill(self.pid, number)

    def make_room(self) -> None:
        self.leaving = True
        self.send(signal.SIGHUP)


class Left(Struct):
    """What a program leaves to the one that takes its place. Files are numbers."""

    trial: bool = False
    """Whether it is only tried, and nothing is left to it."""
    sockets: list[int] = []
    workers: list[Process] = []
    life: tuple[int, int] | None = None
    """A pipe that is open for writing as long as this process lives, whichever program it is: workers wait for its
    end."""
    folder: tuple[str, int] | None = None
    """A folder that workers share, and the file that holds it."""


class _Start(Struct):
    """What a worker finds in its environment. Files are numbers."""

    number: int
    restarts: int
    answers: int
    life: int
    given: int


class Assignment(Struct, frozen=True):
    """What a process was started for. ``restarts``: how often one of its ``number`` died and was started again. ``life``: a file
    that can be read from when its parent is gone."""

    number: int
    restarts: int
    life: int
    given: bytes
    _answers: int

    def say_that_it_answers(self) -> None:
        # Its parent may have become another program, which did not start it.
        with suppress(OSError):
            os.write(self._answers, b"yes")


def take_assignment() -> Assignment:
    """What this process was started for by ``supervise``."""
    start = msgspec.json.decode(os.environ.pop(_START), type=_Start)
    for number in (start.answers, start.life, start.given):
        os.set_inheritable(number, False)
    with os.fdopen(start.given, "rb") as file:
        given = file.read()
    return Assignment(start.number, start.restarts, start.life, given, start.answers)


class Work(Struct, frozen=True):
    """What workers do: a command, which calls ``take_assignment``, and what it finds there. ``environ`` is added to the
    environment; ``ended`` is told the id of a process."""

    command: list[str]
    given: bytes
    environ: Mapping[str, str]
    ended: Callable[[int], None]

    def start(self, number: int, restarts: int, life: int) -> Process:
        """Raises OSError."""
        answers, says = os.pipe()
        given, gives = os.pipe()
        try:
            os.set_blocking(answers, False)
            start = _Start(number, restarts, says, life, given)
            for inherited in (says, given, life):
                os.set_inheritable(inherited, True)
            environ = {**os.environ, **self.environ, _START: msgspec.json.encode(start).decode()}
            pid = os.posix_spawn(self.command[0], self.command, environ)
        except BaseException:
            os.close(answers)
            os.close(gives)
            raise
        finally:
            os.close(says)
            os.close(given)
        with suppress(BrokenPipeError), os.fdopen(gives, "wb") as file:
            file.write(self.given)
        return Process(pid, number, restarts, time.monotonic(), answers=answers)


class _Worker:
    """``current`` works; ``next`` is about to take its place."""

    def __init__(self, number: int, current: Process | None = None) -> None:
        self.number = number
        self.current = current
        self.next: Process | None = None
        self.restarts = 0 if current is None else current.restarts
        """How often one died and was started again."""
        self.start_at = 0.0
        self.delay = 0.0

    def start(self, work: Work, life: int) -> Process | None:
        """None where the system starts none, which is tried again later."""
        try:
            return work.start(self.number, self.restarts, life)
        except OSError as error:
            self._wait(0)
            log.error("worker %d cannot be started: %s", self.number + 1, error)
            return None

    def bury(self) -> None:
        """Says when the next one starts, as the current one has died."""
        assert self.current is not None
        died, self.current = self.current, None
        self.restarts += 1
        self._wait(died.lived)
        log.error(
            "worker %d (process %d) %s after %.1f seconds; another one starts %s",
            self.number + 1,
            died.pid,
            _how(died.status),
            died.lived,
            f"in {self.delay:.1f} seconds" if self.delay else "now",
        )

    def _wait(self, lived: float) -> None:
        self.delay = 0.0 if lived >= _LIVED else min(max(FIRST_DELAY, self.delay * 2), LONGEST_DELAY)
        self.start_at = time.monotonic() + self.delay


class _Supervisor:
    def __init__(self, count: int, work: Work, left: Left, try_next: Callable[[], Trial | None]) -> None:
        self._work = work
        self._try_next = try_next
        self._life = left.life or os.pipe()
        there = {process.number: process for process in left.workers if not process.leaving}
        self._workers = [_Worker(number, there.pop(number, None)) for number in range(count)]
        self._surplus = list(there.values())
        """Of numbers that there are no more: they go with the first that is replaced."""
        self._to_replace = [worker for worker in self._workers if worker.current is not None]
        self._leaving = {process: time.monotonic() + _PATIENCE for process in left.workers if process.leaving}
        """Those that were told to make room, and when they are to have ended."""
        self._trial: Trial | None = None
        self.stopping = self.asked = self.gives_way = False

    def turn(self) -> tuple[list[int], float | None]:
        """Does what there is to do. What to wait for, beside signals, and for how many seconds at most."""
        self._replace_dead()
        self._replace()
        for process, until in list(self._leaving.items()):
            if process.has_ended:
                self._work.ended(process.pid)
                del self._leaving[process]
            elif time.monotonic() >= until:
                log.error("process %d does not end and is killed", process.pid)
                process.send(signal.SIGKILL)
                self._leaving[process] = time.monotonic() + 1
        self._go_on_with_trial()
        moment = time.monotonic()
        due = [worker.start_at - moment for worker in self._workers if worker.current is None]
        due += [until - moment for until in self._leaving.values()]
        due += [_START_PATIENCE - worker.next.lived for worker in self._workers if worker.next is not None]
        if self._trial is not None:
            due.append(self._trial.ends - moment)
        waiting = [worker.next.answers for worker in self._workers if worker.next is not None]
        return waiting, max(0.0, min(due)) if due else None

    def _replace_dead(self) -> None:
        for worker in self._workers:
            if worker.current is not None and worker.current.has_ended:
                self._work.ended(worker.current.pid)
                worker.bury()
            if worker.current is None and worker.next is not None:
                worker.current, worker.next = worker.next, None
                self._to_replace.remove(worker)
            elif worker.current is None and time.monotonic() >= worker.start_at and not self.stopping:
                worker.current = worker.start(self._work, self._life[0])
        for process in list(self._surplus):
            if process.has_ended:
                self._work.ended(process.pid)
                self._surplus.remove(process)

    def _replace(self) -> None:
        """Goes on with replacing workers, one after another, each by one that answers already."""
        while self._to_replace and not self.stopping:
            worker = self._to_replace[0]
            if worker.current is None:
                # It starts anew in any case.
                self._to_replace.pop(0)
                continue
            if worker.next is None:
                worker.next = worker.start(self._work, self._life[0])
            works = worker.next is not None and worker.next.works
            if worker.next is not None and works is None and worker.next.lived < _START_PATIENCE:
                return
            if works:
                self._dismiss([worker.current, *self._surplus])
                worker.current, worker.next, self._surplus = worker.next, None, []
                self._to_replace.pop(0)
                continue
            log.error(
                "the worker that is to replace worker %d does not start; the others stay", worker.number + 1
            )
            if worker.next is not None:
                worker.next.send(signal.SIGKILL)
                self._leaving[worker.next] = time.monotonic() + _PATIENCE
            worker.next, self._to_replace = None, []

    def _dismiss(self, processes: Iterable[Process]) -> None:
        for process in processes:
            process.make_room()
            self._leaving[process] = time.monotonic() + _PATIENCE

    def _go_on_with_trial(self) -> None:
        # One reload after another: who takes over finds no worker that is about to take another one's place.
        if self.asked and self._trial is None and not self._to_replace and not self.stopping:
            self.asked = False
            self._trial = self._try_next()
        if self._trial is not None and (outcome := self._trial.outcome()) is not None:
            self._trial, self.gives_way = None, outcome and not self.stopping

    def leave(self) -> Left:
        """What the next program is to go on with."""
        return Left(workers=self._all(), life=self._life)

    def _all(self) -> list[Process]:
        there = [one for worker in self._workers for one in (worker.current, worker.next) if one is not None]
        return there + self._surplus + list(self._leaving)

    def end(self, wait_for_some: Callable[[float], object]) -> None:
        if self._trial is not None:
            self._trial.stop()
        processes = self._all()
        for process in processes:
            process.send(signal.SIGTERM)
        end_all(processes, wait_for_some)
        for number in self._life:
            os.close(number)


def end_all(processes: Iterable[Process], wait_for_some: Callable[[float], object] = time.sleep) -> None:
    """Waits until all have ended that were told to, and kills those that do not. ``wait_for_some`` waits for so many
    seconds at most, less where one may have ended."""
    until = time.monotonic() + _PATIENCE
    there = [process for process in processes if not process.has_ended]
    while there and (seconds := until - time.monotonic()) > 0:
        wait_for_some(min(seconds, 0.1))
        there = [process for process in there if not process.has_ended]
    for process in there:
        log.error("process %d does not end and is killed", process.pid)
        process.send(signal.SIGKILL)
    while there:
        wait_for_some(0.1)
        there = [process for process in there if not process.has_ended]


def supervise(count: int, work: Work, left: Left, try_next: Callable[[], Trial | None]) -> Left | None:
    """Keeps ``count`` processes at work until SIGTERM or SIGINT, then ends them; none is left afterwards.

    One that dies is replaced, at once when it had lived for a while, and after a growing delay when it dies again and
    again. Those that another program has ``left`` are replaced one after another, each told by SIGHUP to make room when
    its successor works. Where one of those does not start, the others stay.

    On SIGHUP, what ``try_next`` gives is waited for. If that starts, what is there is left to it: that is returned, for
    ``run_anew``. None when all have ended.
    """
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    supervisor = _Supervisor(count, work, left, try_next)

    def note(number: int, frame: object) -> None:
        if number == signal.SIGHUP:
            supervisor.asked = True
        elif number != signal.SIGCHLD:
            supervisor.stopping = True
        try:
            os.write(writing, b"x")
        except BlockingIOError:
            pass

    def wait_for_signal(seconds: float | None, *others: int) -> None:
        if reading in wait([reading, *others], seconds):
            os.read(reading, 1024)

    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD)
    before = {number: signal.signal(number, note) for number in numbers}
    listen_for_reload()
    try:
        while not supervisor.stopping:
            waiting, seconds = supervisor.turn()
            if supervisor.gives_way:
                return supervisor.leave()
            wait_for_signal(seconds, *waiting)
    finally:
        if not supervisor.gives_way:
            supervisor.end(wait_for_signal)
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(reading)
        os.close(writing)
    return None


class Trial:
    """The command that this process was started with, tried beside it with these sockets: whether it starts. What is
    at its path may be another version by now."""

    def __init__(self, sockets: Iterable[socket.socket]) -> None:
        numbers = [one.fileno() for one in sockets]
        self.ends = time.monotonic() + _START_PATIENCE
        # Not a pipe, which could fill.
        self._said = TemporaryFile()  # noqa: SIM115
        self._process: subprocess.Popen[bytes] | None = None
        try:
            self._process = subprocess.Popen(  # noqa: S603
                command_of(sys.executable, sys.orig_argv),
                env={**os.environ, _LEFT: msgspec.json.encode(Left(trial=True, sockets=numbers)).decode()},
                pass_fds=numbers,
                stdin=subprocess.DEVNULL,
                stdout=self._said,
                stderr=self._said,
            )
        except OSError as error:
            self._said.write(str(error).encode())

    def outcome(self) -> bool | None:
        """None as long as it is not known. Says in the log why it is False; ends then, or where it takes too long."""
        code = None if self._process is None else self._process.poll()
        if self._process is not None and code is None:
            if time.monotonic() < self.ends:
                return None
            self._process.kill()
            self._process.wait()
            self._said.write(f"it did not start within {_START_PATIENCE:.0f} seconds".encode())
        self._said.seek(0)
        said = self._said.read().decode(errors="replace").strip()
        self._said.close()
        if code == 0:
            if said:
                print(said, file=sys.stderr, flush=True)
            return True
        log.error(
            "what is to take over does not start, and everything goes on as it was: %s",
            said[-_REASON:].removeprefix("octavo: ") or _how(code),
        )
        return False

    def stop(self) -> None:
        """Ends it, whatever it would have come to."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._said.close()


def run_anew(sockets: Iterable[socket.socket], left: Left) -> None:
    """Becomes the command that this process was started with, which finds these sockets and what else is ``left`` with
    ``take_over``. Connections wait meanwhile, unless workers take them. Does not return."""
    left.sockets = [one.fileno() for one in sockets]
    files = [*left.sockets, *(left.life or ())]
    if left.folder is not None:
        files.append(left.folder[1])
    for number in files:
        os.set_inheritable(number, True)
    os.environ[_LEFT] = msgspec.json.encode(left).decode()
    # Who asks again before the new program listens is heard when it does.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    sys.stdout.flush()
    sys.stderr.flush()
    command = command_of(sys.executable, sys.orig_argv)
    os.execv(command[0], command)  # noqa: S606


def listen_for_reload() -> None:
    """SIGHUP is handled from now on; one that came while programs changed has waited."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP})


def command_of(python: str, arguments: Sequence[str]) -> list[str]:
    """What starts a process again that was started as ``arguments``. A script that may be executed is, for what is at
    its path may be that of a newer program by now, with an interpreter of its own."""
    if len(arguments) > 1 and Path(arguments[1]).is_file() and os.access(arguments[1], os.X_OK):
        return [*arguments[1:]]
    return [python, *arguments[1:]]


def take_over() -> tuple[list[socket.socket], Left | None]:
    """What ``run_anew`` left to this process, its sockets first; None for one that goes on for nobody."""
    given = os.environ.pop(_LEFT, "")
    if not given:
        return [], None
    left = msgspec.json.decode(given, type=Left)
    for number in left.life or ():
        os.set_inheritable(number, False)
    if left.folder is not None:
        os.set_inheritable(left.folder[1], False)
    for process in left.workers:
        process.answers = -1
    return [socket.socket(fileno=number) for number in left.sockets], left


def _how(code: int | None) -> str:
    if code is not None and code < 0:
        return f"died by {signal.Signals(-code).name}"
    return f"ended with {code}"
