"""The parent of several workers: one that dies is replaced, none is left as a zombie, and all end with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from octavo.kit.supervision import command_of
from settled import until

PARENT = """#!{python}
import json, os, sys, time
from pathlib import Path
from octavo.kit.supervision import Left, Trial, Work, run_anew, supervise, take_over, take_assignment

COUNT = 2
folder = Path(sys.argv[1])
if sys.argv[2:] == ["work"]:
    assigned = take_assignment()
    (folder / f"{{assigned.number}}-{{assigned.restarts}}-{{assigned.given.decode()}}").write_text(str(os.getpid()))
    if (folder / "broken").exists():
        sys.exit(3)
    assigned.say_that_it_answers()
    # Until nobody is left who would end it.
    os.read(assigned.life, 1)
    sys.exit()
sockets, left = take_over()
if left is not None and left.trial:
    sys.exit("refused" if (folder / "refused").exists() else 0)
command = [sys.executable, sys.argv[0], sys.argv[1], "work"]
work = Work(command, b"VERSION", {{}}, lambda pid: (folder / f"ended-{{pid}}").touch())
leaves = supervise(COUNT, work, left or Left(), lambda: Trial(sockets))
if leaves is not None:
    run_anew(sockets, leaves)
"""


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
    script.write_text(PARENT.format(python=sys.executable))
    script.chmod(0o755)
    folder.mkdir()
    with errors.open("wb") as out:
        parent = subprocess.Popen([script, folder], stderr=out)
    try:
        yield parent, folder, errors
    finally:
        parent.kill()
        parent.wait()


def test_a_worker_that_dies_is_replaced(tmp_path: Path) -> None:
    with supervised(tmp_path) as (parent, folder, errors):
        first, second = pid_in(folder / "0-0-VERSION"), pid_in(folder / "1-0-VERSION")
        os.kill(first, signal.SIGKILL)
        third = pid_in(folder / "0-1-VERSION")
        until(lambda: not is_there(first))
        assert is_there(second) and (folder / f"ended-{first}").exists()
        assert f"worker 1 (process {first}) died by SIGKILL" in errors.read_text()
        parent.send_signal(signal.SIGTERM)
        assert parent.wait(timeout=60) == 0
        assert not is_there(second) and not is_there(third)


def change(script: Path, before: str, after: str) -> None:
    new = script.with_name("new")
    new.write_text(script.read_text().replace(before, after))
    new.chmod(0o755)
    new.replace(script)


def test_another_program_goes_on_with_workers_until_its_own_work(tmp_path: Path) -> None:
    """Where it does not start, nothing happens; where the first of its workers does not, the others stay."""
    with supervised(tmp_path) as (parent, folder, errors):
        script = tmp_path / "parent.py"
        old = [pid_in(folder / "0-0-VERSION"), pid_in(folder / "1-0-VERSION")]
        change(script, "VERSION", "SECOND")
        (folder / "refused").touch()
        parent.send_signal(signal.SIGHUP)
        until(lambda: "goes on as it was: refused" in errors.read_text())
        (folder / "refused").unlink()
        (folder / "broken").touch()
        parent.send_signal(signal.SIGHUP)
        until(lambda: "the worker that is to replace worker 1 does not start" in errors.read_text())
        assert all(map(is_there, old)) and not (folder / "1-0-SECOND").exists()
        (folder / "broken").unlink()
        # Another number of them, and from another folder.
        change(script, "SECOND", "THIRD")
        change(script, "COUNT = 2", "COUNT = 1")
        parent.send_signal(signal.SIGHUP)
        new = pid_in(folder / "0-0-THIRD")
        until(lambda: not any(map(is_there, old)))
        assert is_there(new)
        # A worker of the program before that dies is replaced, and one that is killed with its parent ends by itself.
        os.kill(new, signal.SIGKILL)
        newest = pid_in(folder / "0-1-THIRD")
        parent.kill()
        parent.wait()
        until(lambda: not is_there(newest))
        assert not (folder / "1-0-THIRD").exists()


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
