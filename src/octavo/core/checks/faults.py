"""Problems on a page, and the other data about the page that site-wide checks need."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

FaultKind = Literal["alt-text", "code-sample", "placeholder", "style"]
"""Kinds of problems that depend only on the page itself, not on the rest of the site."""

QUOTE = 200
"""Maximum number of characters in a quotation."""


class TextFix(Struct, frozen=True, array_like=True):
    """Replacement for text on a page. ``before`` and ``after``: the surrounding text in the same paragraph, which is
    used to find the text again after the page is edited."""

    before: str
    old: str
    after: str
    new: str


class Fault(Struct, frozen=True, omit_defaults=True):
    """Problem on a page. ``subject``: text that distinguishes the problem from others of the same kind on the page.
    ``quote``: the words with the problem. ``message``: the description of the problem. ``rule``: the style guide rule
    that the page breaks."""

    kind: FaultKind
    subject: str
    quote: str
    message: str
    rule: str = ""
    severity: Literal["low", "medium", "high", ""] = ""
    fix: TextFix | None = None


class Statement(Struct, frozen=True, array_like=True):
    """Sentence that states a number, a version, or a URL (``value``). ``pattern``: the other words in the sentence."""

    pattern: str
    value: str
    text: str


class ChangeNotice(Struct, frozen=True, array_like=True):
    """Change that a changelog announces. ``day``: its date in ISO 8601 format. ``names``: the identifiers in it.
    ``links``: its links, as they are written."""

    day: str
    text: str
    names: list[str]
    links: list[str]


class CheckedPage(Struct, omit_defaults=True):
    """Result of checking one page. ``urls``: the URLs of links to other sites, with the text of the links.
    ``variables``: the names of the variables that the page uses, such as ``space.version``. ``operations``: the API
    operations that the page shows, each with its specification, method, and path. ``files``: the page's relative links
    to files that aren't pages. ``names``: the identifiers that the page shows as code. ``notices``: the dated changes
    that the page announces."""

    faults: list[Fault] = []
    statements: list[Statement] = []
    urls: dict[str, str] = {}
    variables: list[str] = []
    operations: list[tuple[str, str, str]] = []
    files: list[str] = []
    names: list[str] = []
    notices: list[ChangeNotice] = []
