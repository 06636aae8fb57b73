"""A process that has all of Octavo loaded and forks others, each of which runs one function or command.

Loading takes seconds, a fork some milliseconds: this is what makes thousands of starts affordable. It speaks lines of
JSON: ``{"run": "module:function", "arguments": {...}, "environment": {...}, "output": PATH}`` is answered by
``{"pid": N}``, ``{"wait": N, "seconds": S}`` by ``{"status": S}``, an exit code or a signal below zero, or None for one
that still runs.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from settled import PATIENCE

_TESTS = Path(__file__).parent.parent


class Warm:
    """The process, as a test sees it."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "faults.warm"],
            cwd=_TESTS,
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def _ask(self, **question: Any) -> Any:
        assert self._process.stdin is not None and self._process.stdout is not None
        print(json.dumps(question), file=self._process.stdin, flush=True)
        return json.loads(self._process.stdout.readline())

    def start(self, function: str, output: Path, environment: dict[str, str], **arguments: Any) -> int:
        """Start ``module:function`` in a separate process, which leads a group, and return its id. Its output
        is appended to ``output``."""
        asked = self._ask(run=function, arguments=arguments, environment=environment, output=str(output))
        return int(asked["pid"])

    def wait(self, pid: int, seconds: float = 60) -> int | None:
        """Return how the process ended: its exit code, or a negative signal number; None if it is still
        running."""
        status = self._ask(wait=pid, seconds=seconds)["status"]
        return None if status is None else int(status)

    def run(self, function: str, output: Path, environment: dict[str, str], **arguments: Any) -> int:
        """Run the function and return how it ended."""
        status = self.wait(self.start(function, output, environment, **arguments))
        assert status is not None, f"{function} does not end: {output.read_text()[-4000:]}"
        return status

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=PATIENCE)


def _begin(question: dict[str, Any]) -> int:
    pid = os.fork()
    if pid:
        return pid
    code = 70
    try:
        os.setsid()
        output = os.open(question["output"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        for number in (1, 2):
            os.dup2(output, number)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for name in [name for name in os.environ if name.startswith("OCTAVO_")]:
            del os.environ[name]
        os.environ.update(question["environment"])
        module, _, function = question["run"].partition(":")
        getattr(importlib.import_module(module), function)(**question["arguments"])
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _status(pid: int, seconds: float) -> int | None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    return None


def _main() -> None:
    importlib.import_module("faults.scenes")
    for line in sys.stdin:
        question = json.loads(line)
        if "run" in question:
            answer = {"pid": _begin(question)}
        else:
            answer = {"status": _status(question["wait"], question["seconds"])}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    _main()
