"""The parent of workers: one that dies is replaced, a reload swaps all of them, and all end with the parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from octavo.kit.processes.supervision import command_of
from settled import until

PARENT = """#!{python}
import os, select, signal, sys
from pathlib import Path
from octavo.kit.processes.supervision import Supervisor, command_of, take_assignment

COUNT = 2
folder = Path(sys.argv[1])
assigned = take_assignment()
if assigned is None:
    sys.exit(Supervisor(lambda: command_of(sys.executable, sys.orig_argv)).run())
if (folder / "broken").exists() or (folder / f"broken-{{assigned.number}}").exists():
    sys.exit(3)
name = f"{{assigned.number}}-{{assigned.deaths}}-VERSION"
(folder / "writing").write_text(str(os.getpid()))
(folder / "writing").rename(folder / name)
reading, writing = os.pipe()
for number in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, lambda *_: os.write(writing, b"x"))
assigned.say_ready(COUNT)
select.select([reading, assigned.parent], [], [])
"""


def pid_in(path: Path) -> int:
    until(path.exists)
    return int(path.read_text())


def is_there(pid: int) -> bool:
    """Return whether a process has an entry at all, which a zombie has."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@contextmanager
def supervised(tmp_path: Path, broken: bool = False) -> Iterator[tuple[subprocess.Popen[bytes], Path, Path]]:
    """Start the parent of two workers; yield it, the folder of their process ids, and the log of the parent."""
    script, folder, errors = tmp_path / "parent.py", tmp_path / "pids", tmp_path / "errors"
    script.write_text(PARENT.format(python=sys.executable))
    script.chmod(0o755)
    folder.mkdir()
    if broken:
        (folder / "broken").touch()
    with errors.open("wb") as out:
        parent = subprocess.Popen([script, folder], stderr=out, stdin=subprocess.DEVNULL)
    try:
        yield parent, folder, errors
    finally:
        parent.kill()
        parent.wait()


def test_a_dead_worker_is_replaced(tmp_path: Path) -> None:
    with supervised(tmp_path) as (parent, folder, errors):
        first, second = pid_in(folder / "0-0-VERSION"), pid_in(folder / "1-0-VERSION")
        os.kill(first, signal.SIGKILL)
        third = pid_in(folder / "0-1-VERSION")
        until(lambda: not is_there(first))
        assert is_there(second)
        assert f"worker 1 (process {first}) was killed by SIGKILL" in errors.read_text()
        parent.send_signal(signal.SIGTERM)
        assert parent.wait(timeout=60) == 0
        assert not is_there(second) and not is_there(third)


def test_startup_ends_if_the_first_worker_fails(tmp_path: Path) -> None:
    with supervised(tmp_path, broken=True) as (parent, _, _):
        assert parent.wait(timeout=60) == 3


def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    with supervised(tmp_path) as (parent, folder, _):
        workers = [pid_in(folder / "0-0-VERSION"), pid_in(folder / "1-0-VERSION")]
        parent.kill()
        parent.wait()
        until(lambda: not any(map(is_there, workers)))


def change(script: Path, before: str, after: str) -> None:
    new = script.with_name("new")
    new.write_text(script.read_text().replace(before, after))
    new.chmod(0o755)
    new.replace(script)


def test_a_reload_starts_the_current_program_or_changes_nothing(tmp_path: Path) -> None:
    with supervised(tmp_path) as (parent, folder, errors):
        script = tmp_path / "parent.py"
        old = [pid_in(folder / "0-0-VERSION"), pid_in(folder / "1-0-VERSION")]
        change(script, "VERSION", "SECOND")
        (folder / "broken").touch()
        parent.send_signal(signal.SIGHUP)
        until(lambda: "the current one keeps running" in errors.read_text())
        assert all(map(is_there, old))
        (folder / "broken").unlink()
        # More workers, then fewer.
        change(script, "COUNT = 2", "COUNT = 3")
        parent.send_signal(signal.SIGHUP)
        new = [pid_in(folder / f"{number}-0-SECOND") for number in range(3)]
        until(lambda: not any(map(is_there, old)))
        change(script, "SECOND", "THIRD")
        change(script, "COUNT = 3", "COUNT = 1")
        parent.send_signal(signal.SIGHUP)
        newest = pid_in(folder / "0-0-THIRD")
        until(lambda: not any(map(is_there, new)))
        assert is_there(newest) and not (folder / "1-0-THIRD").exists()
        os.kill(newest, signal.SIGKILL)
        pid_in(folder / "0-1-THIRD")


def test_a_failed_second_worker_does_not_affect_others(tmp_path: Path) -> None:
    with supervised(tmp_path) as (parent, folder, errors):
        old = [pid_in(folder / "0-0-VERSION"), pid_in(folder / "1-0-VERSION")]
        change(tmp_path / "parent.py", "VERSION", "SECOND")
        (folder / "broken-1").touch()
        parent.send_signal(signal.SIGHUP)
        pid_in(folder / "0-0-SECOND")
        until(lambda: "the current one keeps running" in errors.read_text())
        until(lambda: not is_there(old[0]))
        assert is_there(old[1])


def test_a_program_is_restarted_by_its_path(tmp_path: Path) -> None:
    """A link to the program can point to a newer one by now, which has its own interpreter."""
    script = tmp_path / "octavo"
    script.write_text("#!/somewhere/python\n")
    asked = ["/old/python", str(script), "serve"]
    assert command_of("/old/python", asked) == ["/old/python", str(script), "serve"]
    script.chmod(0o755)
    assert command_of("/old/python", asked) == [str(script), "serve"]
    assert command_of("/old/python", ["python", "-m", "octavo", "serve"]) == [
        "/old/python",
        "-m",
        "octavo",
        "serve",
    ]
