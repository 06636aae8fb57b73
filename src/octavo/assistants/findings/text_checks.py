"""Check unsaved text against a site's style guide, and for placeholders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct

from octavo.content.revisions.restrictions import unrestricted
from octavo.content.revisions.states import main_state
from octavo.core.checks.pages import find_placeholder
from octavo.core.checks.style import Replacement, StyledText, StyleRule, find_style
from octavo.kit.db.cache import OwnCache
from octavo.kit.db.database import Transaction
from octavo.kit.scheduling import deadlines
from octavo.organization.access.authorization import SiteAccess

from . import store
from .kinds import KINDS, Severity
from .store import FindingFilter
from .styleguides import read_rules, require_styleguide

_MOST_FOUND = 500
_MOST_DISMISSED = 100
_PATTERN_BYTES = 8 * 1024
"""Estimated memory in bytes of a compiled pattern."""

_rules: OwnCache[list[StyleRule]] = OwnCache("style guides", 4)
"""Rules of style guides, by revision. They are cached because reading them takes longer than most checks."""


class TextFault(Struct, frozen=True):
    """Problem in unsaved text. ``text``: the index of the text that contains the problem. ``start`` and ``end``: the
    range of the problem, in characters. ``rule``: the style guide rule; None for a placeholder. ``fix``: the
    correction; None if a person must decide."""

    text: int
    start: int
    end: int
    message: str
    rule: StyleRule | None = None
    fix: Replacement | None = None

    @property
    def severity(self) -> Severity:
        return KINDS["placeholder"].severity if self.rule is None else self.rule.severity


class CheckedTexts(NamedTuple):
    """Problems in unsaved text. ``compares``: whether the style guide has rules that compare different parts of a
    page."""

    faults: list[TextFault]
    compares: bool


def check_texts(
    tx: Transaction, site: SiteAccess, texts: Sequence[StyledText], page_id: str | None, *, whole_page: bool
) -> CheckedTexts:
    """Return the problems in the text, except those found by rules whose findings on the page were dismissed.
    ``whole_page``: whether to apply only the rules that compare different parts of a page; otherwise, only the
    other rules are applied. Raises NotFound if the site has no style guide."""
    rules = _load_rules(tx, require_styleguide(tx, site).id)
    dismissed = _list_dismissed(tx, site, page_id) if page_id is not None else set()
    rules = [rule for rule in rules if rule.name not in dismissed]
    found = [] if whole_page else [*_find_unfinished(texts)]
    numbers = {id(text): number for number, text in enumerate(texts)}
    for rule in rules:
        deadlines.check()
        if rule.compares == whole_page:
            for fault in find_style(rule, texts):
                number = numbers[id(fault.text)]
                found.append(TextFault(number, fault.start, fault.end, fault.message, rule, fault.fix))
    found.sort(key=lambda fault: (fault.text, fault.start, fault.end))
    return CheckedTexts(found[:_MOST_FOUND], any(rule.compares for rule in rules))


def _load_rules(tx: Transaction, styleguide_id: str) -> list[StyleRule]:
    key = (styleguide_id, unrestricted(tx, main_state(tx, styleguide_id)).key)
    rules = _rules.of(tx).get(key)
    if rules is None:
        rules = read_rules(tx, styleguide_id).rules
        size = sum(len(rule.source) + _PATTERN_BYTES * (1 + len(rule.patterns)) for rule in rules)
        _rules.of(tx).put(key, rules, size)
    return rules


def _list_dismissed(tx: Transaction, site: SiteAccess, page_id: str) -> set[str]:
    """Return the names of the rules whose findings on a page were dismissed."""
    chosen = FindingFilter(page=page_id, status="canceled", kinds=["style"])
    return {row.title for row in store.list_findings(tx, site, chosen, _MOST_DISMISSED, None).rows}


def _find_unfinished(texts: Sequence[StyledText]) -> Iterator[TextFault]:
    for number, text in enumerate(texts):
        match = find_placeholder(text.shown, heading=text.heading)
        if match is not None:
            yield TextFault(number, match.start(), match.end(), "This text is unfinished.")
