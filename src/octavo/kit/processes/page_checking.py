"""Check pages in a separate process, so that requests don't wait for the interpreter while a site is scanned.

``python -m octavo.kit.processes.page_checking`` is that process.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from functools import lru_cache

from msgspec import Struct

from octavo.core.checks.faults import CheckedPage
from octavo.core.checks.pages import check_page
from octavo.core.checks.style import StyleRule
from octavo.core.document.evaluating import close_conditions
from octavo.core.document.page import split_page
from octavo.core.document.reader import read
from octavo.kit.scheduling.permits import waiting

from .helper_process import HelperFailed, HelperProcess, answer_requests

_PATIENCE = 60.0
"""Number of seconds after which the check of a page is ended."""
_IDLE = 60.0
"""Number of seconds without a page to check after which the process ends."""
_NICE = 10
"""How much lower the priority of the process is than the priority of requests."""

log = logging.getLogger("octavo.scans")
checker = HelperProcess("octavo.kit.processes.page_checking")


class _Unchecked(Struct, array_like=True, frozen=True):
    """Page file to check. ``rules``: the style guide rules, each as name, source, and rationale."""

    text: str
    rules: tuple[tuple[str, str, str], ...]


def check_text(text: str, rules: Iterable[StyleRule]) -> CheckedPage:
    """Check a page file by the rules of a style guide. A page whose check fails or takes too long has no problems."""
    given = tuple((rule.name, rule.source, rule.why) for rule in rules)
    try:
        with waiting():
            return checker.ask(_Unchecked(text, given), CheckedPage, _PATIENCE)
    except HelperFailed as error:
        log.warning("a page was not checked: %s", error)
        return CheckedPage()


@lru_cache(maxsize=8)
def _compile(rules: tuple[tuple[str, str, str], ...]) -> list[StyleRule]:
    return [StyleRule(*rule) for rule in rules]


def _check(page: _Unchecked) -> CheckedPage:
    return check_page(close_conditions(read(split_page(page.text)[2])), _compile(page.rules))


if __name__ == "__main__":
    os.nice(_NICE)
    answer_requests(_Unchecked, _check, _IDLE)
