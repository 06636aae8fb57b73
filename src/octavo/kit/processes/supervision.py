"""Parent of the worker processes. It starts workers, replaces workers that crash, and replaces all workers on
SIGHUP.

A worker runs the same command with additional environment variables. When it is ready, it reports the number of
workers to run. The parent therefore doesn't need to load any product code, and can keep running when a newer
version is installed.
"""

from __future__ import annotations

import logging
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

log = logging.getLogger("octavo.workers")

WORKER = "STARTED_AS_WORKER"
"""Environment variable of a worker. It contains the worker's number, the number of times that a worker with this
number has crashed, the reason for the start, and two file descriptors: one for reporting the number of workers to
run, and one that is closed when the parent ends."""
START, RELOAD, MORE = "start", "reload", "more"
"""Reasons for starting a worker. ``START``: for the very first worker. ``RELOAD``: for the first worker of a reload.
``MORE``: for any other worker."""
_FIRST_DELAY, _LONGEST_DELAY = 0.5, 30.0
_LIVED = 10.0
"""Number of seconds after which a worker counts as started. If it crashes after that, its replacement starts
immediately."""
_PATIENCE = 20.0
"""Number of seconds within which workers must end."""
_START_PATIENCE = 300.0
"""Number of seconds within which a worker must become ready."""


class _Process:
    def __init__(self, command: Sequence[str], number: int, deaths: int, why: str, life: int) -> None:
        self.began = time.monotonic()
        self.wanted = 0
        """Number of workers that the process has requested; 0 until the process is ready."""
        self.said, says = os.pipe()
        os.set_blocking(self.said, False)
        environ = {**os.environ, WORKER: f"{number} {deaths} {why} {says} {life}"}
        try:
            self._popen = subprocess.Popen(command, pass_fds=(says, life), env=environ)  # noqa: S603
        finally:
            os.close(says)
        self.pid, self.send = self._popen.pid, self._popen.send_signal

    def poll(self) -> int | None:
        """Check whether the process is ready, and return its exit code if it has ended."""
        code = self._popen.poll()
        if self.said >= 0 and (said := _read(self.said)) is not None:
            self.wanted = int(said or 0)
            os.close(self.said)
            self.said = -1
        return code


class _Slot:
    """Slot for one worker, with the worker's current process and its restarts after crashes."""

    def __init__(self) -> None:
        self.process: _Process | None = None
        self.deaths = 0
        self.due = self.delay = 0.0


