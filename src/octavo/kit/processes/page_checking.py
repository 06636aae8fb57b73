"""Check pages in a separate process, so that requests don't wait while a site is scanned.

The process gets CPU time only when no other process needs it.

``python -m octavo.kit.processes.page_checking`` is that process.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache

from msgspec import Struct

from octavo.core.checks.faults import CheckedPage
from octavo.core.checks.pages import check_page
from octavo.core.checks.style import StyleRule
from octavo.core.document.evaluating import close_conditions
from octavo.core.document.page import split_page
from octavo.core.document.reader import read
from octavo.kit.scheduling import deadlines
from octavo.kit.scheduling.permits import waiting

from .helper_process import HelperFailed, HelperProcess, answer_requests

_SECONDS = 30
"""Maximum CPU time in seconds for one page."""
_PATIENCE = 600.0
"""Number of seconds to wait for a page. On a busy machine, the process gets little CPU time."""
_IDLE = 60.0
"""Number of seconds without a page to check after which the process ends."""

log = logging.getLogger("octavo.scans")
checker = HelperProcess("octavo.kit.processes.page_checking")


class _Unchecked(Struct, array_like=True, frozen=True):
    """Page file to check. ``rules``: the style guide rules, each as name, source, and rationale."""

    text: str
    rules: tuple[tuple[str, str, str], ...]


def check_text(page_id: str, text: str, rules: Iterable[StyleRule]) -> CheckedPage | None:
    """Check a page against the rules of a style guide. ``text``: the text of the page file. Return None if the check
    fails or takes too long, which is logged."""
    given = tuple((rule.name, rule.source, rule.why) for rule in rules)
    try:
        with waiting():
            return checker.ask(_Unchecked(text, given), CheckedPage, deadlines.remaining(_PATIENCE))
    except HelperFailed as error:
        deadlines.check()
        log.warning("a page couldn't be checked: %s", error, extra={"page": page_id})
        return None


@lru_cache(maxsize=8)
def _compile(rules: tuple[tuple[str, str, str], ...]) -> list[StyleRule]:
    return [StyleRule(*rule) for rule in rules]


def _check(page: _Unchecked) -> CheckedPage:
    # When the time is over, the signal ends the process.
    signal.setitimer(signal.ITIMER_VIRTUAL, _SECONDS)
    checked = check_page(close_conditions(read(split_page(page.text)[2])), _compile(page.rules))
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return checked


def main() -> None:
    with suppress(OSError):
        if sys.platform == "linux":
            # Requests interrupt the process at once. With a lower priority alone, they wait for milliseconds.
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        else:
            os.nice(19)
    answer_requests(_Unchecked, _check, _IDLE)


if __name__ == "__main__":
    main()
