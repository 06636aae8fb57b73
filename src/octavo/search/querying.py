"""From what somebody typed to the pages it means.

All words first, in their exact form and stemmed; what is found nowhere is looked for one typing error away; only
when all that gives too little, any of the words. What comes back from the engine is scored once more, alike on
both engines: a title or heading that is just what was asked for comes first. Snippets are made for what is shown.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from itertools import islice

import msgspec
from msgspec import Struct

from ..errors import BadRequest
from ..kit.db import Transaction
from . import store
from .store import Found, Term
from .tokens import Marked, Wanted, fold, one_edit_away, stem, tokens, without_ending, words

_CANDIDATES = 60
_FILLING = 20
_ENOUGH = 10
_DEEPER, _DEEPEST = 4, 4000
"""How much more is looked through, and how much at most, where what is not seen takes the room of what is."""
_SUGGESTED = 12
_RARE = 2
_MIN_TYPO = 4
_MAX_REWRITES = 8
MAX_SEARCH = 512
"""Characters of a query."""
MAX_TERMS = 32
"""Words and phrases of a query."""
_SNIPPET = 180
_LONGEST = 200
"""Characters read behind a snippet, so that no token is taken for its beginning."""
_SECTIONS = 3
_EVERYWHERE = 0.25
_MANY_PAGES = 1000

# What a way of matching is worth: how well the words fit counts as much as the engine's own order among them.
_EXACT, _STEMMED, _REPAIRED, _ANY = 100.0, 90.0, 60.0, 0.0
_OTHER_FORM, _BEGUN, _GUESSED = 0.95, 0.9, 0.9
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
    """The terms of what was typed: words, "phrases", and the last word as a beginning. Raises BadRequest for too
    many."""
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
    if len(terms) > MAX_TERMS:
        raise BadRequest(f"query: more than {MAX_TERMS} words and phrases")
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
    tx: Transaction, space_ids: Sequence[str], terms: Sequence[Term], pages: dict[str, int], most: float
) -> list[Term]:
    """The terms; those that stand on at most so many pages also one typing error away."""
    return [
        msgspec.structs.replace(term, near=tuple(_near(tx, space_ids, word)))
        if (word := term.word) and pages.get(word, 0) <= most
        else term
        for term in terms
    ]


def _telling(terms: Sequence[Term], pages: dict[str, int]) -> list[Term]:
    """The terms without words that stand nearly everywhere: to find them costs most and tells least."""
    most = max(_MANY_PAGES, _EVERYWHERE * pages.get("", 0))
    return [term for term in terms if not (term.word and pages.get(term.word, 0) > most)] or list(terms)


def _rarest(terms: Sequence[Term], pages: dict[str, int]) -> list[Term]:
    """The terms worth filling up with: of those that stand on many pages none, unless all do."""
    few = [term for term in terms if not (term.word and pages.get(term.word, 0) > _MANY_PAGES)]
    return few or _telling(terms, pages)


Sees = Callable[[Found], bool]
"""Whether who searches sees a section: its page, and that its conditions hold for them."""


def everything(found: Found) -> bool:
    """For members of a space, who see all that is written there."""
    return True


def _match(
    tx: Transaction,
    space_ids: Sequence[str],
    terms: Sequence[Term],
    sees: Sees,
    *,
    every: bool,
    stemmed: bool,
    limit: int,
) -> list[Found]:
    """The best sections that are seen. While others take their room, more are asked for."""
    asked = limit
    while True:
        rows = store.match(tx, space_ids, terms, every=every, stemmed=stemmed, limit=asked)
        seen = [row for row in rows if sees(row)]
        if len(seen) >= limit or len(rows) < asked or asked >= _DEEPEST:
            return seen[:limit]
        asked *= _DEEPER


def search_pages(
    tx: Transaction, space_ids: Sequence[str], text: str, sees: Sees = everything
) -> list[PageHit]:
    """The pages of these spaces that match, best first; a bounded number of them, without snippets (``with_snippets``).

    Whether the caller may see the spaces is for the caller to have checked. What ``sees`` denies is as if it were
    not there.
    """
    terms = read_query(text)
    pages = store.pages_with(tx, space_ids, ["", *(term.word for term in terms if term.word)])
    found: dict[int, tuple[float, Found]] = {}

    def collect(every: bool, stemmed: bool, worth: float) -> None:
        asked = _telling(terms, pages) if every else _rarest(terms, pages)
        limit = _CANDIDATES if every else _FILLING
        rows = _match(tx, space_ids, asked, sees, every=every, stemmed=stemmed, limit=limit)
        best = max((row.score for row in rows), default=0.0) or 1.0
        for row in rows:
            score = worth + _ORDER * row.score / best
            if row.id not in found or found[row.id][0] < score:
                found[row.id] = (score, row)

    if all(
        term.prefix or len(term.alternatives) > 1 or not term.word or term.word in pages for term in terms
    ):
        collect(True, False, _EXACT)
    collect(True, True, _STEMMED)
    for most in (_RARE, math.inf):
        if found:
            break
        repaired = _repaired(tx, space_ids, terms, pages, most)
        if repaired != terms:
            terms = repaired
            collect(True, False, _REPAIRED)
            collect(True, True, _REPAIRED)
    if len(terms) > 1 and len({row.page_id for _, row in found.values()}) < _ENOUGH:
        collect(False, True, _ANY)
    return _gather(terms, found)


def _gather(terms: Sequence[Term], found: dict[int, tuple[float, Found]]) -> list[PageHit]:
    """Sections gathered by page, with what titles and headings that say what was asked for are worth."""
    meant = [
        [
            _Meant(row, tuple(map(stem, row)), 1.0 if row in term.alternatives else _GUESSED, term.prefix)
            for row in term.every()
        ]
        for term in terms
    ]
    shown = frozenset(word for ways in meant for way in ways for word in (*way.words, *way.stems))
    wanted = Wanted(shown)
    pages: dict[tuple[str, str], list[tuple[float, Found]]] = {}
    likeness: dict[str, float] = {}
    for score, row in found.values():
        for text in (row.titles, row.heading):
            if text not in likeness:
                likeness[text] = max(
                    (_likeness(meant, wanted, line) for line in text.split("\n")), default=0.0
                )
        score += _TITLE * likeness[row.titles] + _HEADING * likeness[row.heading]
        pages.setdefault((row.space_id, row.page_id), []).append((score, row))
    hits = []
    for (space_id, page_id), rows in pages.items():
        rows.sort(key=lambda item: (-item[0], item[1].id))
        # What stands under conditions is kept apart, and shown once with the section that it belongs to.
        best: dict[str | None, Found] = {}
        for _, row in rows:
            best.setdefault(row.anchor, row)
        sections = tuple(
            SectionHit(row.id, row.anchor, row.heading) for row in list(best.values())[:_SECTIONS]
        )
        hits.append(PageHit(space_id, page_id, rows[0][0], sections, shown))
    hits.sort(key=lambda hit: (-hit.score, hit.page_id))
    return hits


class _Meant(Struct, frozen=True):
    """One way to read a term: words in a row, what that is worth, and whether the last of them may go on."""

    words: tuple[str, ...]
    stems: tuple[str, ...]
    worth: float
    prefix: bool


def _likeness(meant: Sequence[Sequence[_Meant]], wanted: Wanted, text: str) -> float:
    """1 when the text is just what was asked for; less for what it says beside that, and for what it does not."""
    every = [wanted[token] for token in tokens(text)]
    there = {word for said in every for word in said}
    matched: set[str] = set()
    covered = 0.0
    for ways in meant:
        best = 0.0
        for way in ways:
            if there.issuperset(way.words):
                fits = 1.0
                matched.update(way.words)
            elif there.issuperset(way.stems):
                fits = _OTHER_FORM
                matched.update(way.stems)
            elif way.prefix and len(way.words) == 1:
                begun = [word for word in there if word.startswith(way.words[0])]
                fits = _BEGUN if begun else 0.0
                matched.update(begun)
            else:
                continue
            best = max(best, way.worth * fits)
        covered += best
    if not covered:
        return 0.0
    told = sum(not said.isdisjoint(matched) for said in every) / len(every)
    return float((covered / len(meant)) ** 3 * told)


def with_snippets(tx: Transaction, hits: Sequence[PageHit]) -> list[PageHit]:
    """The hits with the snippets of their sections: for those that are shown."""
    bodies = store.read_bodies(tx, [section.id for hit in hits for section in hit.sections])
    replace = msgspec.structs.replace
    marked: dict[frozenset[str], Marked] = {}
    for hit in hits:
        marked.setdefault(hit.shown, Marked(Wanted(hit.shown)))
    return [
        replace(
            hit,
            sections=tuple(
                replace(section, snippet=snippet(bodies[section.id], marked[hit.shown]))
                for section in hit.sections
            ),
        )
        for hit in hits
    ]


def snippet(body: str, marked: Marked) -> tuple[Part, ...]:
    """A piece of the text around the first match, the matches marked."""
    begin = 0
    first = next(marked.spans(body), None)
    if first and first[0] > _SNIPPET // 3:
        begin = first[0] - _SNIPPET // 3
        begin = body.rfind(" ", 0, begin) + 1 if " " in body[:begin] else begin
    finish = min(len(body), begin + _SNIPPET)
    marks = list(marked.spans(body, first[0], finish + _LONGEST)) if first else []
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


def suggest(
    tx: Transaction, space_ids: Sequence[str], text: str, sees: Sees = everything, limit: int = 3
) -> list[str]:
    """Words near to what was typed that stand in a section which is seen, for when nothing was found."""
    found: dict[str, int] = {}
    for word in words(text):
        if len(word) >= _MIN_TYPO - 1:
            found |= store.pages_with(tx, space_ids, one_edit_away(word))
            found |= store.words_beginning(tx, space_ids, fold(word)[:_MIN_TYPO])
    likely = sorted(found, key=lambda word: (-found[word], word))[:_SUGGESTED]

    def is_seen(word: str) -> bool:
        term = Term(((word,),))
        return bool(_match(tx, space_ids, [term], sees, every=True, stemmed=False, limit=1))

    return list(islice(filter(is_seen, likely), limit))
