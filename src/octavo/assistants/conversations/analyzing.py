"""Find the issues in a conversation. Each issue has a title and a summary in the reader's words.

This works without a model: sentences are scored by how much they resemble questions and problem reports.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from octavo.core.sentences import sentences, shorten, stems

from .types import Part

MAX_TITLE = 140
MAX_SUMMARY = 500
MAX_ISSUES = 3
"""Maximum number of issues in one conversation. Additional questions become part of the last issue."""
_MAX_TEXT = 20_000
"""Maximum number of characters in a conversation to analyze. The rest is mostly logs and code."""
_MAX_SENTENCE = 400

_REPLY = re.compile(r"^(?:\s*(?:re|fwd?|aw|wg|tr|sv|vs|antw)\s*:)+\s*", re.I)
_QUESTION = re.compile(
    r"\?\s*$|^(?:how|what|why|where|when|which|who|can|could|is|are|does|do|should)\b", re.I
)
_TROUBLE = re.compile(
    r"\b(?:can(?:no|')t|unable|fail\w*|error\w*|wrong|broken?|bug|crash\w*|issue|problem|trouble|stuck|missing"
    r"|does(?:n't| not)|did(?:n't| not)|is(?:n't| not)|won't|wie|warum|fehler|comment|pourquoi|erreur|c[oó]mo)\b",
    re.I,
)
_WISH = re.compile(
    r"\b(?:would like|want to|need to|trying to|looking for|is there a way|possible to)\b", re.I
)
_CODE = re.compile(r"```.*?(?:```|\Z)", re.S)


class Issue(Struct, frozen=True):
    title: str
    summary: str

    @property
    def text(self) -> str:
        """Return the text to compare with other issues."""
        return f"{self.title}\n{self.summary}"


def find_issues(subject: str | None, parts: Sequence[Part]) -> list[Issue]:
    """Return the issues of a conversation, in order; empty if the conversation is empty.

    A later message starts a new issue if it is about a subject that wasn't mentioned before."""
    asked = [part.body for part in parts if part.role == "user"] or [part.body for part in parts]
    heading = _REPLY.sub("", " ".join((subject or "").split()))
    telling = heading if len(stems(heading)) > 1 else ""
    threads: list[list[str]] = []
    known: set[str] = set(stems(telling))
    left = _MAX_TEXT
    for body in asked:
        text = _CODE.sub(" ", body[:left])
        left -= len(text)
        statements = [sentence[:_MAX_SENTENCE] for sentence in sentences(text)]
        if statements:
            words = set(stems(" ".join(statements)))
            best = max(map(_score_sentence, statements))
            is_new = (
                threads and len(threads) < MAX_ISSUES and best >= 2 and len(words) > 2 and not words & known
            )
            if is_new or not threads:
                threads.append([])
            threads[-1] += statements
            known |= words
        if left <= 0:
            break
    found = [_issue(telling if number == 0 else "", statements) for number, statements in enumerate(threads)]
    if not found and telling:
        found = [_issue(telling, [])]
    return [issue for issue in found if issue.title]


def _issue(heading: str, statements: Sequence[str]) -> Issue:
    ranked = sorted(range(len(statements)), key=lambda at: (-_score_sentence(statements[at]) + at * 0.1, at))
    title = heading or (statements[ranked[0]] if ranked else "")
    sentences = [statements[at] for at in sorted(ranked[:3]) if stems(statements[at])]
    return Issue(shorten(title, MAX_TITLE), shorten(" ".join(sentences) or title, MAX_SUMMARY))


def _score_sentence(sentence: str) -> float:
    """Return a score for how likely a sentence is to state the problem."""
    words = len(stems(sentence))
    if words == 0:
        return 0.0
    worth = 2.0 if _QUESTION.search(sentence) else 0.0
    worth += 1.5 if _TROUBLE.search(sentence) else 0.0
    worth += 1.0 if _WISH.search(sentence) else 0.0
    return worth + min(words, 8) / 8 - (0.5 if len(sentence) > 250 else 0.0)
