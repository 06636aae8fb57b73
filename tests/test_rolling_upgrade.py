"""Rolling upgrades: two consecutive versions share one PostgreSQL database, and no request fails."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from serving import Served, octavo_here
from test_clusters import Writer, until

ROOT = Path(__file__).parents[1]
MIGRATIONS = ("src/octavo/operations/migrations", "src/octavo/migrations")
"""Where they are, and where earlier versions have them."""
BUILT = ("delivery/studio/dist", "interchange/readers/dist", "extensions/integrations/dist")

START = """#!{python}
try:
    from octavo.cli.main import main
except ModuleNotFoundError:  # before the command was a package
    from octavo.cli import main
main()
"""

pytestmark = pytest.mark.slow


def git(*arguments: str) -> bytes:
    done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, check=False)
    if done.returncode:
        pytest.skip(f"the history is not here: {done.stderr.decode()}")
    return done.stdout


def numbers(names: str) -> list[int]:
    return sorted({int(found) for found in re.findall(r"(\d{12})_\w+\.sql", names)})


def version_before() -> str:
    """Return the newest commit of the main line with an older schema than the current one; OCTAVO_TEST_BEFORE
    names another."""
    if named := os.environ.get("OCTAVO_TEST_BEFORE"):
        return named
    today = numbers(" ".join(path.name for path in (ROOT / MIGRATIONS[0]).iterdir()))
    for commit in git("log", "--first-parent", "--format=%H", "--", *MIGRATIONS).decode().split():
        folders = (f"{folder}/" for folder in MIGRATIONS)
        found = numbers(git("ls-tree", "--name-only", f"{commit}^", *folders).decode())
        if found and found == today[: len(found)] != today:
            return f"{commit}^"
    pytest.skip("there is no earlier version in the history")


def unpack(commit: str, folder: Path) -> Path:
    """Unpack the program of a commit, with the current build of the app; return the folder to import it from."""
    with tarfile.open(fileobj=io.BytesIO(git("archive", commit, "src", "docs", "pyproject.toml"))) as archive:
        archive.extractall(folder, filter="data")
    for part in BUILT:
        for built in (folder / "src" / "octavo" / part, folder / "src" / "octavo" / part.partition("/")[2]):
            if built.parent.exists() and not built.exists():
                built.symlink_to(ROOT / "src" / "octavo" / part, target_is_directory=True)
    return folder / "src"


def test_two_versions_work_with_one_schema(tmp_path: Path, postgres_databases: Any) -> None:
    url = postgres_databases.create_bare("rolling")
    source = unpack(version_before(), tmp_path / "before")
    settings = {"OCTAVO_DATABASE_URL": url, "OCTAVO_FILES_URL": f"file://{tmp_path}/files"}

    def start(name: str, **more: Any) -> Served:
        data = tmp_path / name
        data.mkdir()
        if (key := tmp_path / "old" / "secret-key").exists():
            (data / "secret-key").write_bytes(key.read_bytes())
        return Served(data, **settings, **more)

    program = tmp_path / "octavo"
    program.write_text(START.format(python=sys.executable))
    program.chmod(0o755)
    old = start("old", program=program, PYTHONPATH=str(source))
    new = None
    writers: list[Writer] = []
    try:
        old.wait_until_ready()
        token = (old.data / "admin-token").read_text().strip()

        def write(served: Served) -> Writer:
            number = len(writers)
            file = tmp_path / f"history-{number}"
            writers.append(Writer(served, token, file, number))
            writers[-1].start()
            return writers[-1]

        def have_written(count: int) -> None:
            before = [len(writer.acknowledged) for writer in writers]
            until(
                lambda: all(writer.has_written(n + count) for writer, n in zip(writers, before, strict=True))
            )

        write(old)
        write(old)
        have_written(10)
        # The new one changes the schema under the hands of the old one.
        new = start("new")
        new.wait_until_ready()
        write(new)
        write(new)
        have_written(25)
        wrong = [(writer.wrong, writer.refused) for writer in writers]
        assert wrong == [([], [])] * 4, old.output.read_text()[-4000:] + new.output.read_text()[-4000:]
        for writer in writers:
            writer.over.set()
        for writer in writers:
            writer.join(60)
        # Each sees data written through the other one.
        for writer in writers:
            writer.load.check()
        assert old.stop() == 0
        for output in (old.output, new.output):
            assert "Traceback" not in output.read_text(), output.read_text()[-4000:]
    finally:
        for served in (old, new):
            if served is not None and served.process.poll() is None:
                served.kill()
    done = octavo_here("verify", "--data", str(tmp_path / "new"), **settings)
    assert done.stdout == "No problems found\n", done.stdout + done.stderr