class Supervisor:
    """Parent of worker processes. ``command``: a function that returns the command for starting a worker."""

    def __init__(self, command: Callable[[], Sequence[str]]) -> None:
        self._command = command
        self._current = self._newer = list(command())
        """Command for the current workers and their replacements."""
        self._life, self._lives = os.pipe()
        self._slots = {0: _Slot()}
        self._next: _Process | None = None
        self._to_replace: list[int] = []
        self._leaving: dict[_Process, float] = {}
        self._stopping = self._asked = False

    def run(self) -> int:
        """Keep workers running until SIGTERM or SIGINT is received, and then end all of them.

        Return the exit code. If the first worker doesn't start, that worker's exit code is returned.
        """
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        os.set_blocking(writing, False)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
            signal.signal(number, self._note)
        why = START
        while not self._stopping:
            code = self._tend(why)
            if code is not None:
                return code
            why = MORE
            self._replace()
            self._kill_overdue()
            starting = [one.said for one in self._processes() if one.said >= 0]
            if reading in select.select([reading, *starting], [], [], self._seconds())[0]:
                os.read(reading, 1024)
        for process in self._processes():
            process.send(signal.SIGTERM)
            self._leaving[process] = time.monotonic() + _PATIENCE
        while self._leaving:
            self._kill_overdue()
            time.sleep(0.02)
        return 0

    def _note(self, number: int, frame: object) -> None:
        # A terminal that closes sends SIGHUP as well.
        if number == signal.SIGHUP and not (sys.stdin and sys.stdin.isatty()):
            self._asked = True
        elif number != signal.SIGCHLD:
            self._stopping = True

    def _processes(self) -> list[_Process]:
        found = [slot.process for slot in self._slots.values()]
        return [one for one in (*found, self._next) if one is not None]

    def _start(self, number: int, why: str) -> _Process:
        command = self._newer if why == RELOAD else self._current
        return _Process(command, number, self._slots[number].deaths, why, self._life)

    def _tend(self, why: str) -> int | None:
        """Start the workers that are due. If the only worker ends before any worker was ready, return its exit code;
        otherwise, return None."""
        for number, slot in list(self._slots.items()):
            process = slot.process
            if process is not None and (code := process.poll()) is not None:
                if slot.deaths == 0 and len(self._slots) == 1 and not process.wanted:
                    return code if code > 0 else 1
                lived = time.monotonic() - process.began
                slot.process, slot.deaths = None, slot.deaths + 1
                slot.delay = (
                    0.0 if lived >= _LIVED else min(max(_FIRST_DELAY, slot.delay * 2), _LONGEST_DELAY)
                )
                slot.due = time.monotonic() + slot.delay
                said = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with {code}"
                log.error("worker %d (process %d) %s; starting another one", number + 1, process.pid, said)
            elif process is not None and process.wanted > len(self._slots) and self._next is None:
                self._slots |= {more: _Slot() for more in range(len(self._slots), process.wanted)}
            if slot.process is None and time.monotonic() >= slot.due:
                slot.process = self._start(number, why)
        return None

    def _replace(self) -> None:
        """Continue a reload: end each worker when its replacement is ready."""
        if self._asked and not self._to_replace:
            self._asked, self._to_replace = False, list(self._slots)
            self._newer = list(self._command())
            self._next = self._start(0, RELOAD)
        if self._next is None:
            return
        code, number = self._next.poll(), self._to_replace[0]
        if self._next.wanted:
            self._current = self._newer
            self._leave(self._slots[number].process)
            self._slots[number].process, wanted = self._next, self._next.wanted
            for surplus in [one for one in self._slots if one >= wanted]:
                self._leave(self._slots.pop(surplus).process)
            self._to_replace = [one for one in self._to_replace[1:] if one in self._slots]
            self._next = self._start(self._to_replace[0], MORE) if self._to_replace else None
        elif code is not None or time.monotonic() - self._next.began > _START_PATIENCE:
            log.error("the new version couldn't be started; the current one keeps running")
            self._leave(self._next)
            self._next, self._to_replace = None, []

    def _leave(self, process: _Process | None) -> None:
        if process is not None:
            process.send(signal.SIGHUP)
            self._leaving[process] = time.monotonic() + _PATIENCE

    def _kill_overdue(self) -> None:
        for process, until in list(self._leaving.items()):
            if process.poll() is not None:
                del self._leaving[process]
            elif time.monotonic() >= until:
                log.error("process %d didn't end and was killed", process.pid)
                process.send(signal.SIGKILL)

    def _seconds(self) -> float | None:
        """Return the number of seconds until the next action, if no event occurs first."""
        due = [slot.due for slot in self._slots.values() if slot.process is None]
        due += self._leaving.values()
        if self._next is not None:
            due.append(self._next.began + _START_PATIENCE)
        return max(0.01, min(due) - time.monotonic()) if due else None


class Assignment:
    """Purpose for which a ``Supervisor`` started this process. ``parent``: a file descriptor that becomes readable
    when the parent has ended."""

    def __init__(self, given: str) -> None:
        number, deaths, self.why, says, parent = given.split()
        self.number, self.deaths, self._says, self.parent = int(number), int(deaths), int(says), int(parent)
        os.set_inheritable(self._says, False)
        os.set_inheritable(self.parent, False)

    def say_ready(self, workers: int) -> None:
        """Tell the parent that this process is ready, and how many workers to run."""
        os.write(self._says, b"%d" % workers)
        os.close(self._says)


def take_assignment() -> Assignment | None:
    """Return the purpose for which this process was started; None in the parent."""
    given = os.environ.pop(WORKER, None)
    return Assignment(given) if given is not None else None


def command_of(python: str, arguments: Sequence[str]) -> list[str]:
    """Return the command that restarts a process that was started with ``arguments``.

    An executable script is started by its path, because the path may now lead to a newer version with its own
    interpreter.
    """
    if len(arguments) > 1 and Path(arguments[1]).is_file() and os.access(arguments[1], os.X_OK):
        return [str(Path(arguments[1]).resolve()), *arguments[2:]]
    return [python, *arguments[1:]]


def _read(file: int) -> bytes | None:
    """Return the content of a pipe: b"" if the pipe has ended, and None if there is no content yet."""
    try:
        return os.read(file, 16)
    except BlockingIOError:
        return None
