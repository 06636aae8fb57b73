"""Problems on a page, and the other data about the page that site-wide checks need."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

FaultKind = Literal["alt-text", "code-sample", "placeholder", "style"]
"""Kinds of problems that depend only on the page itself, not on the rest of the site."""

QUOTE = 200
"""Maximum number of characters of a quotation."""


class TextFix(Struct, frozen=True, array_like=True):
    """Replacement for text on a page. ``before`` and ``after``: the surrounding text in the same paragraph, which is
    used to find the text again after the page is edited."""

    before: str
    old: str
    after: str
    new: str


class Fault(Struct, frozen=True, omit_defaults=True):
    """Problem on a page. ``subject``: a text that distinguishes the problem from others of the same kind on the page.
    ``quote``: the words with the problem. ``message``: the description of the problem. ``rule``: the style guide
    rule."""

    kind: FaultKind
    subject: str
    quote: str
    message: str
    rule: str = ""
    severity: Literal["low", "medium", "high", ""] = ""
    fix: TextFix | None = None


class Statement(Struct, frozen=True, array_like=True):
    """Sentence that states a number, a version, or a URL (``value``). ``pattern``: the other words of the sentence."""

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
    """Result of checking one page. ``urls``: the URLs of other sites, with the text of their links. ``variables``: the
    names of the variables that it uses, such as ``space.version``. ``operations``: the API operations that it shows, as
    specification, method, and path. ``files``: its relative links to files that aren't pages. ``names``: the
    identifiers that it shows as code. ``notices``: the changes that it announces with a date."""

    faults: list[Fault] = []
    statements: list[Statement] = []
    urls: dict[str, str] = {}
    variables: list[str] = []
    operations: list[tuple[str, str, str]] = []
    files: list[str] = []
    names: list[str] = []
    notices: list[ChangeNotice] = []
