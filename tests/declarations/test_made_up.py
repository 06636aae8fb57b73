"""One line in the table of page fields or of settings, and its label among the texts of the app, are all that is
needed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent


@pytest.mark.parametrize(
    "name", ["made_up_field.py", pytest.param("made_up_setting.py", marks=pytest.mark.slow)]
)
def test_declared_fields_and_settings_work_everywhere(name: str) -> None:
    """The tests in that file run in a process in which the tables have more lines."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider", "-m", "not slow", name],
        cwd=FOLDER,
        env={**os.environ, "PYTHONPATH": str(FOLDER / "declared")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
