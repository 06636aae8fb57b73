"""Run pytest, and beside it the longer checks of Python and of web/, which leave a processor idle.

The arguments are those of pytest. The output of the checks is shown if they fail, which stops the tests.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CHECKS = ("make", "--no-print-directory", "check-types", "test-web")


def _interrupt(tests: subprocess.Popen[bytes]) -> None:
    """Interrupt pytest and its workers, which end what they started, as a terminal does."""
    if tests.poll() is None:
        children = Path(f"/proc/{tests.pid}/task/{tests.pid}/children")
        workers = children.read_text().split() if children.exists() else []
        for process in (*map(int, workers), tests.pid):
            os.kill(process, signal.SIGINT)


def main() -> int:
    """Return 0 if tests and checks pass, otherwise the exit code of whichever fails."""
    with tempfile.TemporaryFile() as output:
        checks = subprocess.Popen(CHECKS, stdout=output, stderr=subprocess.STDOUT)
        tests = subprocess.Popen([sys.executable, "-m", "pytest", *sys.argv[1:]])
        try:
            while checks.poll() is None and tests.poll() is None:
                time.sleep(0.2)
            if checks.returncode == 0:
                print("\nThe checks passed.", flush=True)
            elif checks.returncode is not None:
                _interrupt(tests)
            tested, checked = tests.wait(), checks.wait()
        except KeyboardInterrupt:  # which they got as well
            tested, checked = tests.wait(), checks.wait()
        if checked:
            output.seek(0)
            print(output.read().decode(errors="replace"))
        return checked or tested


if __name__ == "__main__":
    sys.exit(main())
