"""Find sentences that state a number, a version, or a URL, and find contradictions between them.

Two sentences contradict each other if they have the same words except for one value. Lists of releases and
series of steps repeat a sentence with a different value on purpose, so a pattern with many values isn't a
contradiction.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from octavo.core.sentences import sentences, stems

from .faults import QUOTE, Statement

_VALUE = re.compile(
    r"https?://[^\s<>\"')\]]+"
    r"|\bv?\d+(?:[.,]\d+)*(?:[-+][\w.]+)?(?:\s?(?:%|[KMGT]i?B\b|ms\b|bytes?\b))?"
    r"|(?<![\w-])(?:true|false|enabled|disabled)(?![\w-])"
)
_NUMBERED = re.compile(
    r"第\s*§?\s*\d|\b(?:step|figure|table|example|chapter|section|part|page|version|release[ds]?|since|added|new|changed|deprecated|"
    r"removed|updated|introduced|migrat\w+|upgrad\w+|option|case|copyright|published|lesson|day|week|e\.g|for instance|"
    r"january|february|march|april|may|june|july|august|september|october|november|december)\b",
    re.I,
)
_FEWEST_STEMS = 4
"""Minimum number of significant words that two sentences must share in addition to the value."""
_LONGEST = 400
_MOST = 300
"""Maximum number of statements to store per page."""


class StatementPlace(Struct, frozen=True):
    """Statement and the page that contains it."""

    page: str
    statement: Statement


class Contradiction(Struct, frozen=True):
    """Statements with the same pattern but two different values. The more common value comes first."""

    pattern: str
    places: tuple[StatementPlace, ...]


def list_statements(texts: Iterable[str]) -> list[Statement]:
    """Return the statements in paragraphs of text.

    >>> list_statements(["A message is retried 12 times by default."])[0].value
    '12'
    """
    found: dict[tuple[str, str], Statement] = {}
    for text in texts:
        if not _VALUE.search(text):
            continue
        for sentence in sentences(text):
            if len(sentence) > _LONGEST or _NUMBERED.search(sentence):
                continue
            values = _VALUE.findall(sentence)
            if len(values) != 1 or _is_question(sentence):
                continue
            pattern = " ".join(_VALUE.sub("§", sentence).lower().split()).rstrip(".!:;")
            if len(stems(pattern.replace("§", " "))) < _FEWEST_STEMS:
                continue
            value = values[0].rstrip(".,;:!?")
            found.setdefault((pattern, value), Statement(pattern, value, sentence[:QUOTE]))
            if len(found) >= _MOST:
                return list(found.values())
    return list(found.values())


def _is_question(sentence: str) -> bool:
    return sentence.rstrip().endswith("?")


def find_contradictions(pages: Mapping[str, Sequence[Statement]]) -> list[Contradiction]:
    """Return the contradictions between pages. ``pages``: the statements by page ID."""
    by_pattern: dict[str, list[StatementPlace]] = {}
    for page, statements in pages.items():
        for statement in statements:
            by_pattern.setdefault(statement.pattern, []).append(StatementPlace(page, statement))
    found = []
    for pattern, places in by_pattern.items():
        by_value: dict[str, list[StatementPlace]] = {}
        for place in places:
            by_value.setdefault(place.statement.value, []).append(place)
        if len(by_value) != 2:
            continue
        one, two = sorted(by_value.values(), key=lambda group: (-len(group), group[0].statement.value))
        # A page that contains both values explains the difference.
        if {place.page for place in one} & {place.page for place in two}:
            continue
        found.append(Contradiction(pattern, (*one, *two)))
    return found
