"""Running code of ours on what anybody wrote, as a process of its own.

The process gets a folder and nothing of the service's environment: no address of a database, no key. Limits on its
memory and time it sets itself; how long it may take, waiting for the processor included, is said here.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import structlog

from . import deadlines

log = structlog.get_logger()


def run_apart(module: str, folder: Path, arguments: Sequence[str] = (), *, seconds: float) -> bool:
    """Runs ``python -m module FOLDER ARGUMENTS`` in ``folder``; False when it fails or does not end in time."""
    environment = {
        "PATH": os.defpath,
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "LC_ALL": "C.UTF-8",
        "RAYON_NUM_THREADS": "2",
        "HTTPS_PROXY": "http://127.0.0.1:9",
    }
    command = [sys.executable, "-P", "-m", "octavo.kit.bare", module, str(folder), *arguments]
    try:
        done = subprocess.run(  # noqa: S603 - our own program and a folder of ours
            command,
            cwd=folder,
            env=environment,
            timeout=deadlines.remaining(seconds),
            capture_output=True,
            check=False,
        )
    except subprocess.TimeoutExpired:
        log.warning("took too long", module=module, seconds=seconds)
        return False
    if done.returncode:
        error = done.stderr[-2000:].decode(errors="replace")
        log.warning("failed", module=module, code=done.returncode, error=error)
    return done.returncode == 0
