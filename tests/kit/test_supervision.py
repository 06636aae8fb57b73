"""The parent of several workers: one that dies is replaced, none is left as a zombie, and all end with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from octavo.kit.metrics import SHARED_FOLDER
from octavo.kit.supervision import command_of

PARENT = """
import multiprocessing, os, sys, time
from pathlib import Path
from octavo.kit.supervision import supervise

def work(folder, number, restarts, answers):
    Path(folder, f"{number}-{restarts}").write_text(str(os.getpid()))
    if Path(folder, "broken").exists():
        sys.exit(3)
    answers.send_bytes(b"yes")
    time.sleep(600)

if __name__ == "__main__":
    spawn = multiprocessing.get_context("spawn")
    folder = sys.argv[1]
    supervise(
        2,
        lambda number, restarts, answers: spawn.Process(target=work, args=(folder, number, restarts, answers)),
        lambda: not Path(folder, "refused").exists(),
    )
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


@contextmanager
def supervised(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], Path, Path]]:
    """The parent of two workers, the folder where they write their process ids, and what the parent says."""
    script, folder, errors = tmp_path / "parent.py", tmp_path / "pids", tmp_path / "errors"
    script.write_text(PARENT)
    folder.mkdir()
    with errors.open("wb") as out:
        environment = {**os.environ, SHARED_FOLDER: str(tmp_path)}
        parent = subprocess.Popen([sys.executable, script, folder], stderr=out, env=environment)
    try:
        yield parent, folder, errors
    finally:
        parent.kill()
        parent.wait()


def test_a_worker_that_dies_is_replaced(tmp_path: Path) -> None:
    with supervised(tmp_path) as (parent, folder, errors):
        first, second = pid_in(folder / "0-0"), pid_in(folder / "1-0")
        os.kill(first, signal.SIGKILL)
        third = pid_in(folder / "0-1")
        until(lambda: not is_there(first))
        assert is_there(second) and len(list(folder.iterdir())) == 3
        assert f"worker 1 (process {first}) died by SIGKILL" in errors.read_text()
        parent.send_signal(signal.SIGTERM)
        assert parent.wait(timeout=60) == 0
        assert not is_there(second) and not is_there(third)


def test_all_workers_are_replaced_by_some_that_work(tmp_path: Path) -> None:
    """Nobody is, where that is refused, and where the first of the new ones does not start."""
    with supervised(tmp_path) as (parent, folder, errors):
        old = [pid_in(folder / "0-0"), pid_in(folder / "1-0")]
        (folder / "broken").touch()
        parent.send_signal(signal.SIGHUP)
        until(lambda: "the worker that is to replace worker 1 does not start" in errors.read_text())
        assert all(map(is_there, old)) and not (folder / "1-1").exists()
        (folder / "broken").unlink()
        parent.send_signal(signal.SIGHUP)
        new = [pid_in(folder / "0-2"), pid_in(folder / "1-1")]
        until(lambda: not any(map(is_there, old)))
        (folder / "refused").touch()
        parent.send_signal(signal.SIGHUP)
        parent.send_signal(signal.SIGTERM)
        assert parent.wait(timeout=60) == 0
        assert not any(map(is_there, new))
        assert not (folder / "0-3").exists()


def test_a_program_is_started_again_by_its_path(tmp_path: Path) -> None:
    """A link to the program may lead to a newer one by now, which has an interpreter of its own."""
    script = tmp_path / "octavo"
    script.write_text("#!/somewhere/python\n")
    asked = ["/old/python", str(script), "serve"]
    assert command_of("/old/python", asked) == ["/old/python", str(script), "serve"]
    script.chmod(0o755)
    assert command_of("/old/python", asked) == [str(script), "serve"]
    assert command_of("/old/python", ["python", "-m", "octavo", "serve"]) == [
        "/old/python", "-m", "octavo", "serve",
    ]  # fmt: skip
