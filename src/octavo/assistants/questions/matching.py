"""Match questions that ask the same thing in different words, and classify questions. No model is required.

Two questions count as the same if they share most of their significant words, in any order and inflection. If the
same page answers both, fewer shared words are enough. This module does no I/O."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Set as AbstractSet

from octavo.core.sentences import fold, stems

from .types import QuestionType, Relevance, Resolution

MAX_WORDS = 24
"""Maximum number of significant words of a question to compare. The rest of a long question is mostly background."""
SAME = 0.8
SAME_WITH_SOURCE = 0.5
"""Minimum fraction of shared words for two questions to count as the same: in general, and if the same page answers
both."""

_SYNONYMS = (
    ("create", "add", "generate"),
    ("delete", "remove", "erase"),
    ("change", "update", "edit", "modify"),
    ("error", "fail", "failure", "problem", "issue", "broken"),
    ("configure", "config", "setup", "setting"),
    ("login", "signin"),
    ("price", "cost"),
    ("start", "run", "launch"),
)
_SAME_WORD = {stems(word)[0]: stems(words[0])[0] for words in _SYNONYMS for word in words if stems(word)}

GENERAL_WORDS = frozenset(_SAME_WORD.values())
"""Words for common actions, such as "create". They don't indicate what a question is about."""

_TROUBLE = re.compile(
    r"\b(?:errors?|fail(?:s|ed|ing|ure)?|broken|crash\w*|timeouts?|not work\w*|doesnt work|cant|cannot|wont|stuck|why"
    r"|exceptions?|fehler\w*|funktioniert nicht|warum|erreurs?|pourquoi|errores?|falla\w*|errori?|erros?)\b"
)
_HOW = re.compile(
    r"\bhow (?:do|can|to|does|should|would)\b|^(?:wie|comment|como|come|hoe|hur|jak)\b|\bsteps?\b"
)
_REFERENCE = re.compile(
    r"\b(?:defaults?|limits?|maximum|minimum|parameters?|options?|syntax|endpoints?|versions?|values?|list of|port)\b"
    r"|^(?:which|where|welche\w*|wo|quels?|quelles?|ou|cual\w*|donde|quale|dove)\b"
)
_EXPLORING = re.compile(
    r"^(?:what|is|are|does|do|can|should|was|ist|kann|gibt|quest|est|peut|que|es|puede|cosa|che|tell)\b"
    r"|\b(?:difference|compare[ds]?|overview|versus|vs)\b"
)
_LINK = re.compile(r"https?://|\bwww\.", re.I)


def words_of(question: str) -> frozenset[str]:
    """Return the significant words of a question as stems, with synonyms replaced by a common word."""
    return frozenset(_SAME_WORD.get(word, word) for word in stems(question)[:MAX_WORDS])


def wording_of(question: str) -> str:
    """Return a key that is the same for questions with the same significant words. If a question has no significant
    words, its text is the key."""
    words = words_of(question)
    key = " ".join(sorted(words)) if words else f"\0{fold(' '.join(question.split()))}"
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:40]


def similarity(one: AbstractSet[str], other: AbstractSet[str]) -> float:
    """Return the fraction of words that two questions share, from 0 to 1. The result for questions with different
    numbers is 0, because error 404 isn't error 500.

    >>> similarity({"export", "invoic"}, {"export", "invoic", "month"})
    0.8
    >>> similarity({"fix", "error", "404"}, {"fix", "error", "500"})
    0.0
    """
    numbers, others = _numbers_of(one), _numbers_of(other)
    if not one or not other or numbers and others and numbers != others:
        return 0.0
    return 2 * len(one & other) / (len(one) + len(other))


def _numbers_of(words: AbstractSet[str]) -> set[str]:
    return {word for word in words if any(letter.isdigit() for letter in word)}


def classify(question: str) -> QuestionType:
    """Return the type of a question based on its words.

    >>> classify("How do I export invoices?"), classify("Export fails with error 12"), classify("invoices")
    ('how-to', 'troubleshooting', 'unknown')
    """
    folded = " ".join(fold(word) for word in question.split())
    patterns: tuple[tuple[QuestionType, re.Pattern[str]], ...] = (
        ("troubleshooting", _TROUBLE),
        ("how-to", _HOW),
        ("reference", _REFERENCE),
        ("exploring", _EXPLORING),
    )
    return next((type for type, pattern in patterns if pattern.search(folded)), "unknown")


def judge_relevance(question: str, answered: Resolution) -> Relevance:
    """Return the relevance of a question. Without a model, no question is `off-topic`, because questions about
    topics that the documentation doesn't mention can be the most relevant ones."""
    if answered == "no" and _LINK.search(question):
        return "spam"
    return "relevant" if stems(question) else "unclear"
