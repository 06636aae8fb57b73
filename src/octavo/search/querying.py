"""From what somebody typed to the pages it means.

All words first, in their exact form, then stemmed; only when that gives too little, any of the words. A word that
hardly stands anywhere is also looked for one typing error away. What comes back from the engine is scored once
more: a title or heading that is just what was asked for comes first. Snippets are made for what is shown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from ..kit.db import Transaction
from . import store
from .store import Found, Term
from .tokens import fold, one_edit_away, spans, stem, words

_CANDIDATES = 60
_ENOUGH = 10
_RARE = 2
_MIN_TYPO = 4
_MAX_REWRITES = 3
_MAX_TERMS = 16
_SNIPPET = 180
_SECTIONS = 3


class Part(Struct, frozen=True):
    """A run of a snippet; ``marked`` where it matched."""

    text: str
    marked: bool = False


class SectionHit(Struct, frozen=True):
    anchor: str | None
    heading: str
    snippet: tuple[Part, ...]
    body: str


class PageHit(Struct, frozen=True):
    """A page with its best sections, best first."""

    space_id: str
    page_id: str
    score: float
    sections: tuple[SectionHit, ...]


class Query(Struct, frozen=True):
    """``terms`` to match, and every word (with its stem) that counts as a match when it is shown."""

    terms: tuple[Term, ...]
    shown: frozenset[str]


def read_query(tx: Transaction, space_ids: Sequence[str], text: str) -> Query:
    """The terms of what was typed: words, "phrases", and the last word as a beginning."""
    terms: list[Term] = []
    shown: set[str] = set()
    for match in re.finditer(r'"([^"]*)"|([^"]+)', text):
        if match[1] is not None:
            phrase = tuple(words(match[1]))
            if phrase:
                terms.append(Term((phrase,)))
                shown.update(phrase)
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
            shown.update(found)
    terms = terms[:_MAX_TERMS]
    if terms and not text.endswith((" ", '"')):
        terms[-1] = Term(terms[-1].alternatives, prefix=True)
    terms = [_with_rewrites(tx, space_ids, term, shown) for term in terms]
    return Query(tuple(terms), frozenset(shown | {stem(word) for word in shown}))


def _with_rewrites(tx: Transaction, space_ids: Sequence[str], term: Term, shown: set[str]) -> Term:
    """The term, and where its word is hardly known the known words one error away from it."""
    if len(term.alternatives[0]) != 1:
        return term
    word = term.alternatives[0][0]
    if len(word) < _MIN_TYPO or store.pages_with(tx, space_ids, [word]).get(word, 0) > _RARE:
        return term
    near = store.pages_with(tx, space_ids, one_edit_away(word))
    best = sorted(near, key=lambda candidate: (-near[candidate], candidate))[:_MAX_REWRITES]
    shown.update(best)
    return Term((*term.alternatives, *((candidate,) for candidate in best)), term.prefix)


def search_pages(tx: Transaction, space_ids: Sequence[str], text: str) -> list[PageHit]:
    """The pages of these spaces that match, best first; a bounded number of them.

    Whether the caller may see the spaces is for the caller to have checked.
    """
    query = read_query(tx, space_ids, text)
    found: dict[tuple[str, str, str | None], tuple[float, Found]] = {}
    steps = ((True, False, 100.0), (True, True, 50.0), (False, False, 5.0), (False, True, 0.0))
    for every, stemmed, base in steps:
        if not every and (len({key[:2] for key in found}) >= _ENOUGH or len(query.terms) < 2):
            break
        rows = store.match(tx, space_ids, query.terms, every=every, stemmed=stemmed, limit=_CANDIDATES)
        best = max((row.score for row in rows), default=0.0) or 1.0
        for row in rows:
            score = base + 20 * row.score / best
            key = (row.space_id, row.page_id, row.anchor)
            if key not in found or found[key][0] < score:
                found[key] = (score, row)
    return _gather(tx, query, text, found)


def _gather(
    tx: Transaction, query: Query, text: str, found: dict[tuple[str, str, str | None], tuple[float, Found]]
) -> list[PageHit]:
    """Sections gathered by page, with what exact titles and headings are worth."""
    asked = [stem(word) for word in words(text)]
    titles = store.page_titles(tx, [(key[0], key[1]) for key in found])
    pages: dict[tuple[str, str], list[tuple[float, Found]]] = {}
    for (space_id, page_id, _), (score, row) in found.items():
        bonus = 60 * _likeness(asked, titles.get((space_id, page_id), ""))
        bonus += 30 * _likeness(asked, row.heading)
        pages.setdefault((space_id, page_id), []).append((score + bonus, row))
    hits = []
    for (space_id, page_id), sections in pages.items():
        sections.sort(key=lambda item: -item[0])
        shown = tuple(
            SectionHit(row.anchor, row.heading, snippet(row.body, query.shown), row.body)
            for _, row in sections[:_SECTIONS]
        )
        hits.append(PageHit(space_id, page_id, sections[0][0], shown))
    hits.sort(key=lambda hit: (-hit.score, hit.page_id))
    return hits


def _likeness(asked: list[str], text: str) -> float:
    """1 when the text is just what was asked for, less the more it says beside it, 0 when a word is missing."""
    there = [stem(word) for word in words(text)]
    if not asked or not there:
        return 0.0
    if not set(asked[:-1]) <= set(there) or not any(word.startswith(asked[-1]) for word in there):
        return 0.0
    return len(set(asked)) / max(len(set(there)), len(set(asked)))


def snippet(body: str, shown: frozenset[str]) -> tuple[Part, ...]:
    """A piece of the text around the first match, the matches marked."""
    marks = [
        (start, end)
        for start, end, said in spans(body)
        if said & shown or {stem(word) for word in said} & shown
    ]
    first = marks[0][0] if marks else 0
    begin = max(0, first - _SNIPPET // 3)
    if begin:
        begin = body.rfind(" ", 0, begin) + 1 if " " in body[:begin] else begin
    finish = min(len(body), begin + _SNIPPET)
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
