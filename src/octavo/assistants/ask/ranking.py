"""Which sections answer a question best: those that say most of its words, rare ones above all, and say so in their
heading. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from msgspec import Struct

from octavo.core.sentences import content_words, fold, stems

_PER_RANK = 0.02
"""What a section loses for each page that search put before its own."""
_HEADING = 0.6
"""What a heading that says exactly what was asked adds."""
_NEAR = 0.75
_LEAST = 4
"""How alike a misspelt word is to what was meant, and letters that it has at least."""


class Candidate(Struct, frozen=True):
    """A section that may answer: the titles above it, its heading and text, and the rank of its page from 0."""

    titles: str
    heading: str
    text: str
    rank: int


class Score(Struct, frozen=True):
    """``covers``: the part of the question's words that a section says with its titles, 0 to 1."""

    worth: float
    covers: float


def rank(asked: Mapping[str, str], candidates: Sequence[Candidate]) -> list[Score]:
    """How well each candidate fits what was asked: stems, and the words as they were written."""
    texts = [f"{candidate.titles}\n{candidate.heading}\n{candidate.text}" for candidate in candidates]
    said = [set(stems(text)) for text in texts]
    counts = Counter(word for words in said for word in words)
    wanted = list(asked)
    if unknown := [stem for stem in wanted if stem not in counts]:
        meant = _meant({stem: asked[stem] for stem in unknown}, texts)
        wanted = list(dict.fromkeys(meant.get(stem, stem) for stem in wanted))
    weights = {word: math.log((1 + len(said)) / (1 + counts[word])) + 0.5 for word in wanted}
    whole = sum(weights.values())
    found = []
    for candidate, words in zip(candidates, said, strict=True):
        title = set(stems(candidate.titles.rpartition("\n")[2]))
        heading = set(stems(candidate.heading)) or title
        # People name a section by its heading, or by that and the page it is on.
        likeness = max(_likeness(named, weights) for named in (heading, heading | title))
        worth = sum(weights[word] for word in wanted if word in words) / whole
        covers = sum(word in words for word in wanted) / len(wanted)
        found.append(Score(worth + _HEADING * math.sqrt(likeness) - _PER_RANK * candidate.rank, covers))
    return found


def _likeness(named: set[str], weights: Mapping[str, float]) -> float:
    """As much of the question in the name, as of the name in the question: 0 to 1."""
    shared = sum(weight for word, weight in weights.items() if word in named)
    return shared / sum(weights.values()) * len(named & weights.keys()) / (len(named) or 1)


def _meant(unknown: Mapping[str, str], texts: Sequence[str]) -> dict[str, str]:
    """Of misspelt words, the stems of the ones they are nearest to, of those that the texts have."""
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
        # Two letters exchanged are likelier than one too many.
        for other in same[:1] or get_close_matches(word, alike, 1, _NEAR):
            found[stem] = known[other]
    return found
