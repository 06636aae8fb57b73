"""Start other programs. They don't get the service's environment variables, such as the database URL, keys, or tokens.

Callers specify the variables that a program needs in addition to ``PATH`` and the locale. The service's own workers are
started by ``supervision``.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

_NOTHING: Mapping[str, str] = {}


def _environment(given: Mapping[str, str]) -> dict[str, str]:
    return {"PATH": os.defpath, "LC_ALL": "C.UTF-8", **given}


def start_child(
    command: Sequence[str],
    *,
    environment: Mapping[str, str] = _NOTHING,
    folder: Path | None = None,
    quiet: bool = False,
    buffered: bool = True,
    own_session: bool = False,
) -> subprocess.Popen[bytes]:
    """Start a program whose input and output are pipes.

    ``quiet``: whether to discard standard error. ``own_session``: whether to start the program in its own session, so
    that terminal signals don't reach it. Raises OSError if the program can't be started.
    """
    return subprocess.Popen(  # noqa: S603
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL if quiet else None,
        cwd=folder,
        env=_environment(environment),
        bufsize=-1 if buffered else 0,
        start_new_session=own_session,
    )


def run_child(
    command: Sequence[str],
    *,
    environment: Mapping[str, str] = _NOTHING,
    folder: Path,
    seconds: float,
) -> subprocess.CompletedProcess[bytes]:
    """Run a program without input, and wait for it to end. Raises OSError if it can't be started, and
    TimeoutError if it takes longer than ``seconds``."""
    try:
        return subprocess.run(  # noqa: S603
            command,
            stdin=subprocess.DEVNULL,
            cwd=folder,
            env=_environment(environment),
            timeout=seconds,
            capture_output=True,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise TimeoutError(f"the process took longer than {seconds:g} seconds") from None
