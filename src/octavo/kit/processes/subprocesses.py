"""Run Octavo's code on untrusted input in a separate process.

The process gets a folder, but none of the service's environment variables, such as the database URL or keys.
``bounded_run`` limits its resources before any of the code runs.
"""

from __future__ import annotations

import logging
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from octavo.kit.observability import tracing
from octavo.kit.scheduling import deadlines
from octavo.kit.scheduling.permits import waiting

from .children import run_child

log = logging.getLogger(__name__)


_BUSY = 10


class ProcessLimits(NamedTuple):
    """Limits for a process: memory in bytes, the maximum size in bytes of a file that it writes, and CPU time in
    seconds."""

    memory: int
    file: int
    seconds: float

    @property
    def longest(self) -> float:
        """Return the wall-clock time in seconds after which the process is ended. It is longer than the CPU time limit,
        because the same work takes many times as long on a busy machine."""
        return self.seconds * _BUSY


def run_apart(module: str, folder: Path, arguments: Sequence[str] = (), *, bounds: ProcessLimits) -> bool:
    """Run ``python -m module FOLDER ARGUMENTS`` in ``folder``; return False if it fails or exceeds its limits.

    Raises DeadlineExceeded if the caller's own deadline passes first, because that isn't caused by the input.
    """
    environment = {
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "RAYON_NUM_THREADS": "2",
        "HTTPS_PROXY": "http://127.0.0.1:9",
    }
    limits = [str(math.ceil(bound)) for bound in bounds]
    command = [
        sys.executable,
        "-P",
        "-m",
        "octavo.kit.processes.bounded_run",
        *limits,
        module,
        str(folder),
        *arguments,
    ]
    try:
        with tracing.part(f"process {module}"), waiting():
            done = run_child(
                command, environment=environment, folder=folder, seconds=deadlines.remaining(bounds.longest)
            )
    except TimeoutError:
        deadlines.check()
        log.warning("took too long", extra={"program": module, "seconds": bounds.longest})
        return False
    if done.returncode:
        error = done.stderr[-2000:].decode(errors="replace")
        log.warning("failed", extra={"program": module, "code": done.returncode, "error": error})
    return done.returncode == 0
