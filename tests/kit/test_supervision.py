"""The parent of several workers: one that dies is replaced, none is left as a zombie, and all end with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from octavo.kit.metrics import SHARED_FOLDER

PARENT = """
import multiprocessing, os, sys, time
from pathlib import Path
from octavo.kit.supervision import supervise

def work(folder, number, restarts):
    Path(folder, f"{number}-{restarts}").write_text(str(os.getpid()))
    time.sleep(600)

if __name__ == "__main__":
    spawn = multiprocessing.get_context("spawn")
    folder = sys.argv[1]
    supervise(2, lambda number, restarts: spawn.Process(target=work, args=(folder, number, restarts)))
"""


def until(found: Callable[[], object]) -> None:
    ends = time.monotonic() + 60
    while not found():
        assert time.monotonic() < ends
        time.sleep(0.05)


def pid_in(path: Path) -> int:
    until(lambda: path.exists() and path.read_text())
    return int(path.read_text())


def is_there(pid: int) -> bool:
    """Whether a process has an entry at all, which a zombie has."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_worker_that_dies_is_replaced(tmp_path: Path) -> None:
    script, folder, errors = tmp_path / "parent.py", tmp_path / "pids", tmp_path / "errors"
    script.write_text(PARENT)
    folder.mkdir()
    with errors.open("wb") as out:
        environment = {**os.environ, SHARED_FOLDER: str(tmp_path)}
        parent = subprocess.Popen([sys.executable, script, folder], stderr=out, env=environment)
    try:
        first, second = pid_in(folder / "0-0"), pid_in(folder / "1-0")
        os.kill(first, signal.SIGKILL)
        third = pid_in(folder / "0-1")
        until(lambda: not is_there(first))
        assert is_there(second) and len(list(folder.iterdir())) == 3
        assert f"worker 1 (process {first}) died by SIGKILL" in errors.read_text()
        parent.send_signal(signal.SIGTERM)
        assert parent.wait(timeout=60) == 0
        assert not is_there(second) and not is_there(third)
    finally:
        parent.kill()
        parent.wait()
