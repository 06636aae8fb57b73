"""Merge rule that requires text in change requests to follow the style guide."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from octavo.content.changes.comparing import sides_of
from octavo.content.changes.rules import register_style_check
from octavo.content.changes.store import ChangeRow
from octavo.content.changes.types import StyleViolation
from octavo.content.references.viewing import source_document
from octavo.core.checks.faults import Fault
from octavo.core.checks.pages import styled_texts
from octavo.core.checks.style import StyledText, StyleRule, check_style
from octavo.core.pages import Page
from octavo.kit.db.database import Transaction
from octavo.kit.scheduling import deadlines

from .styleguide_store import list_styleguides_of_space
from .styleguides import read_rules

_LEVELS = ("suggestion", "warning", "error")
_WHOLE = ("consistency", "conditional")
"""Types of rules that compare different parts of a page."""
_Key = tuple[str, str]


def list_introduced(tx: Transaction, change: ChangeRow, level: str) -> list[StyleViolation]:
    """Return the text in a change request that violates rules of at least this level in the style guides of the
    space's sites. Text that is already in the main version doesn't count, even if it was moved to another page or
    is next to edited text."""
    counting = _LEVELS[_LEVELS.index(level) :] if level in _LEVELS else _LEVELS
    rules = [
        rule
        for guide in list_styleguides_of_space(tx, change.space_id)
        for rule in read_rules(tx, guide).rules
        if rule.given.level in counting
    ]
    if not rules:
        return []
    old: Counter[_Key] = Counter()
    new: list[tuple[Page, Fault]] = []
    sides = sides_of(tx, change)
    for id, page in sides.change.pages.items():
        before = sides.base.pages.get(id)
        if page is not None and before is not None and page.body == before.body:
            continue
        deadlines.check()
        texts_before, texts = _texts_on(tx, change, before), _texts_on(tx, change, page)
        old.update(map(_key, _check(rules, texts_before, set(texts))))
        if page is not None:
            new += [(page, fault) for fault in _check(rules, texts, set(texts_before))]
    return list(_list_new(old, new))


def _texts_on(tx: Transaction, change: ChangeRow, page: Page | None) -> list[StyledText]:
    if page is None or page.computed or page.kind != "document":
        return []
    return styled_texts(source_document(tx, change.space_id, page))


def _check(
    rules: Sequence[StyleRule], texts: Sequence[StyledText], elsewhere: Collection[StyledText]
) -> list[Fault]:
    """Return the problems on a page, except those in text that the other version of the page also contains."""
    changed = [text for text in texts if text not in elsewhere]
    return [
        *check_style([rule for rule in rules if rule.given.extends not in _WHOLE], changed),
        *check_style([rule for rule in rules if rule.given.extends in _WHOLE], texts),
    ]


def _key(fault: Fault) -> _Key:
    """Return the rule and the message of a problem. Numbers are removed from the message, because an edit can
    change a word count."""
    return fault.rule, re.sub(r"\d+", "", fault.message)


def _list_new(old: Counter[_Key], new: Sequence[tuple[Page, Fault]]) -> Iterator[StyleViolation]:
    for page, fault in new:
        key = _key(fault)
        if old[key] > 0:
            old[key] -= 1
        else:
            yield StyleViolation(page.id, page.title, fault.rule, fault.message)


register_style_check(list_introduced)
