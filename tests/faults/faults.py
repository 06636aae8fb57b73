"""Faults of the system, made by a small library that is preloaded into the processes under test (``preload.c``)."""

from __future__ import annotations

import ctypes
import enum
import errno
import mmap
import os
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

SETTING = "FAULTS_CONTROL"
_SOURCE = Path(__file__).with_name("preload.c")


class Calls(enum.IntFlag):
    """Of the system; as in ``preload.c``."""

    WRITE = 1
    SYNC = 2
    RENAME = 4
    TRUNCATE = 8
    SEND = 16
    RECEIVE = 32


DISK = Calls.WRITE | Calls.SYNC | Calls.RENAME | Calls.TRUNCATE
NETWORK = Calls.SEND | Calls.RECEIVE


class Action(enum.IntEnum):
    NOTHING, FAIL, DIE, POWER_CUT, WAIT, SKEW = range(6)


class Fault(NamedTuple):
    """``action`` meets ``times`` calls, from the ``first`` one on, of those that count."""

    calls: int
    action: int
    first: int
    times: int = 1
    error: int = errno.EIO
    wait: int = 0
    """Microseconds."""
    clock: int = 0
    """Milliseconds that clocks are ahead until the fault is over (SKEW)."""


class _Layout(ctypes.Structure):
    """As in ``preload.c``."""

    _fields_ = [
        *((name, ctypes.c_int) for name in ("calls", "action", "error", "pid")),
        *((name, ctypes.c_long) for name in ("counted", "first", "last", "wait", "clock", "happened")),
        ("remember", ctypes.c_int),
        ("folder", ctypes.c_char * 512),
    ]


class Control:
    """Fault for processes started with ``environment``, and how often it happened."""

    def __init__(self, file: Path, folder: Path | None = None) -> None:
        """``folder``: whose files count; None for a control that another process has made."""
        if folder is not None:
            file.write_bytes(bytes(ctypes.sizeof(_Layout)))
        handle = os.open(file, os.O_RDWR)
        self._mapped = mmap.mmap(handle, ctypes.sizeof(_Layout))
        os.close(handle)
        self.state = _Layout.from_buffer(self._mapped)
        if folder is not None:
            self.state.folder = str(folder).encode()

    def arm(self, fault: Fault, pid: int = 0) -> None:
        """Count calls from now on, of one process or of all."""
        state = self.state
        state.action = Action.NOTHING
        state.calls, state.error, state.pid, state.wait = fault.calls, fault.error, pid, fault.wait
        state.counted, state.first, state.last, state.happened = 0, fault.first, fault.first + fault.times, 0
        state.clock, state.action = fault.clock, fault.action

    def disarm(self) -> int:
        """Return how often the fault happened."""
        self.state.action, self.state.calls, self.state.clock = Action.NOTHING, 0, 0
        return int(self.state.happened)


def build(folder: Path) -> Path | None:
    """Compile the library into the folder; return None without a compiler."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None or not Path("/proc/self/fd").is_dir():
        return None
    library = folder / "preload.so"
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(_SOURCE), "-ldl", "-lpthread"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return library if done.returncode == 0 else None


def environment(library: Path, control: Path) -> dict[str, str]:
    """Return the environment of a process whose calls are to fail."""
    return {"LD_PRELOAD": str(library), SETTING: str(control)}
