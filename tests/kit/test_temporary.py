"""Temporary folders, of which none stays."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import octavo
from octavo.kit.temporary import TemporaryFolder, remove_left_folders

LEAVES = """
import os
import octavo
from octavo.kit.temporary import TemporaryFolder
held = TemporaryFolder("fonts")
print(held.name, flush=True)
os.kill(os.getpid(), 9)
"""


def test_temporary_files_of_killed_processes_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    left = Path(
        subprocess.run(
            [sys.executable, "-c", LEAVES], env=environment, capture_output=True, text=True, check=False
        ).stdout.strip()
    )
    assert left.is_dir()
    (left / "a font").write_text("x")
    (tmp_path / "octavo-somebodys-link").symlink_to(left)
    (tmp_path / "other-folder").mkdir()
    with TemporaryFolder("card") as name:
        held = Path(name)
        assert remove_left_folders() == 0, "they were made just now"
        for path in (left, held, tmp_path / "other-folder"):
            os.utime(path, (0, 0))
        assert remove_left_folders() == 1
        assert held.is_dir() and not left.exists() and (tmp_path / "other-folder").is_dir()
    assert not held.exists()


def test_temporary_folders_are_only_created_in_one_way() -> None:
    made = [
        path.name
        for path in (Path(octavo.__file__).parent).rglob("*.py")
        if path.name != "temporary.py"
        and ("TemporaryDirectory(" in path.read_text() or "mkdtemp" in path.read_text())
    ]
    assert made == []
