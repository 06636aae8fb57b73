"""One line in the table of page fields, and its label among the texts of the app, are all that a field needs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent


def test_a_field_that_is_only_declared_is_everywhere() -> None:
    """The tests in `made_up.py` run in a process in which the table has one field more."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider", "-m", "not slow", "made_up.py"],
        cwd=FOLDER,
        env={**os.environ, "PYTHONPATH": str(FOLDER / "declared")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
