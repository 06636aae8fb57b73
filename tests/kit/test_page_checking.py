"""Scans check pages in a separate process."""

from __future__ import annotations

import pytest

from octavo.core.checks.faults import CheckedPage
from octavo.core.checks.pages import check_page
from octavo.core.checks.style import StyleRule
from octavo.core.document.reader import read
from octavo.kit.processes import page_checking
from octavo.kit.processes.helper_process import HelperFailed
from octavo.kit.processes.page_checking import check_text, checker
from octavo.kit.scheduling import deadlines

RULE = StyleRule(
    "Use",
    "extends: substitution\nmessage: Use '%s'.\nignorecase: true\nswap:\n  utilize: use\n",
    "It is shorter.",
)
TEXT = "---\ndescription: Words.\n---\n\n# Title\n\nUtilize it. TODO: more.\n"


def _kinds(rules: list[StyleRule]) -> set[str]:
    checked = check_text("page", TEXT, rules)
    assert checked is not None
    return {fault.kind for fault in checked.faults}


def test_the_process_finds_the_problems_that_check_page_finds() -> None:
    body = "Utilize it. TODO: more.\n"
    assert check_text("page", TEXT, [RULE]) == check_page(read(body), [RULE])
    assert _kinds([RULE]) == {"style", "placeholder"}
    assert _kinds([]) == {"placeholder"}


def test_a_process_that_ended_is_replaced() -> None:
    check_text("page", TEXT, [])
    running = checker._process
    assert running is not None
    running.kill()
    running.wait()
    assert _kinds([])


def test_a_failed_check_returns_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*given: object) -> CheckedPage:
        raise HelperFailed("the process ended")

    monkeypatch.setattr(page_checking.checker, "ask", fail)
    assert check_text("page", TEXT, []) is None
    with pytest.raises(deadlines.DeadlineExceeded), deadlines.limited(0):
        check_text("page", TEXT, [])
