"""Helper processes, which run Octavo's code outside of the interpreter that serves requests.

A helper process reads requests from its input and answers them one after another, until its input ends.
"""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from select import select
from typing import IO, TypeVar

import msgspec
from msgspec import Struct

from .children import start_child

T = TypeVar("T")


class HelperFailed(Exception):
    """Raised if a helper process ended, or didn't answer in time. It is started again for the next request."""


class HelperProcess:
    """Process that runs ``python -m module``, which calls ``answer_requests``. It is started on first use. This class
    is thread-safe."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        atexit.register(self.close)

    def ask(self, wanted: Struct, kind: type[T], patience: float) -> T:
        """Send a request, and return the answer. ``patience``: the number of seconds to wait for it. Raises
        HelperFailed if there is no answer."""
        with self._lock:
            while True:
                was_running = self._process is not None
                try:
                    if self._process is None:
                        self._process = self.start()
                    _send(self._process.stdin, wanted)  # type: ignore[arg-type]
                    return _receive(self._process.stdout, kind, patience)  # type: ignore[arg-type]
                except (OSError, EOFError, msgspec.DecodeError) as error:
                    self.close()
                    # A process that had been idle may have ended by itself.
                    if not was_running or isinstance(error, TimeoutError):
                        raise HelperFailed(str(error) or "the process ended") from error

    def start(self) -> subprocess.Popen[bytes]:
        """Start the process. Raises OSError if it can't be started."""
        return start_child([sys.executable, "-P", "-m", self._module])

    def close(self) -> None:
        """End the process if it is running."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                with suppress(OSError):
                    stream.close()  # type: ignore[union-attr]


def answer_requests(kind: type[T], answer: Callable[[T], Struct], idle: float | None = None) -> None:
    """Answer requests of this type until the input ends. ``idle``: the number of seconds without a request after which
    this function also returns."""
    # Ctrl+C in the terminal is for the parent, which ends this process by closing its input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # Output that other code prints is not an answer.
    with suppress(EOFError, TimeoutError):
        while True:
            _send(out, answer(_receive(sys.stdin.buffer, kind, idle)))


def _send(stream: IO[bytes], message: Struct) -> None:
    data = msgspec.msgpack.encode(message)
    stream.write(len(data).to_bytes(4, "big") + data)
    stream.flush()


def _receive(stream: IO[bytes], kind: type[T], patience: float | None) -> T:
    if patience is not None and not select([stream], [], [], patience)[0]:
        raise TimeoutError(f"the process didn't respond within {patience:g} seconds")
    length = stream.read(4)
    data = stream.read(int.from_bytes(length, "big"))
    if len(length) < 4 or len(data) < int.from_bytes(length, "big"):
        raise EOFError
    return msgspec.msgpack.decode(data, type=kind)
