"""From what somebody typed to the pages it means.

All words first, in their exact form and stemmed; what is found nowhere is looked for one typing error away; only
when all that gives too little, any of the words. What comes back from the engine is scored once more, alike on
both engines: a title or heading that is just what was asked for comes first. Snippets are made for what is shown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from ..kit.db import Transaction
from . import store
from .store import Found, Term
from .tokens import fold, one_edit_away, spans, stem, without_ending, words

_CANDIDATES = 60
_ENOUGH = 10
_RARE = 2
_MIN_TYPO = 4
_MAX_REWRITES = 8
_MAX_TERMS = 16
_SNIPPET = 180
_SECTIONS = 3

# What a way of matching is worth: how well the words fit counts as much as the engine's own order among them.
_EXACT, _STEMMED, _REPAIRED, _ANY = 100.0, 90.0, 60.0, 0.0
_ORDER, _TITLE, _HEADING = 20.0, 80.0, 45.0


class Part(Struct, frozen=True):
    """A run of a snippet; ``marked`` where it matched."""

    text: str
    marked: bool = False


class SectionHit(Struct, frozen=True):
    """A section that matched; ``snippet`` is empty until ``with_snippets``."""

    id: int
    anchor: str | None
    heading: str
    snippet: tuple[Part, ...] = ()


class PageHit(Struct, frozen=True):
    """A page with its best sections, best first; ``shown``: the words, and their stems, that count as matches."""

    space_id: str
    page_id: str
    score: float
    sections: tuple[SectionHit, ...]
    shown: frozenset[str]


def read_query(text: str) -> list[Term]:
    """The terms of what was typed: words, "phrases", and the last word as a beginning."""
    terms: list[Term] = []
    for match in re.finditer(r'"([^"]*)"|([^"]+)', text):
        if match[1] is not None:
            phrase = tuple(words(match[1]))
            if phrase:
                terms.append(Term((phrase,)))
            continue
        for token in match[2].split():
            found = words(token)
            if not found:
                continue
            # A composed word is looked for whole, or by all of its parts in a row.
            alternatives: list[tuple[str, ...]] = [(found[0],)]
            if len(found) > 1:
                alternatives.append(tuple(found[1:]))
            terms.append(Term(tuple(alternatives)))
    terms = terms[:_MAX_TERMS]
    if terms and not text.endswith((" ", '"')):
        terms[-1] = msgspec.structs.replace(terms[-1], prefix=True)
    return terms


def _near(tx: Transaction, space_ids: Sequence[str], word: str) -> list[str]:
    """The known words one error away from it, or from what it is a form of; the likeliest first."""
    if len(word) < _MIN_TYPO:
        return []
    found = store.pages_with(tx, space_ids, one_edit_away(word))
    if not found:
        forms = {near for form in without_ending(word) for near in (form, *one_edit_away(form))}
        found = store.pages_with(tx, space_ids, forms)
    # Hardly anybody mistypes the first letter.
    return sorted(found, key=lambda near: (near[0] != word[0], -found[near], near))[:_MAX_REWRITES]


def _repaired(
    tx: Transaction, space_ids: Sequence[str], terms: Sequence[Term], most: int | None
) -> list[Term]:
    """The terms, those that stand in at most so many pages also one typing error away."""
    single = [term.alternatives[0][0] for term in terms if len(term.alternatives[0]) == 1]
    pages = store.pages_with(tx, space_ids, single) if most is not None else {}
    repaired = []
    for term in terms:
        first = term.alternatives[0]
        if len(first) == 1 and (most is None or pages.get(first[0], 0) <= most):
            term = msgspec.structs.replace(term, near=tuple(_near(tx, space_ids, first[0])))
        repaired.append(term)
    return repaired


def search_pages(tx: Transaction, space_ids: Sequence[str], text: str) -> list[PageHit]:
    """The pages of these spaces that match, best first; a bounded number of them, without snippets (``with_snippets``).

    Whether the caller may see the spaces is for the caller to have checked.
    """
    terms = read_query(text)
    found: dict[int, tuple[float, Found]] = {}

    def collect(every: bool, stemmed: bool, worth: float) -> None:
        rows = store.match(tx, space_ids, terms, every=every, stemmed=stemmed, limit=_CANDIDATES)
        best = max((row.score for row in rows), default=0.0) or 1.0
        for row in rows:
            score = worth + _ORDER * row.score / best
            if row.id not in found or found[row.id][0] < score:
                found[row.id] = (score, row)

    collect(True, False, _EXACT)
    collect(True, True, _STEMMED)
    for most in (_RARE, None):
        if found:
            break
        repaired = _repaired(tx, space_ids, terms, most)
        if repaired != terms:
            terms = repaired
            collect(True, False, _REPAIRED)
            collect(True, True, _REPAIRED)
    if len(terms) > 1 and len({row.page_id for _, row in found.values()}) < _ENOUGH:
        collect(False, False, _ANY)
        collect(False, True, _ANY)
    return _gather(terms, found)


def _gather(terms: Sequence[Term], found: dict[int, tuple[float, Found]]) -> list[PageHit]:
    """Sections gathered by page, with what titles and headings that say what was asked for are worth."""
    shown = {word for term in terms for words_in_row in term.every() for word in words_in_row}
    shown |= {stem(word) for word in shown}
    pages: dict[tuple[str, str], list[tuple[float, Found]]] = {}
    likeness: dict[str, float] = {}
    for score, row in found.values():
        for text in (row.titles, row.heading):
            if text not in likeness:
                likeness[text] = max((_likeness(terms, line) for line in text.split("\n")), default=0.0)
        score += _TITLE * likeness[row.titles] + _HEADING * likeness[row.heading]
        pages.setdefault((row.space_id, row.page_id), []).append((score, row))
    hits = []
    for (space_id, page_id), rows in pages.items():
        rows.sort(key=lambda item: (-item[0], item[1].id))
        sections = tuple(SectionHit(row.id, row.anchor, row.heading) for _, row in rows[:_SECTIONS])
        hits.append(PageHit(space_id, page_id, rows[0][0], sections, frozenset(shown)))
    hits.sort(key=lambda hit: (-hit.score, hit.page_id))
    return hits


def _likeness(terms: Sequence[Term], text: str) -> float:
    """1 when the text is just what was asked for; less for what it says beside that, and for what it does not."""
    tokens = [said for _, _, said in spans(text)]
    if not tokens:
        return 0.0
    there = {word for said in tokens for word in said}
    stems = {stem(word) for word in there}
    matched: set[str] = set()
    covered = 0.0
    for term in terms:
        best = 0.0
        for nth, row in enumerate(term.every()):
            worth = 1.0 if nth < len(term.alternatives) else 0.9
            if there.issuperset(row):
                fits = 1.0
            elif stems.issuperset(map(stem, row)):
                fits = 0.95
            elif term.prefix and len(row) == 1 and any(word.startswith(row[0]) for word in there):
                fits = 0.9
            else:
                continue
            best = max(best, worth * fits)
            matched |= {word for word in there if word in row or stem(word) in map(stem, row)}
            if fits == 0.9:
                matched |= {word for word in there if word.startswith(row[0])}
        covered += best
    told = sum(1 for said in tokens if said & matched) / len(tokens)
    return (covered / len(terms)) ** 3 * told


def with_snippets(tx: Transaction, hits: Sequence[PageHit]) -> list[PageHit]:
    """The hits with the snippets of their sections: for those that are shown."""
    bodies = store.read_bodies(tx, [section.id for hit in hits for section in hit.sections])
    replace = msgspec.structs.replace
    return [
        replace(
            hit,
            sections=tuple(
                replace(section, snippet=snippet(bodies[section.id], hit.shown)) for section in hit.sections
            ),
        )
        for hit in hits
    ]


def snippet(body: str, shown: frozenset[str]) -> tuple[Part, ...]:
    """A piece of the text around the first match, the matches marked."""
    begin, finish = 0, min(len(body), _SNIPPET)
    marks: list[tuple[int, int]] = []
    for start, end, said in spans(body):
        if marks and start >= finish:
            break
        if said & shown or {stem(word) for word in said} & shown:
            if not marks:
                begin = max(0, start - _SNIPPET // 3)
                if begin:
                    begin = body.rfind(" ", 0, begin) + 1 if " " in body[:begin] else begin
                finish = min(len(body), begin + _SNIPPET)
            marks.append((start, end))
    parts = [Part("…")] if begin else []
    at = begin
    for start, end in marks:
        if start < at or end > finish:
            continue
        if start > at:
            parts.append(Part(body[at:start]))
        parts.append(Part(body[start:end], True))
        at = end
    if at < finish:
        parts.append(Part(body[at:finish]))
    if finish < len(body):
        parts.append(Part("…"))
    return tuple(part for part in parts if part.text)


def suggest(tx: Transaction, space_ids: Sequence[str], text: str, limit: int = 3) -> list[str]:
    """Words of these spaces near to what was typed, for when nothing was found."""
    found: dict[str, int] = {}
    for word in words(text):
        if len(word) >= _MIN_TYPO - 1:
            found |= store.pages_with(tx, space_ids, one_edit_away(word))
            found |= store.words_beginning(tx, space_ids, fold(word)[:_MIN_TYPO])
    return sorted(found, key=lambda word: (-found[word], word))[:limit]
