"""From what somebody typed to the pages it means.

All words first, in any form; what is found nowhere is looked for one typing error away; only when all that gives too
little, any of the words. What comes back from the engine is scored once more, alike on both engines: a title or
heading that is just what was asked for comes first. Snippets are made for what is shown.

The engine gives what matches in windows of so many sections, in the order of their ids: each is ranked by itself, and
one is read only where those before it hold too few pages. Of what matches more often than one window holds, titles and
headings come first, and of what any of the words matches also the sections that say most of them.

Words that are on very many pages are never what results are ranked by, so that no list of all their places is read. Where
all words are such, windows are small and go from space to space.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, chain, islice

import msgspec
from msgspec import Struct

from octavo.core.sentences import stem
from octavo.errors import BadRequest
from octavo.kit.db.database import Transaction

from . import store
from .drafts import Draft, match_draft
from .function_words import function_words, split_question
from .store import Found, Organization, Scope, Term
from .tokens import Marked, WantedWords, fold, is_cjk, one_edit_away, parts_of, tokens, without_ending, words

_WINDOW = 1000
"""Sections ranked together."""
_SMALL_WINDOW = 60
"""The same for frequent words alone, whose order says little."""
_FILLED = 60
"""The same for any of the words."""
_AT_ONCE = 16
"""Spaces that are gone through together for frequent words."""
MAX_COUNT = 1000
"""Up to so many results are counted exactly; behind them, only those that were looked at."""
_MOST = 30
"""Sections that say most of what was asked for, and as many whose titles and headings say any of it, where more than a
window does."""
_ENOUGH = 10
_READ = 50
"""Of so many sections, the best, it is read whether they have just what was typed."""
_RARE = 2
_MIN_TYPO = 4
_MIN_BEGUN = 3
_MAX_REWRITES = 8
_MOST_SPELLINGS = 40_000
"""Spellings that are looked up for one query, in all of its spaces together, where words are not found as they were
typed: a long word has thousands. What is beyond that counts as typed."""
_SPELLINGS_A_LETTER = 74
"""About how many there are of a word, for each of its letters (``one_edit_away``)."""
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
_BUDGET = 2000
"""Pages with the words that results are filled up with, all together: the rarest words come first."""
_OFTEN = 0.05
"""Frequent words that so many of the pages should have together are found by reading sections in turn."""
_SUGGESTED = 12
_COMPLETED = 20
"""Words that go on as typed, where they are more than are looked up at once."""

# What a way of matching is worth: how well the words fit counts as much as the engine's own order among them.
_ALL, _REPAIRED, _ANY = 90.0, 60.0, 0.0
_OTHER_FORM, _BEGUN, _GUESSED = 0.95, 0.9, 0.9
_ORDER, _TITLE, _HEADING = 20.0, 80.0, 45.0
_COVERED = 60.0
"""A section that says nearly all of the words, by how rare they are."""
_TYPED, _VERBATIM, _CALLED, _NAMED = 10.0, 20.0, 100.0, 80.0
"""The words as they were typed; all of it, as it was typed; called just so; and that as a page."""

_CHUNK = re.compile(r"\S+")
_IDENTIFIER = re.compile(r"(?=.*\w)\S*[^\w\s]\S*\w")


class Part(Struct, frozen=True):
    """A run of a snippet; ``marked`` where it matched."""

    text: str
    marked: bool = False


class SectionHit(Struct, frozen=True):
    """A section that matched; ``snippet`` is empty until ``with_snippets``. ``body``: where it was read already."""

    id: int
    anchor: str | None
    heading: str
    body: str | None = None
    snippet: tuple[Part, ...] = ()


class PageHit(Struct, frozen=True):
    """A page with its best sections, best first; ``shown``: the words, and their stems, that count as matches."""

    space_id: str
    page_id: str
    score: float
    sections: tuple[SectionHit, ...]
    shown: frozenset[str]


class Results(Struct, frozen=True):
    """The best pages that match; ``count``: how many results there are, or at least (not ``is_exact``) are."""

    hits: tuple[PageHit, ...]
    count: int
    is_exact: bool


class Query(Struct, frozen=True):
    """What was typed: its terms, the function words among them, all of it in lower case, and so each part in
    quotation marks."""

    terms: tuple[Term, ...]
    ignored: frozenset[str]
    text: str
    phrases: tuple[str, ...] = ()

    @property
    def is_identifier(self) -> bool:
        """Whether it is one name with signs in it, such as a path."""
        return _IDENTIFIER.fullmatch(self.text) is not None


def read_query(text: str) -> Query:
    """The terms of what was typed: words, "phrases", and the last word as a beginning. Function words weigh nothing,
    unless there is nothing else. Raises BadRequest for too many terms."""
    found: list[Term] = []
    phrases: list[str] = []
    for match in re.finditer(r'"([^"]*)"|([^"]+)', text):
        if match[1] is not None:
            phrase = tuple(words(match[1]))
            if phrase:
                found.append(Term((phrase,), quoted=True))
                phrases.append(" ".join(match[1].split()).casefold())
            continue
        for chunk in _CHUNK.findall(match[2]):
            found += _read_chunk(chunk)
    if len(found) > MAX_TERMS:
        raise BadRequest(f"query: more than {MAX_TERMS} words and phrases")
    ignored = function_words(term.word for term in found if term.word and not term.quoted)
    terms = [term for term in found if term.quoted or term.word not in ignored]
    if not terms:
        terms, ignored = found, frozenset()
    # A function word behind it ends the last word, too.
    if terms and terms[-1] is found[-1] and not text.endswith((" ", '"')):
        terms[-1] = msgspec.structs.replace(terms[-1], prefix=True)
    said = " ".join(text.replace('"', " ").split()).casefold()
    return Query(tuple(terms), ignored, said, tuple(phrases))


def _read_chunk(chunk: str) -> list[Term]:
    """The terms of what was typed without a space in it."""
    cut = tokens(chunk)
    if not any(map(is_cjk, cut)):
        found = tuple(words(chunk))
        if not found:
            return []
        if len(cut) > 1:
            # A path, or words with hyphens: in a row, as in the texts.
            return [Term((found,))]
        # A composed word is looked for whole, or by all of its parts in a row.
        return [Term(((found[0],), found[1:]) if len(found) > 1 else (found,))]
    terms = []
    for token in cut:
        if not is_cjk(token):
            terms += _read_chunk(token)
            continue
        for part in split_question(token):
            # Texts are indexed by pairs: of a single character, every pair that it begins.
            terms.append(Term((tuple(words(part)),), prefix=len(part) == 1))
    return terms


class _Vocabulary:
    """On how many pages of the spaces words are, "" on all; asked once."""

    def __init__(self, tx: Transaction, scope: Scope, words: Sequence[str]) -> None:
        self._tx, self.scope = tx, scope
        self._pages = store.pages_with(tx, scope, ["", *words])
        self._beginnings: dict[str, store.Beginning] = {}
        self.near: dict[str, tuple[str, ...]] = {}
        """The known words that are one error away from a word, as far as somebody looked for them."""
        self._spellings = _MOST_SPELLINGS // max(1, len(scope.space_ids or scope.keys))

    def affordable(self, words: Iterable[str]) -> Iterator[str]:
        """Those of these words, in their order, whose spellings may still be looked up."""
        for word in words:
            spellings = _SPELLINGS_A_LETTER * len(word)
            if spellings <= self._spellings:
                self._spellings -= spellings
                yield word

    @property
    def every(self) -> int:
        return self._pages.get("", 0)

    def pages(self, word: str) -> int:
        return self._pages.get(word, 0)

    def known(self, words: set[str]) -> dict[str, int]:
        """Those of these words that are on pages, with their number."""
        if not words:
            return {}
        found = store.pages_with(self._tx, self.scope, words)
        self._pages |= found
        return found

    def beginning(self, prefix: str) -> store.Beginning:
        if prefix not in self._beginnings:
            self._beginnings[prefix] = store.words_beginning(self._tx, self.scope, prefix)
        return self._beginnings[prefix]

    def forms(self, words: set[str]) -> list[str]:
        """These words and known ones with the same stems, most pages first."""
        found = {word: self.pages(word) for word in words}
        for word in words:
            others = self.beginning(stem(word)).words
            found |= {form: pages for form, pages in others.items() if stem(form) == stem(word)}
        return sorted(found, key=lambda form: (-found[form], form))

    def count(self, term: Term) -> int:
        """On how many pages a term is, at most, as it was typed or meant."""
        return sum(min(map(self.pages, words)) for words in term.every())

    def count_begun(self, term: Term) -> int:
        """The same with all words that go on as typed."""
        found = self.count(term)
        if term.prefix and term.word:
            begun = self.beginning(term.word)
            found = max(found, sum(begun.words.values()) if begun.is_complete else self.every)
        return found

    def marked(self, terms: Sequence[Term]) -> list[Term]:
        """The terms, those marked that are frequent. Of words that go on as typed in too many ways, the usual ones."""
        return [self._mark(term) for term in terms]

    def _mark(self, term: Term) -> Term:
        if self.count_begun(term) <= _MANY_PAGES:
            return term
        word = term.word
        begun = term.begun
        if term.prefix and word:
            begun = tuple(dict.fromkeys(map(stem, islice(self.beginning(word).words, _COMPLETED))))
        # A word that is frequent as it stands need not go on.
        prefix = term.prefix and (word is None or self.pages(word) <= _MANY_PAGES)
        return msgspec.structs.replace(term, prefix=prefix, begun=begun, is_frequent=True)


def _near(vocabulary: _Vocabulary, words: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """For each of the words the known ones that are one error away from it, or from what it is a form of; the likeliest
    first."""
    long = (word for word in words if len(word) >= _MIN_TYPO)
    tried = {word: one_edit_away(word) for word in vocabulary.affordable(long)}
    known = vocabulary.known(set().union(*tried.values()))
    forms = {
        word: {
            near
            for form in vocabulary.affordable(sorted(without_ending(word)))
            for near in (form, *one_edit_away(form))
        }
        for word, near in tried.items()
        if near.isdisjoint(known)
    }
    known |= vocabulary.known(set().union(*forms.values()))
    found = {word: [near for near in every if near in known] for word, every in (tried | forms).items()}
    return {
        # Hardly anybody mistypes the first letter.
        word: tuple(sorted(every, key=lambda near: (near[0] != word[0], -known[near], near))[:_MAX_REWRITES])
        for word, every in found.items()
    }


def _repaired(vocabulary: _Vocabulary, terms: Sequence[Term], most: float) -> list[Term]:
    """The terms; those that are on at most so many pages also one typing error away."""
    doubtful = [word for term in terms if (word := term.word) and vocabulary.pages(word) <= most]
    near = vocabulary.near
    near |= _near(vocabulary, dict.fromkeys(word for word in doubtful if word not in near))
    return [
        msgspec.structs.replace(term, near=near.get(term.word or "", ()) if term.word in doubtful else ())
        for term in terms
    ]


def _begun(vocabulary: _Vocabulary, terms: Sequence[Term]) -> list[Term]:
    """The terms; the one that may go on also as those words whose stems no longer begin with it."""
    last = terms[-1] if terms else None
    if last is None or not last.prefix or last.word is None or len(last.word) < _MIN_BEGUN:
        return list(terms)
    stems = map(stem, islice(vocabulary.beginning(last.word).words, _COMPLETED))
    begun = tuple(dict.fromkeys(found for found in stems if not found.startswith(last.word)))
    return [*terms[:-1], msgspec.structs.replace(last, begun=begun)]


def _telling(terms: Sequence[Term], vocabulary: _Vocabulary) -> list[Term]:
    """The terms without words that are nearly everywhere: to find them costs most and says least."""
    most = max(_MANY_PAGES, _EVERYWHERE * vocabulary.every)
    return [term for term in terms if not (term.word and vocabulary.count(term) > most)] or list(terms)


def _rarest(terms: Sequence[Term], vocabulary: _Vocabulary) -> list[Term]:
    """The terms worth filling up with: of those that are on many pages none, unless all are. Of what was not asked
    for as a phrase, each word."""
    loose: list[Term] = []
    for term in terms:
        if term.word or term.quoted:
            loose.append(term)
        else:
            loose += [Term(((word,),)) for word in dict.fromkeys(term.alternatives[0])]
    counted = [(vocabulary.count_begun(term), term) for term in loose]
    few = sorted(
        ((pages, at) for at, (pages, _) in enumerate(counted) if pages <= _MANY_PAGES), key=lambda one: one[0]
    )
    totals = accumulate(pages for pages, _ in few)
    taken = [at for (_, at), total in zip(few, totals, strict=True) if total <= _BUDGET]
    return [loose[at] for at in sorted(taken)] or _telling(loose, vocabulary)


Sees = Callable[[Found], bool]
"""Whether who searches sees a section: its page, and that its conditions hold for them."""


def everything(found: Found) -> bool:
    """For members of a space, who see all that is written there."""
    return True


class _Windows:
    """What matches, a window at a time."""

    def __init__(
        self, tx: Transaction, vocabulary: _Vocabulary, terms: Sequence[Term], sees: Sees, *, every: bool
    ) -> None:
        self._tx, self._scope, self._sees = tx, vocabulary.scope, sees
        self.vocabulary = vocabulary
        self.terms = vocabulary.marked(terms)
        self.every = every
        self.is_ranked = not all(term.is_frequent for term in self.terms)
        self._limit = min(_WINDOW, _FILLED if not every else _WINDOW if self.is_ranked else _SMALL_WINDOW)
        self._after = 0
        self._is_by_space = not self.is_ranked and self._is_often()
        self._fruitless = 0
        self._spaces: Iterator[str] | None = None
        self._fresh: list[str] = []
        self._begun: deque[tuple[str, int]] = deque()
        self.is_last = False

    def first(self) -> list[list[Found]]:
        """The first window; where it is full, titles and headings that match before it."""
        window = self.next()
        while not window and not self.is_last:
            window = self.next()
        if self.is_last or self._spaces is not None:
            return [window]
        return [self._heads(self._scope, self._limit if self.every else _MOST), window]

    def next(self) -> list[Found]:
        if self._is_by_space:
            return self._next_of_spaces()
        found = store.match(
            self._tx, self._scope, self.terms, every=self.every, after=self._after, limit=self._limit
        )
        self.is_last, self._after = found.is_last, found.after
        return list(filter(self._sees, found.rows))

    def _heads(self, scope: Scope, limit: int) -> list[Found]:
        found = store.match(self._tx, scope, self.terms, every=self.every, heads=True, limit=limit)
        return list(filter(self._sees, found.rows))

    def _is_often(self) -> bool:
        """Whether many places should have all terms, or any of them. Of the places of phrases nothing is known."""
        pages, every = self.vocabulary.pages, max(1, self.vocabulary.every)
        known = [
            min(1.0, sum(pages(words[0]) for words in term.every() if len(words) == 1) / every)
            for term in self.terms
        ]
        part = math.prod(known) if self.every else 1 - math.prod(1 - one for one in known)
        return part >= _OFTEN

    def _next_of_spaces(self) -> list[Found]:
        """Sections of some of the spaces, with titles and headings of those that were not looked at before."""
        if self._spaces is None:
            self._spaces = self._list_spaces()
            self._fresh = list(islice(self._spaces, _AT_ONCE))
        fresh, self._fresh = self._fresh, list(islice(self._spaces, _AT_ONCE))
        begun = [(space_id, 0) for space_id in fresh] or list(islice(self._begun, _AT_ONCE))
        found: dict[int, Found] = {}
        limit = max(1, self._limit // max(1, len(begun)))
        for space_id in fresh:
            found |= {row.id: row for row in self._heads(store.open_scope(self._tx, [space_id]), limit)}
        for space_id, after in begun:
            window = store.match_often(
                self._tx, space_id, self.terms, every=self.every, after=after, limit=limit
            )
            found |= {row.id: row for row in filter(self._sees, window.rows)}
            if not fresh:
                self._begun.popleft()
            if not window.is_last:
                self._begun.append((space_id, window.after))
        self.is_last = not self._fresh and not self._begun
        self._fruitless += 4 * len(found) < (limit if len(begun) == 1 else len(begun))
        if self._fruitless == 2 and not self.is_last:
            # Not so often after all: the index knows where. Pages that were found are passed over there.
            self._is_by_space = False
        return list(found.values())

    def _list_spaces(self) -> Iterator[str]:
        if not self._scope.by_organization:
            return iter(self._scope.space_ids)
        ordered = sorted(self.terms, key=self.vocabulary.count)
        forms = [
            self.vocabulary.forms({word for words in term.every() for word in words}) for term in ordered
        ]
        if not self.every:
            forms = [list(dict.fromkeys(chain(*forms)))]
        return store.spaces_with(self._tx, self._scope, forms)


def search_pages(
    tx: Transaction,
    spaces: Sequence[str] | Organization,
    text: str,
    wanted: int = 1,
    *,
    by_space: bool = False,
    sees: Sees = everything,
    draft: Draft | None = None,
) -> Results:
    """The pages of these spaces that match, best first: at least ``wanted`` of them (or of spaces with such pages,
    ``by_space``), where there are so many; without snippets (``with_snippets``).

    Whether the caller may see the spaces is for the caller to have checked. What ``sees`` denies is as if it were not
    there, but for counts that are not exact. ``draft``: what one of the spaces shows in place of main.
    """
    query = read_query(text)
    if draft is None:
        return _search_main(tx, spaces, query, wanted, by_space, sees)
    pages = draft.pages
    main = _search_main(
        tx, spaces, query, wanted, by_space, lambda found: found.page_id not in pages and sees(found)
    )
    hits = sorted([*main.hits, *_search_draft(tx, draft, query, sees)], key=lambda hit: -hit.score)
    more = {hit.space_id for hit in hits} if by_space else hits
    seen = {hit.space_id for hit in main.hits} if by_space else main.hits
    return Results(tuple(hits), main.count + len(more) - len(seen), main.is_exact)


def _search_draft(tx: Transaction, draft: Draft, query: Query, sees: Sees) -> list[PageHit]:
    """The pages that a draft has otherwise, as ``_search_main`` ranks those of main."""
    matched = [one for one in match_draft(tx, draft, query.terms) if sees(one.found)]
    if not matched:
        return []
    best = max(one.found.score for one in matched)
    gathered = _Gathered(tx, query, query.terms, by_space=False)
    gathered.bodies = {one.found.id: one.body for one in matched}
    gathered.add(
        {
            one.found.id: (
                (_ALL if one.covered == 1 else _ANY + _COVERED * one.covered)
                + _ORDER * one.found.score / best,
                one.found,
            )
            for one in matched
        }
    )
    return gathered.hits


def _search_main(
    tx: Transaction,
    spaces: Sequence[str] | Organization,
    query: Query,
    wanted: int,
    by_space: bool,
    sees: Sees,
) -> Results:
    scope = store.open_scope(tx, spaces)
    if not query.terms or not scope.keys:
        return Results((), 0, True)
    vocabulary = _Vocabulary(tx, scope, _single(query.terms))
    terms = _begun(vocabulary, query.terms)
    worth = _ALL
    windows = _Windows(tx, vocabulary, _telling(terms, vocabulary), sees, every=True)
    found = windows.first()
    for most in (_RARE, math.inf):
        if any(found):
            break
        repaired = _repaired(vocabulary, terms, most)
        if repaired != terms:
            terms, worth = repaired, _REPAIRED
            windows = _Windows(tx, vocabulary, _telling(terms, vocabulary), sees, every=True)
            found = windows.first()
    scored = [_scored(rows, worth) for rows in found]
    rarest = _rarest(terms, vocabulary)
    if len(rarest) > 1 and windows.is_last and len({row.page_id for rows in found for row in rows}) < _ENOUGH:
        worth = _ANY
        windows = _Windows(tx, vocabulary, rarest, sees, every=False)
        # What all words match is in the first window, before what any of them does.
        whole = {id: row for rows in scored for id, row in rows.items()}
        first, *others = [_scored(rows, worth) for rows in windows.first()]
        if not windows.is_last:
            for row in _saying_most(tx, windows, sees):
                first[row[1].id] = max(first.get(row[1].id, row), row, key=lambda scored: scored[0])
        scored = [{**first, **whole}, *others]
    gathered = _Gathered(tx, query, terms, by_space)
    for rows in scored:
        if gathered.count < wanted or windows.every:
            gathered.add(rows)
    while not windows.is_last and gathered.count < wanted:
        gathered.add(_scored(windows.next(), worth))
    if windows.is_last:
        return Results(tuple(gathered.hits), gathered.count, True)
    if not (windows.is_ranked and windows.every):
        return Results(tuple(gathered.hits), gathered.count, False)
    count = store.count_matches(tx, scope, windows.terms, by_space=by_space, most=MAX_COUNT)
    # Pages found by guessed or rewritten words beside these are few; what was seen is counted in any case.
    return Results(tuple(gathered.hits), max(count, gathered.count), count < MAX_COUNT)


def _saying_most(tx: Transaction, windows: _Windows, sees: Sees) -> list[tuple[float, Found]]:
    """The sections that match most of the terms, rare ones counting most, with their scores."""
    vocabulary, terms = windows.vocabulary, windows.terms
    if not windows.is_ranked:
        return _saying_parts(tx, windows, sees)
    weighted = []
    for term in terms:
        rarest = min(map(vocabulary.pages, term.alternatives[0]))
        # In whole numbers, whose sums are alike in any order.
        weighted.append((term, round(100 * math.log(1 + (1 + vocabulary.every) / (1 + rarest)))))
    whole = sum(weight for _, weight in weighted)
    rows = store.match_most(tx, vocabulary.scope, weighted, limit=_MOST)
    return [(_ANY + _COVERED * row.score / whole, row) for row in rows if sees(row)]


def _saying_parts(tx: Transaction, windows: _Windows, sees: Sees) -> list[tuple[float, Found]]:
    """Sections that match some of several frequent terms together, with their scores: half of the terms, the rarest, then
    half of these."""
    vocabulary = windows.vocabulary
    ordered = sorted(windows.terms, key=vocabulary.count)
    found: dict[int, tuple[float, Found]] = {}
    number = len(ordered) // 2
    while number > 1 and len(found) < _MOST:
        window = store.match(tx, vocabulary.scope, ordered[:number], every=True, limit=_MOST)
        score = _ANY + _COVERED * number / len(ordered)
        for row in filter(sees, window.rows):
            found.setdefault(row.id, (score, row))
        number //= 2
    return list(found.values())


def _single(terms: Sequence[Term]) -> list[str]:
    """The words of the terms that are looked up one by one."""
    return [word for term in terms if not term.quoted for words in term.alternatives for word in words]


_Scored = dict[int, tuple[float, Found]]


def _scored(rows: Sequence[Found], worth: float) -> _Scored:
    best = max((row.score for row in rows), default=0.0) or 1.0
    return {row.id: (worth + _ORDER * row.score / best, row) for row in rows}


class _Gathered:
    """Sections gathered by page, with what titles and headings that say what was asked for are worth."""

    def __init__(self, tx: Transaction, query: Query, terms: Sequence[Term], by_space: bool) -> None:
        self._tx, self._query, self._terms, self._by_space = tx, query, terms, by_space
        self._meant = [
            [
                _Meant(row, tuple(map(stem, row)), 1.0 if row in term.alternatives else _GUESSED, term.prefix)
                for row in term.every()
            ]
            for term in terms
        ]
        self._shown = frozenset(
            word for ways in self._meant for way in ways for word in (*way.words, *way.stems)
        ) | {begun for term in terms for begun in term.begun}
        self._wanted = WantedWords(self._shown)
        self._likeness: dict[str, float] = {}
        self._pages: set[tuple[str, str]] = set()
        self._spaces: set[str] = set()
        self.bodies: dict[int, str] = {}
        self.hits: list[PageHit] = []

    @property
    def count(self) -> int:
        return len(self._spaces if self._by_space else self._pages)

    def add(self, scored: _Scored) -> None:
        """Adds the pages of a window behind those of the windows before it."""
        rows = [
            (score + self._worth(row), row)
            for score, row in scored.values()
            if (row.space_id, row.page_id) not in self._pages
        ]
        rows.sort(key=_best_first)
        rows[:_READ] = self._read(rows[:_READ])
        rows.sort(key=_best_first)
        pages: dict[tuple[str, str], list[tuple[float, Found]]] = {}
        for score, row in rows:
            pages.setdefault((row.space_id, row.page_id), []).append((score, row))
        for (space_id, page_id), best in pages.items():
            # What is under conditions is kept apart, and shown once with the section that it belongs to.
            parts: dict[str | None, Found] = {}
            for _, row in best:
                parts.setdefault(row.anchor, row)
            shown = list(parts.values())[:_SECTIONS]
            sections = tuple(
                SectionHit(row.id, row.anchor, row.heading, self.bodies.get(row.id)) for row in shown
            )
            self.hits.append(PageHit(space_id, page_id, best[0][0], sections, self._shown))
            self._spaces.add(space_id)
        self._pages |= pages.keys()

    def _worth(self, row: Found) -> float:
        likeness = self._likeness
        heads = "\n".join((row.heading, *row.names))
        for text in (row.titles, heads):
            if text not in likeness:
                likeness[text] = max((self._like(line) for line in text.split("\n")), default=0.0)
        worth = _TITLE * likeness[row.titles] + _HEADING * likeness[heads]
        if any(name.casefold() == self._query.text for name in (*row.titles.split("\n"), *row.names)):
            # The page of that name, and what has it as its identifier, go before sections of that name in others.
            return worth + _CALLED + _NAMED
        return worth + (_CALLED if row.heading.casefold() == self._query.text else 0.0)

    def _like(self, text: str) -> float:
        return _likeness(self._meant, self._wanted, self._query.ignored, text)

    def _read(self, rows: list[tuple[float, Found]]) -> list[tuple[float, Found]]:
        """The rows, with what it is worth that they have just what was typed."""
        if len(rows) < 2:
            return rows
        bodies = self.bodies
        bodies |= store.read_bodies(self._tx, [row.id for _, row in rows if row.id not in bodies])
        typed = [term.alternatives[0] for term in self._terms]
        whole, phrases = self._query.text, self._query.phrases
        verbatim = _CALLED if self._query.is_identifier else _VERBATIM if " " in whole else 0.0
        read = []
        for score, row in rows:
            text = "\n".join((row.titles, row.heading, *row.names, bodies[row.id])).casefold()
            if all(word in text for words in typed for word in words):
                score += _TYPED
            if verbatim and _stands_in(whole, text):
                score += verbatim
            # What is in quotation marks is meant as it is written, whatever titles say some of its words.
            if phrases and all(_stands_in(phrase, text) for phrase in phrases):
                score += _CALLED + _NAMED
            read.append((score, row))
        return read


def _best_first(scored: tuple[float, Found]) -> tuple[float, str, int]:
    return -scored[0], scored[1].page_id, scored[1].id


def _stands_in(name: str, text: str) -> bool:
    """Whether a name is in a text, and not as a part of a longer word."""
    at = text.find(name)
    while at >= 0:
        before, after = text[at - 1 : at] if at else "", text[at + len(name) : at + len(name) + 1]
        if not (before.isalnum() and name[0].isalnum()) and not (after.isalnum() and name[-1].isalnum()):
            return True
        at = text.find(name, at + 1)
    return False


class _Meant(Struct, frozen=True):
    """One way to read a term: words in a row, what that is worth, and whether the last of them may go on."""

    words: tuple[str, ...]
    stems: tuple[str, ...]
    worth: float
    prefix: bool


def _likeness(
    meant: Sequence[Sequence[_Meant]], wanted: WantedWords, ignored: frozenset[str], text: str
) -> float:
    """1 when the text is just what was asked for; less for what it says beside that, and for what it does not."""
    cut = tokens(text)
    every = [token for token in cut if token.lower() not in ignored] or cut
    there = {word for token in every for word in wanted[token]}
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
    named = sum(_part_named(token, wanted[token], matched) for token in every) / len(every)
    return float((covered / len(meant)) ** 3 * named)


def _part_named(token: str, said: frozenset[str], matched: set[str]) -> float:
    """How much of a word was asked for: of a composed one it may be a part."""
    if said.isdisjoint(matched):
        return 0.0
    parts = parts_of(token)
    if not parts or fold(token) in matched:
        return 1.0
    return sum(not part.isdisjoint(matched) for part in parts) / len(parts)


def with_snippets(tx: Transaction, hits: Sequence[PageHit]) -> list[PageHit]:
    """The hits with the snippets of their sections: for those that are shown. Of a page whose text is not indexed as it
    is now nothing is quoted: what was taken out of it a moment ago is for nobody."""
    waiting = store.find_waiting(tx, [hit.page_id for hit in hits])
    hits = [
        msgspec.structs.replace(hit, sections=()) if (hit.space_id, hit.page_id) in waiting else hit
        for hit in hits
    ]
    sections = [section for hit in hits for section in hit.sections]
    bodies = {section.id: section.body for section in sections if section.body is not None}
    bodies |= store.read_bodies(tx, [section.id for section in sections if section.body is None])
    replace = msgspec.structs.replace
    marked: dict[frozenset[str], Marked] = {}
    for hit in hits:
        marked.setdefault(hit.shown, Marked(WantedWords(hit.shown)))
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
    tx: Transaction, space_ids: Sequence[str], text: str, limit: int = 3, sees: Sees = everything
) -> list[str]:
    """Words near to what was typed that are in a section which is seen, for when nothing was found."""
    vocabulary = _Vocabulary(tx, store.open_scope(tx, space_ids), [])
    found: dict[str, int] = {}
    long = (word for word in dict.fromkeys(words(text)) if len(word) >= _MIN_TYPO - 1)
    for word in vocabulary.affordable(long):
        found |= vocabulary.known(one_edit_away(word))
        found |= vocabulary.known(set(islice(vocabulary.beginning(fold(word)[:_MIN_TYPO]).words, _COMPLETED)))
    likely = sorted(found, key=lambda word: (-found[word], word))[:_SUGGESTED]
    suggested = []
    for word in likely:
        windows = _Windows(tx, vocabulary, [Term(((word,),))], sees, every=True)
        if any(windows.first()):
            suggested.append(word)
        if len(suggested) == limit:
            break
    return suggested
