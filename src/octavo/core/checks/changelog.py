"""Changelog entries, the names that they mention, and the pages that they link to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from octavo.core.document.nodes import Block, Document, Fragment, Inline, Text, plain_text, walk
from octavo.core.sentences import shorten

from .faults import QUOTE, ChangeNotice

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)})[a-z]*\.?"
_DATES = (
    re.compile(r"\b(?P<year>20\d\d)-(?P<number>\d\d)-(?P<day>\d\d)\b"),
    re.compile(rf"\b{_MONTH} (?P<day>\d\d?)(?:st|nd|rd|th)?,? (?P<year>20\d\d)\b", re.I),
    re.compile(rf"\b(?P<day>\d\d?)\.? {_MONTH} (?P<year>20\d\d)\b", re.I),
)
_CHANGE = re.compile(
    r"\b(?:now|no longer|renam\w+|remov\w+|deprecat\w+|replac\w+|defaults?|chang\w+|instead)\b", re.I
)
_NAME = re.compile(r"(?=.*(?:[a-z][A-Z]|[_.-]))[\w.-]{4,80}")
"""Pattern of an identifier. Single words are excluded, because they can have other meanings on other pages."""
_MOST = 300
_MOST_NAMES = 200


def list_names(document: Document) -> list[str]:
    """Return the identifiers that a page shows as code in its text, without duplicates."""
    names = dict.fromkeys(
        name for node in walk(document) if isinstance(node, Text) for name in _names_in(node)
    )
    return list(names)[:_MOST_NAMES]


def list_notices(document: Document) -> list[ChangeNotice]:
    """Return the changes that a page announces under dated headings and in dated updates. Changes without links are
    included only if they show an identifier as code."""
    found: list[ChangeNotice] = []
    day = ""
    for node in walk(document):
        if not isinstance(node, Block):
            continue
        if node.type == "update":
            day = _find_day(str(node.data.get("date") or ""))
        elif node.type.startswith("heading-"):
            # A heading without a date, such as "Fixed", is part of the release above.
            day = _find_day(plain_text(node)) or day
        elif node.type == "paragraph" and day and len(found) < _MOST:
            text = " ".join(plain_text(node).split())
            if not _CHANGE.search(text):
                continue
            inside = list(walk(node))
            names = [name for each in inside if isinstance(each, Text) for name in _names_in(each)]
            links = [link for each in inside for link in _links_in(each)]
            if names or links:
                found.append(ChangeNotice(day, shorten(text, QUOTE), names, links))
    return found


def _names_in(text: Text) -> Iterator[str]:
    for leaf in text.leaves:
        if any(mark.type == "code" for mark in leaf.marks) and _NAME.fullmatch(leaf.text):
            yield leaf.text


def _links_in(node: Block | Inline | Text | Fragment | Document) -> Iterator[str]:
    ref = node.data.get("ref") if isinstance(node, Inline) else None
    link = ref.get("url") or ref.get("page") if isinstance(ref, dict) else None
    if isinstance(link, str):
        yield link


def _find_day(text: str) -> str:
    """Return the first date in a string, in ISO 8601 format; an empty string if there is none.

    >>> _find_day("## 1.2.0 (3 November 2026)"), _find_day("Nov 3rd, 2026"), _find_day("2026-02-30")
    ('2026-11-03', '2026-11-03', '')
    """
    for pattern in _DATES:
        match = pattern.search(text)
        if match is None:
            continue
        groups = match.groupdict()
        month = int(groups["number"]) if groups.get("number") else _MONTHS.index(groups["month"].lower()) + 1
        try:
            return date(int(groups["year"]), month, int(groups["day"])).isoformat()
        except ValueError:
            continue
    return ""
