"""Syntax highlighting with a time limit.

The lexers are regular expressions by several hundred authors. For many of them, some input takes hours to process,
and nothing can stop a regular expression in a thread. Therefore, code blocks are highlighted by a separate process,
which limits its own CPU time for each block, regardless of the load on the machine. Code that takes longer is shown
without colors.

``python -m octavo.kit.processes.highlighting`` is that process. It reads and answers requests until its input ends.
"""

from __future__ import annotations

import atexit
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from select import select
from typing import IO, Any

import msgspec
from msgspec import Struct

from octavo.core.highlighting import Token, highlight

from .children import start_child

LISTING_SECONDS = 0.5
"""Maximum CPU time in seconds for one code block."""
PAGE_SECONDS = 1.0
"""Maximum CPU time in seconds for all code blocks of one page."""
_PATIENCE = 20.0
"""Number of seconds after which the process is considered to be hung, and is ended."""

log = logging.getLogger("octavo.highlighting")


class _Wanted(Struct, array_like=True):
    code: str
    syntax: str
    seconds: float


class _Found(Struct, array_like=True):
    """Result of highlighting a code block. ``tokens``: the tokens; None if the language is unknown or the time
    limit was reached. ``seconds``: the CPU time used. If the time limit was reached, this is the whole limit."""

    tokens: list[Token] | None
    seconds: float


class _TimeIsOver(BaseException):
    """Raised internally if the time limit was reached. It is derived from BaseException, so that lexers that catch
    all errors don't catch it."""


def highlight_in_time(code: str, syntax: str, seconds: float = LISTING_SECONDS) -> _Found:
    """Highlight code as ``highlight`` does, but return no tokens if it takes longer than ``seconds``. Call
    this only in the main thread of a separate process."""

    def end(number: int, frame: object) -> None:
        raise _TimeIsOver

    begin = time.process_time()
    before = signal.signal(signal.SIGVTALRM, end)
    # Repeatedly, in case the first signal arrives where Python drops exceptions.
    signal.setitimer(signal.ITIMER_VIRTUAL, max(seconds, 0.001), 0.05)
    try:
        tokens = highlight(code, syntax)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        return _Found(tokens, time.process_time() - begin)
    except (_TimeIsOver, RecursionError):
        # The timer counts in ticks of the system, which also arrive a little early.
        return _Found(None, max(seconds, time.process_time() - begin))
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


class Highlighter:
    """Syntax highlighter that runs in a separate process, which is started on first use. It is thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        atexit.register(self.close)

    def for_page(self) -> Callable[[str, str], list[Token] | None]:
        """Return a ``highlight`` function for the code blocks of one page. The blocks share ``PAGE_SECONDS``."""
        left = PAGE_SECONDS

        def highlight_next(code: str, syntax: str) -> list[Token] | None:
            nonlocal left
            if left <= 0 or not syntax:
                return None
            found = self._ask(_Wanted(code, syntax, min(left, LISTING_SECONDS)))
            left -= found.seconds
            return found.tokens

        return highlight_next

    def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                with suppress(OSError):
                    stream.close()  # type: ignore[union-attr]

    def _ask(self, wanted: _Wanted) -> _Found:
        with self._lock:
            try:
                if self._process is None or self._process.poll() is not None:
                    self.close()
                    self._process = _start()
                _send(self._process.stdin, wanted)  # type: ignore[arg-type]
                found: _Found = _receive(self._process.stdout, _Found, _PATIENCE)  # type: ignore[arg-type]
                return found
            except (OSError, EOFError, msgspec.DecodeError) as error:
                log.warning("code was shown without colors: %s", str(error) or "the process ended")
                self.close()
                return _Found(None, LISTING_SECONDS)


def _start() -> subprocess.Popen[bytes]:
    return start_child([sys.executable, "-P", "-m", "octavo.kit.processes.highlighting"])


def _send(stream: IO[bytes], message: Struct) -> None:
    data = msgspec.msgpack.encode(message)
    stream.write(len(data).to_bytes(4, "big") + data)
    stream.flush()


def _receive(stream: IO[bytes], kind: type[Any], patience: float | None = None) -> Any:
    if patience is not None and not select([stream], [], [], patience)[0]:
        raise OSError(f"the process didn't respond within {patience:g} seconds")
    length = stream.read(4)
    data = stream.read(int.from_bytes(length, "big"))
    if len(length) < 4 or len(data) < int.from_bytes(length, "big"):
        raise EOFError
    return msgspec.msgpack.decode(data, type=kind)


def main() -> None:
    # Ctrl+C in the terminal is for the parent, which ends this process by closing its input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # Output that a lexer prints is not a response.
    highlight("", "text")  # Loads the lexers, outside of any time limit.
    while True:
        try:
            wanted = _receive(sys.stdin.buffer, _Wanted)
        except EOFError:
            return
        _send(out, highlight_in_time(wanted.code, wanted.syntax, wanted.seconds))


if __name__ == "__main__":
    main()
