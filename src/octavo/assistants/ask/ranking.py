"""Rank sections for a question. The best sections contain most of the question's words, especially the rare ones,
and have headings with these words. This module does no I/O."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from msgspec import Struct

from octavo.core.sentences import content_words, fold, stems

_PER_RANK = 0.02
"""Penalty for each page that ranked higher in the search."""
_HEADING = 0.6
"""Bonus for a heading that matches the question exactly."""
_NEAR = 0.75
_LEAST = 4
"""Minimum similarity between a misspelled word and its correction (``_NEAR``), and minimum number of letters in a word
to correct (``_LEAST``)."""


class Candidate(Struct, frozen=True):
    """Section that may contain the answer. ``titles``: the titles above it. ``rank``: the rank of its page in the
    search results, starting at 0."""

    titles: str
    heading: str
    text: str
    rank: int


class Score(Struct, frozen=True):
    """Relevance of a section to a question. ``covers``: the share of the question's words that occur in the section
    and its titles, from 0 to 1."""

    worth: float
    covers: float


def rank(asked: Mapping[str, str], candidates: Sequence[Candidate]) -> list[Score]:
    """Return the score of each candidate for a question. ``asked``: the question's words, keyed by their stems."""
    texts = [f"{candidate.titles}\n{candidate.heading}\n{candidate.text}" for candidate in candidates]
    stems_of = [set(stems(text)) for text in texts]
    counts = Counter(word for words in stems_of for word in words)
    wanted = list(asked)
    if unknown := [stem for stem in wanted if stem not in counts]:
        meant = _correct_words({stem: asked[stem] for stem in unknown}, texts)
        wanted = list(dict.fromkeys(meant.get(stem, stem) for stem in wanted))
    weights = {word: math.log((1 + len(stems_of)) / (1 + counts[word])) + 0.5 for word in wanted}
    whole = sum(weights.values())
    found = []
    for candidate, words in zip(candidates, stems_of, strict=True):
        title = set(stems(candidate.titles.rpartition("\n")[2]))
        heading = set(stems(candidate.heading)) or title
        # A question can name a section by its heading alone, or by its page and its heading.
        likeness = max(_compute_overlap(named, weights) for named in (heading, heading | title))
        worth = sum(weights[word] for word in wanted if word in words) / whole
        covers = sum(word in words for word in wanted) / len(wanted)
        found.append(Score(worth + _HEADING * math.sqrt(likeness) - _PER_RANK * candidate.rank, covers))
    return found


def _compute_overlap(named: set[str], weights: Mapping[str, float]) -> float:
    """Return the similarity between a heading and the question, from 0 to 1."""
    shared = sum(weight for word, weight in weights.items() if word in named)
    return shared / sum(weights.values()) * len(named & weights.keys()) / (len(named) or 1)


def _correct_words(unknown: Mapping[str, str], texts: Sequence[str]) -> dict[str, str]:
    """Return corrections for words that no section contains. Words are identified by their stems, and each
    correction is the stem of the most similar word in the sections."""
    known: dict[str, str] = {}
    for text in texts:
        known.update(zip(map(fold, content_words(text)), stems(text), strict=True))
    found = {}
    for stem, written in unknown.items():
        word = fold(written)
        if len(word) < _LEAST or not word.isalpha():
            continue
        alike = [other for other in known if abs(len(other) - len(word)) <= 2 and other[0] == word[0]]
        same = [other for other in alike if sorted(other) == sorted(word)]
        # Two swapped letters are a likelier mistake than an extra letter.
        for other in same[:1] or get_close_matches(word, alike, 1, _NEAR):
            found[stem] = known[other]
    return found
