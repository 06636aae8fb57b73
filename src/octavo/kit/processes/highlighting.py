"""Syntax highlighting with a time limit.

The lexers are regular expressions by several hundred authors. For many of them, some input takes hours to process,
and nothing can stop a regular expression in a thread. Therefore, code blocks are highlighted by a separate process,
which limits its own CPU time for each block, regardless of the load on the machine. Code that takes longer is shown
without colors.

``python -m octavo.kit.processes.highlighting`` is that process.
"""

from __future__ import annotations

import logging
import signal
import time
from collections.abc import Callable

from msgspec import Struct

from octavo.core.highlighting import Token, highlight

from .helper_process import HelperFailed, HelperProcess, answer_requests

LISTING_SECONDS = 0.5
"""Maximum CPU time in seconds for one code block."""
PAGE_SECONDS = 1.0
"""Maximum CPU time in seconds for all code blocks of one page."""
_PATIENCE = 20.0
"""Number of seconds after which the process is considered hung and is ended."""

log = logging.getLogger("octavo.highlighting")


class _Wanted(Struct, array_like=True):
    code: str
    syntax: str
    seconds: float


class _Found(Struct, array_like=True):
    """Result of highlighting a code block. ``tokens``: the tokens; None if the language is unknown or the time limit
    was reached. ``seconds``: the CPU time used, or the time limit if it was reached."""

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
        self._process = HelperProcess("octavo.kit.processes.highlighting")

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
        self._process.close()

    def _ask(self, wanted: _Wanted) -> _Found:
        try:
            return self._process.ask(wanted, _Found, _PATIENCE)
        except HelperFailed as error:
            log.warning("code was shown without colors: %s", error)
            return _Found(None, LISTING_SECONDS)


def main() -> None:
    highlight("", "text")  # Loads the lexers, outside of any time limit.
    answer_requests(_Wanted, lambda wanted: highlight_in_time(wanted.code, wanted.syntax, wanted.seconds))


if __name__ == "__main__":
    main()
