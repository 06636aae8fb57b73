"""Find the best pages for a query.

At first, pages must contain all words of the query, in any form. Words that don't occur at all are corrected by one
typing error. Pages with only some of the words are included only if there are too few results otherwise. The engine's
results are scored again, in the same way for both engines: titles and headings that equal the query come first.
Snippets are created only for results that are shown.

The engine returns matches in windows of sections, highest scores first. Partial matches, and matches from an engine
without scores, are ordered by ID. Each window is ranked separately, and the next window is read only if there are too
few pages so far. If there are more matches than fit in a window, titles and headings come first; for partial matches,
the sections that contain most of the words come next.

Words that occur on very many pages are never used for ranking, because the list of all their positions would have to be
read. If all words are frequent, windows are small and cover one space after another.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, islice

import msgspec
from msgspec import Struct

from octavo.core.sentences import stem
from octavo.errors import BadRequest
from octavo.kit.db.database import Transaction

from . import store
from .drafts import SearchedDraft, match_draft
from .function_words import function_words, split_question
from .store import OrganizationScope, Scope, SectionMatch, Term
from .tokens import (
    WantedWords,
    WordMarker,
    fold,
    is_cjk,
    one_edit_away,
    parts_of,
    tokens,
    without_ending,
    words,
)

_WINDOW = 1000
"""Number of sections ranked together. If the engine scores sections, these have the highest scores."""
_PER_RESULT = 8
"""Number of sections in the first window per requested result. The sections with the highest engine scores
come first."""
_SMALL_WINDOW = 60
"""Number of sections ranked together for queries with only frequent words, for which ranking matters little."""
_FILLED = 60
"""Number of sections ranked together for partial matches."""
_AT_ONCE = 16
"""Number of spaces searched together for frequent words."""
MAX_COUNT = 1000
"""Maximum number of results to count exactly. If there are more, only results that were read are counted."""
_MOST = 30
"""Number of sections to read if there are more matches than fit in a window. The limit applies separately to sections
that contain most of the query, and to sections whose titles and headings contain any part of it."""
_ENOUGH = 10
_READ = 50
"""Number of best sections whose text is checked for the exact query. If there are more matches than fit in
a window, also the number of best titles and headings."""
_RARE = 2
_MIN_TYPO = 4
_MIN_BEGUN = 3
_MAX_REWRITES = 8
_MOST_SPELLINGS = 40_000
"""Maximum number of spellings to look up for the misspelled words of one query, in all searched spaces together. A long
word has thousands of spellings. Words beyond this limit aren't corrected."""
_SPELLINGS_A_LETTER = 74
"""Approximate number of spellings per letter of a word (``one_edit_away``)."""
MAX_SEARCH = 512
"""Maximum length of a query in characters."""
MAX_TERMS = 32
"""Maximum number of words and phrases in a query."""
_SNIPPET = 180
_LONGEST = 200
"""Number of characters to read after a snippet, so that no token is truncated."""
_SECTIONS = 3
_EVERYWHERE = 0.25
_MANY_PAGES = 1000
_BUDGET = 2000
"""Maximum total number of pages that contain the words used for partial matches; the rarest words are used
first."""
_FREQUENT_SHARE = 0.05
"""If at least this share of pages is expected to contain all frequent words of a query, sections are read in order
instead of being looked up in the index."""
_SUGGESTED = 12
_COMPLETED = 20
"""Number of completions that are looked up for a prefix with many completions."""

# Scores for matching all words, all words after correcting some, and any of the words. Together they can outweigh the
# engine's order.
_ALL, _REPAIRED, _ANY = 90.0, 60.0, 0.0
_OTHER_FORM, _BEGUN, _GUESSED = 0.95, 0.9, 0.9
_ORDER, _TITLE, _HEADING = 20.0, 80.0, 45.0
_COVERED = 60.0
"""Score for a section that contains nearly all of the words, weighted by rarity."""
_TYPED, _VERBATIM, _CALLED, _NAMED = 10.0, 20.0, 100.0, 80.0
"""Scores for the words as typed, the exact query in the text, a heading equal to the query, and a page title
equal to the query."""

_CHUNK = re.compile(r"\S+")
_IDENTIFIER = re.compile(r"(?=.*\w)\S*[^\w\s]\S*\w")


class SnippetPart(Struct, frozen=True):
    """Part of a snippet. ``marked``: whether it matched the query."""

    text: str
    marked: bool = False


class SectionHit(Struct, frozen=True):
    """Matching section. ``names_page``: whether the query matched the page's title. ``snippet``: the
    snippet; empty until ``with_snippets`` adds it. ``body``: the text, if it was already read."""

    id: int
    anchor: str | None
    heading: str
    names_page: bool
    body: str | None = None
    snippet: tuple[SnippetPart, ...] = ()


class PageHit(Struct, frozen=True):
    """Page with its best sections, best first. ``shown``: the words and their stems that count as matches."""

    space_id: str
    page_id: str
    score: float
    sections: tuple[SectionHit, ...]
    shown: frozenset[str]


class Results(Struct, frozen=True):
    """Best matching pages. ``count``: the total number of results, or a lower bound unless ``is_exact``."""

    hits: tuple[PageHit, ...]
    count: int
    is_exact: bool


class Query(Struct, frozen=True):
    """Parsed query: its terms, the function words among them, the whole text in lowercase, and the quoted
    phrases in lowercase."""

    terms: tuple[Term, ...]
    ignored: frozenset[str]
    text: str
    phrases: tuple[str, ...] = ()

    @property
    def is_identifier(self) -> bool:
        """Return whether the query is a single name with special characters, such as a path."""
        return _IDENTIFIER.fullmatch(self.text) is not None


def read_query(text: str) -> Query:
    """Parse a query into words, quoted "phrases", and the last word as a prefix. Function words are ignored
    unless there are no other words. Raises BadRequest if there are too many terms."""
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
        raise BadRequest(f"query: must have at most {MAX_TERMS} words and phrases")
    ignored = function_words(term.word for term in found if term.word and not term.quoted)
    terms = [term for term in found if term.quoted or term.word not in ignored]
    if not terms:
        terms, ignored = found, frozenset()
    # A function word after it also completes the last word.
    if terms and terms[-1] is found[-1] and not text.endswith((" ", '"')):
        terms[-1] = msgspec.structs.replace(terms[-1], prefix=True)
    folded = " ".join(text.replace('"', " ").split()).casefold()
    return Query(tuple(terms), ignored, folded, tuple(phrases))


def _read_chunk(chunk: str) -> list[Term]:
    """Return the terms in a part of the query that contains no spaces."""
    cut = tokens(chunk)
    if not any(map(is_cjk, cut)):
        found = tuple(words(chunk))
        if not found:
            return []
        if len(cut) > 1:
            # A path or hyphenated words match in sequence, as in the texts.
            return [Term((found,))]
        # A compound word matches as a whole or by all of its parts in sequence.
        return [Term(((found[0],), found[1:]) if len(found) > 1 else (found,))]
    terms = []
    for token in cut:
        if not is_cjk(token):
            terms += _read_chunk(token)
            continue
        for part in split_question(token):
            # Texts are indexed by character pairs, so a single character matches every pair that starts with
            # it.
            terms.append(Term((tuple(words(part)),), prefix=len(part) == 1))
    return terms


class _Vocabulary:
    """Words of the searched spaces, with the number of pages that contain each; the empty word represents all
    pages. Each word is queried only once."""

    def __init__(self, tx: Transaction, scope: Scope, words: Sequence[str]) -> None:
        self._tx, self.scope = tx, scope
        self._pages = store.pages_containing(tx, scope, ["", *words])
        self._beginnings: dict[str, store.PrefixMatches] = {}
        self.near: dict[str, tuple[str, ...]] = {}
        """Known words that are one typing error away from each word looked up so far."""
        self._spellings = _MOST_SPELLINGS // max(1, len(scope.space_ids or scope.keys))

    def affordable(self, words: Iterable[str]) -> Iterator[str]:
        """Yield the words whose spellings can be looked up within the limit, in order."""
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
        """Return the given words that occur on pages, each with its number of pages."""
        if not words:
            return {}
        found = store.pages_containing(self._tx, self.scope, words)
        self._pages |= found
        return found

    def beginning(self, prefix: str) -> store.PrefixMatches:
        if prefix not in self._beginnings:
            self._beginnings[prefix] = store.words_beginning(self._tx, self.scope, prefix)
        return self._beginnings[prefix]

    def forms(self, words: set[str]) -> list[str]:
        """Return these words and known words with the same stems, most frequent first."""
        found = {word: self.pages(word) for word in words}
        for word in words:
            others = self.beginning(stem(word)).words
            found |= {form: pages for form, pages in others.items() if stem(form) == stem(word)}
        return sorted(found, key=lambda form: (-found[form], form))

    def count(self, term: Term) -> int:
        """Return an upper bound on the number of pages that contain a term as typed or corrected."""
        return sum(min(map(self.pages, words)) for words in term.every())

    def count_begun(self, term: Term) -> int:
        """Return an upper bound on the number of pages that contain a term, including all of its completions."""
        found = self.count(term)
        if term.prefix and term.word:
            begun = self.beginning(term.word)
            found = max(found, sum(begun.words.values()) if begun.is_complete else self.every)
        return found

    def marked(self, terms: Sequence[Term]) -> list[Term]:
        """Return the terms, with the frequent terms marked. Prefixes with too many completions keep only the most
        common completions."""
        return [self._mark(term) for term in terms]

    def _mark(self, term: Term) -> Term:
        if self.count_begun(term) <= _MANY_PAGES:
            return term
        word = term.word
        begun = term.begun
        if term.prefix and word:
            begun = tuple(dict.fromkeys(map(stem, islice(self.beginning(word).words, _COMPLETED))))
        # A word that is frequent as typed need not be completed.
        prefix = term.prefix and (word is None or self.pages(word) <= _MANY_PAGES)
        return msgspec.structs.replace(term, prefix=prefix, begun=begun, is_frequent=True)


def _find_corrections(
    tx: Transaction, vocabulary: _Vocabulary, words: Iterable[str], sees: Sees
) -> dict[str, tuple[str, ...]]:
    """For each word, return the known words that are one typing error away from the word or from one of its possible
    base forms, most likely first. Words that occur only in sections that ``sees`` rejects are treated as unknown."""
    long = (word for word in words if len(word) >= _MIN_TYPO)
    found = _find_near(
        tx, vocabulary, {word: one_edit_away(word) for word in vocabulary.affordable(long)}, sees
    )
    forms = {
        word: {
            near
            for form in vocabulary.affordable(sorted(without_ending(word)))
            for near in (form, *one_edit_away(form))
        }
        for word, near in found.items()
        if not near
    }
    return found | _find_near(tx, vocabulary, forms, sees)


def _find_near(
    tx: Transaction, vocabulary: _Vocabulary, tried: Mapping[str, set[str]], sees: Sees
) -> dict[str, tuple[str, ...]]:
    """For each word, return the possible corrections that are visible to the caller, most likely first."""
    known = vocabulary.known(set().union(*tried.values()))

    def likely(word: str, every: set[str]) -> tuple[str, ...]:
        # People rarely mistype the first letter.
        found = sorted(every & known.keys(), key=lambda near: (near[0] != word[0], -known[near], near))
        return tuple(islice((near for near in found if _is_seen(tx, vocabulary, near, sees)), _MAX_REWRITES))

    return {word: likely(word, every) for word, every in tried.items()}


def _is_seen(tx: Transaction, vocabulary: _Vocabulary, word: str, sees: Sees) -> bool:
    """Return whether a known word occurs in a section that the caller can see."""
    if sees is sees_everything:
        return True
    return any(_Windows(tx, vocabulary, [Term(((word,),))], sees, every=True).first())


def _with_corrections(
    tx: Transaction, vocabulary: _Vocabulary, terms: Sequence[Term], most: float, sees: Sees
) -> list[Term]:
    """Add corrections to the terms that occur on at most ``most`` pages, or only in sections that ``sees`` rejects."""
    doubtful = [
        word
        for term in terms
        if (word := term.word)
        and (vocabulary.pages(word) <= most or not _is_seen(tx, vocabulary, word, sees))
    ]
    near = vocabulary.near
    new = dict.fromkeys(word for word in doubtful if word not in near)
    near |= _find_corrections(tx, vocabulary, new, sees)
    return [
        msgspec.structs.replace(term, near=near.get(term.word or "", ()) if term.word in doubtful else ())
        for term in terms
    ]


def _with_completions(vocabulary: _Vocabulary, terms: Sequence[Term]) -> list[Term]:
    """Add to the last term the stems of its completions that don't start with the term itself."""
    last = terms[-1] if terms else None
    if last is None or not last.prefix or last.word is None or len(last.word) < _MIN_BEGUN:
        return list(terms)
    stems = map(stem, islice(vocabulary.beginning(last.word).words, _COMPLETED))
    begun = tuple(dict.fromkeys(found for found in stems if not found.startswith(last.word)))
    return [*terms[:-1], msgspec.structs.replace(last, begun=begun)]


def _without_ubiquitous(terms: Sequence[Term], vocabulary: _Vocabulary) -> list[Term]:
    """Return the terms without words that occur nearly everywhere, because these cost the most and are the least
    significant."""
    most = max(_MANY_PAGES, _EVERYWHERE * vocabulary.every)
    return [term for term in terms if not (term.word and vocabulary.count(term) > most)] or list(terms)


def _rarest(terms: Sequence[Term], vocabulary: _Vocabulary) -> list[Term]:
    """Return the terms to use for partial matches. Terms that occur on many pages are omitted unless all terms do.
    Unquoted phrases count as single words."""
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
    return [loose[at] for at in sorted(taken)] or _without_ubiquitous(loose, vocabulary)


Sees = Callable[[SectionMatch], bool]
"""Function that returns whether the caller can see a section: its page is visible, and its conditions are
met."""


def sees_everything(found: SectionMatch) -> bool:
    """Return True, because members of a space can see all of its content."""
    return True


class _Windows:
    """Matches, one window at a time."""

    def __init__(
        self,
        tx: Transaction,
        vocabulary: _Vocabulary,
        terms: Sequence[Term],
        sees: Sees,
        *,
        every: bool,
        wanted: int = 1,
    ) -> None:
        self._tx, self._scope, self._sees = tx, vocabulary.scope, sees
        self.vocabulary = vocabulary
        self.terms = vocabulary.marked(terms)
        self.every = every
        self.is_ranked = not all(term.is_frequent for term in self.terms)
        self._by_score = every and self.is_ranked
        best = max(_SMALL_WINDOW, _PER_RESULT * wanted)
        self._limit = min(_WINDOW, _FILLED if not every else best if self.is_ranked else _SMALL_WINDOW)
        self._after = 0
        self._is_by_space = not self.is_ranked and self._is_frequent_together()
        self._fruitless = 0
        self._spaces: Iterator[str] | None = None
        self._fresh: list[str] = []
        self._with_completions: deque[tuple[str, int]] = deque()
        self.is_last = False

    def first(self) -> list[list[SectionMatch]]:
        """Return the first window. If it is full, also return matching titles and headings."""
        window = self.next()
        while not window and not self.is_last:
            window = self.next()
        if self.is_last or self._spaces is not None:
            return [window]
        if self._by_score:
            # The scores of the engine already put most matching titles and headings first.
            heads = self._heads(self._scope, _READ)
            return [list({row.id: row for row in chain(window, heads)}.values())]
        return [self._heads(self._scope, self._limit if self.every else _MOST), window]

    def next(self) -> list[SectionMatch]:
        if self._is_by_space:
            return self._next_of_spaces()
        given = (self._tx, self._scope, self.terms)
        if self._by_score:
            found = store.match_best(*given, start=self._after, limit=self._limit)
            self._limit = _WINDOW
        else:
            found = store.match(*given, every=self.every, after=self._after, limit=self._limit)
        self.is_last, self._after = found.is_last, found.after
        return list(filter(self._sees, found.rows))

    def _heads(self, scope: Scope, limit: int) -> list[SectionMatch]:
        given = (self._tx, scope, self.terms)
        if self._by_score:
            found = store.match_best(*given, heads=True, limit=limit)
        else:
            found = store.match(*given, every=self.every, heads=True, limit=limit)
        return list(filter(self._sees, found.rows))

    def _is_frequent_together(self) -> bool:
        """Return whether many sections are expected to match all terms, or any of them. Phrases are ignored,
        because their frequency is unknown."""
        pages, every = self.vocabulary.pages, max(1, self.vocabulary.every)
        known = [
            min(1.0, sum(pages(words[0]) for words in term.every() if len(words) == 1) / every)
            for term in self.terms
        ]
        part = math.prod(known) if self.every else 1 - math.prod(1 - one for one in known)
        return part >= _FREQUENT_SHARE

    def _next_of_spaces(self) -> list[SectionMatch]:
        """Return sections of some of the spaces, with titles and headings from spaces that haven't been
        read yet."""
        if self._spaces is None:
            self._spaces = self._list_spaces()
            self._fresh = list(islice(self._spaces, _AT_ONCE))
        fresh, self._fresh = self._fresh, list(islice(self._spaces, _AT_ONCE))
        begun = [(space_id, 0) for space_id in fresh] or list(islice(self._with_completions, _AT_ONCE))
        found: dict[int, SectionMatch] = {}
        limit = max(1, self._limit // max(1, len(begun)))
        for space_id in fresh:
            found |= {row.id: row for row in self._heads(store.open_scope(self._tx, [space_id]), limit)}
        for space_id, after in begun:
            window = store.match_often(
                self._tx, space_id, self.terms, every=self.every, after=after, limit=limit
            )
            found |= {row.id: row for row in filter(self._sees, window.rows)}
            if not fresh:
                self._with_completions.popleft()
            if not window.is_last:
                self._with_completions.append((space_id, window.after))
        self.is_last = not self._fresh and not self._with_completions
        self._fruitless += 4 * len(found) < (limit if len(begun) == 1 else len(begun))
        if self._fruitless == 2 and not self.is_last:
            # The terms are less frequent together than expected, so the index is used, skipping pages that
            # were already found.
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
        return store.spaces_containing(self._tx, self._scope, forms)


def search_pages(
    tx: Transaction,
    spaces: Sequence[str] | OrganizationScope,
    text: str,
    wanted: int = 1,
    *,
    by_space: bool = False,
    sees: Sees = sees_everything,
    draft: SearchedDraft | None = None,
    counts: bool = True,
) -> Results:
    """Search these spaces and return the best pages, without snippets (see ``with_snippets``). ``wanted``: the number
    of pages to return if there are enough; with ``by_space``, the number of spaces with matching pages. More pages may
    be returned. ``counts``: whether to also count results that aren't read.

    The caller must have checked access to the spaces. Sections that ``sees`` rejects are treated as if they didn't
    exist. ``draft``: the state that one of the spaces shows instead of main.
    """
    query = read_query(text)
    if draft is None:
        return _search_main(tx, spaces, query, wanted, by_space, sees, counts)
    pages = draft.pages
    main = _search_main(
        tx, spaces, query, wanted, by_space, lambda found: found.page_id not in pages and sees(found), counts
    )
    hits = sorted([*main.hits, *_search_draft(tx, draft, query, sees)], key=lambda hit: -hit.score)
    more = {hit.space_id for hit in hits} if by_space else hits
    seen = {hit.space_id for hit in main.hits} if by_space else main.hits
    return Results(tuple(hits), main.count + len(more) - len(seen), main.is_exact)


def _search_draft(tx: Transaction, draft: SearchedDraft, query: Query, sees: Sees) -> list[PageHit]:
    """Return matching pages that a draft changes, ranked like the pages of main in ``_search_main``."""
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
    spaces: Sequence[str] | OrganizationScope,
    query: Query,
    wanted: int,
    by_space: bool,
    sees: Sees,
    counts: bool,
) -> Results:
    scope = store.open_scope(tx, spaces)
    if not query.terms or not scope.keys:
        return Results((), 0, True)
    vocabulary = _Vocabulary(tx, scope, _single_words(query.terms))
    terms = _with_completions(vocabulary, query.terms)
    worth = _ALL
    windows = _Windows(
        tx, vocabulary, _without_ubiquitous(terms, vocabulary), sees, every=True, wanted=wanted
    )
    found = windows.first()
    for most in (_RARE, math.inf):
        if any(found):
            break
        repaired = _with_corrections(tx, vocabulary, terms, most, sees)
        if repaired != terms:
            terms, worth = repaired, _REPAIRED
            windows = _Windows(
                tx, vocabulary, _without_ubiquitous(terms, vocabulary), sees, every=True, wanted=wanted
            )
            found = windows.first()
    scored = [_scored(rows, worth) for rows in found]
    rarest = _rarest(terms, vocabulary)
    if len(rarest) > 1 and windows.is_last and len({row.page_id for rows in found for row in rows}) < _ENOUGH:
        worth = _ANY
        windows = _Windows(tx, vocabulary, rarest, sees, every=False)
        # The first window contains all sections that match all words, before partial matches.
        whole = {id: row for rows in scored for id, row in rows.items()}
        first, *others = [_scored(rows, worth) for rows in windows.first()]
        if not windows.is_last:
            for row in _most_matching(tx, windows, sees):
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
    if not (counts and windows.is_ranked and windows.every):
        return Results(tuple(gathered.hits), gathered.count, False)
    count, is_exact = _count_visible(tx, scope, windows.terms, sees, by_space=by_space)
    # Corrected words add few pages to these; results that were already read are counted in any case.
    return Results(tuple(gathered.hits), max(count, gathered.count), is_exact)


def _count_visible(
    tx: Transaction, scope: Scope, terms: Sequence[Term], sees: Sees, *, by_space: bool
) -> tuple[int, bool]:
    """Return the number of pages or spaces that match all terms and that the caller can see, and whether all of them
    were counted."""
    if sees is sees_everything:
        count = store.count_matches(tx, scope, terms, by_space=by_space, most=MAX_COUNT)
        return count, count < MAX_COUNT
    found = store.list_matches(tx, scope, terms, most=MAX_COUNT)
    seen = {one.space_id if by_space else (one.space_id, one.page_id) for one in filter(sees, found)}
    return len(seen), len(found) < MAX_COUNT


def _most_matching(tx: Transaction, windows: _Windows, sees: Sees) -> list[tuple[float, SectionMatch]]:
    """Return the sections that match most of the terms, weighted by rarity, with their scores."""
    vocabulary, terms = windows.vocabulary, windows.terms
    if not windows.is_ranked:
        return _partly_matching(tx, windows, sees)
    weighted = []
    for term in terms:
        rarest = min(map(vocabulary.pages, term.alternatives[0]))
        # Sums of integers are the same in any order.
        weighted.append((term, round(100 * math.log(1 + (1 + vocabulary.every) / (1 + rarest)))))
    whole = sum(weight for _, weight in weighted)
    rows = store.match_most(tx, vocabulary.scope, weighted, limit=_MOST)
    return [(_ANY + _COVERED * row.score / whole, row) for row in rows if sees(row)]


def _partly_matching(tx: Transaction, windows: _Windows, sees: Sees) -> list[tuple[float, SectionMatch]]:
    """Return sections that match several frequent terms together, with their scores. The rarer half of the terms is
    tried first, then the rarer half of those, and so on."""
    vocabulary = windows.vocabulary
    ordered = sorted(windows.terms, key=vocabulary.count)
    found: dict[int, tuple[float, SectionMatch]] = {}
    number = len(ordered) // 2
    while number > 1 and len(found) < _MOST:
        window = store.match(tx, vocabulary.scope, ordered[:number], every=True, limit=_MOST)
        score = _ANY + _COVERED * number / len(ordered)
        for row in filter(sees, window.rows):
            found.setdefault(row.id, (score, row))
        number //= 2
    return list(found.values())


def _single_words(terms: Sequence[Term]) -> list[str]:
    """Return the words of all unquoted terms. These words are looked up separately."""
    return [word for term in terms if not term.quoted for words in term.alternatives for word in words]


_Scored = dict[int, tuple[float, SectionMatch]]


def _scored(rows: Sequence[SectionMatch], worth: float) -> _Scored:
    best = max((row.score for row in rows), default=0.0) or 1.0
    return {row.id: (worth + _ORDER * row.score / best, row) for row in rows}


class _Gathered:
    """Sections by page, with the score of titles and headings that match the query."""

    def __init__(self, tx: Transaction, query: Query, terms: Sequence[Term], by_space: bool) -> None:
        self._tx, self._query, self._terms, self._by_space = tx, query, terms, by_space
        self._meant = [
            [
                _TermReading(
                    row, tuple(map(stem, row)), 1.0 if row in term.alternatives else _GUESSED, term.prefix
                )
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
        """Add the pages of a window after the pages of previous windows."""
        rows = [
            (score + self._worth(row), row)
            for score, row in scored.values()
            if (row.space_id, row.page_id) not in self._pages
        ]
        rows.sort(key=_best_first)
        rows[:_READ] = self._read(rows[:_READ])
        rows.sort(key=_best_first)
        pages: dict[tuple[str, str], list[tuple[float, SectionMatch]]] = {}
        for score, row in rows:
            pages.setdefault((row.space_id, row.page_id), []).append((score, row))
        for (space_id, page_id), best in pages.items():
            # Parts of a section under different conditions are indexed separately but shown once.
            parts: dict[str | None, tuple[float, SectionMatch]] = {}
            for score, row in best:
                parts.setdefault(row.anchor, (score, row))
            shown = list(parts.values())[:_SECTIONS]
            sections = tuple(
                SectionHit(
                    row.id,
                    row.anchor,
                    row.heading,
                    names_page=self._likeness[row.titles] > 0,
                    body=self.bodies.get(row.id),
                )
                for score, row in shown
            )
            self.hits.append(PageHit(space_id, page_id, best[0][0], sections, self._shown))
            self._spaces.add(space_id)
        self._pages |= pages.keys()

    def _worth(self, row: SectionMatch) -> float:
        likeness = self._likeness
        heads = "\n".join((row.heading, *row.names))
        for text in (row.titles, heads):
            if text not in likeness:
                likeness[text] = max((self._like(line) for line in text.split("\n")), default=0.0)
        worth = _TITLE * likeness[row.titles] + _HEADING * likeness[heads]
        if any(name.casefold() == self._query.text for name in (*row.titles.split("\n"), *row.names)):
            # The page with that name, and sections that have the name as an identifier, come before sections
            # of that name on other pages.
            return worth + _CALLED + _NAMED
        return worth + (_CALLED if row.heading.casefold() == self._query.text else 0.0)

    def _like(self, text: str) -> float:
        if not self._wanted.may_be_in(text):
            return 0.0
        return _likeness(self._meant, self._wanted, self._query.ignored, text)

    def _read(self, rows: list[tuple[float, SectionMatch]]) -> list[tuple[float, SectionMatch]]:
        """Increase the scores of rows that contain the query exactly as typed."""
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
            if verbatim and _contains_name(whole, text):
                score += verbatim
            # Quoted phrases are meant literally, even if titles contain some of their words.
            if phrases and all(_contains_name(phrase, text) for phrase in phrases):
                score += _CALLED + _NAMED
            read.append((score, row))
        return read


def _best_first(scored: tuple[float, SectionMatch]) -> tuple[float, str, int]:
    return -scored[0], scored[1].page_id, scored[1].id


def _contains_name(name: str, text: str) -> bool:
    """Return whether a name occurs in a passage, but not as part of a longer word."""
    at = text.find(name)
    while at >= 0:
        before, after = text[at - 1 : at] if at else "", text[at + len(name) : at + len(name) + 1]
        if not (before.isalnum() and name[0].isalnum()) and not (after.isalnum() and name[-1].isalnum()):
            return True
        at = text.find(name, at + 1)
    return False


class _TermReading(Struct, frozen=True):
    """One interpretation of a term: words in sequence, their weight, and whether the last word is a prefix."""

    words: tuple[str, ...]
    stems: tuple[str, ...]
    worth: float
    prefix: bool


def _likeness(
    meant: Sequence[Sequence[_TermReading]], wanted: WantedWords, ignored: frozenset[str], text: str
) -> float:
    """Return the similarity of a passage to the query: 1 if they are equal, and less for additional and missing
    words."""
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


def _part_named(token: str, forms: frozenset[str], matched: set[str]) -> float:
    """Return the share of a token that the query contains; a compound token can match in part."""
    if forms.isdisjoint(matched):
        return 0.0
    parts = parts_of(token)
    if not parts or fold(token) in matched:
        return 1.0
    return sum(not part.isdisjoint(matched) for part in parts) / len(parts)


def with_snippets(tx: Transaction, hits: Sequence[PageHit]) -> list[PageHit]:
    """Add snippets to the hits to show. Pages whose current text isn't indexed yet don't get snippets, because a
    passage may just have been removed."""
    waiting = store.find_waiting(tx, [hit.page_id for hit in hits])
    hits = [
        msgspec.structs.replace(hit, sections=()) if (hit.space_id, hit.page_id) in waiting else hit
        for hit in hits
    ]
    sections = [section for hit in hits for section in hit.sections]
    bodies = {section.id: section.body for section in sections if section.body is not None}
    bodies |= store.read_bodies(tx, [section.id for section in sections if section.body is None])
    replace = msgspec.structs.replace
    marked: dict[frozenset[str], WordMarker] = {}
    for hit in hits:
        marked.setdefault(hit.shown, WordMarker(WantedWords(hit.shown)))
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


def snippet(body: str, marked: WordMarker) -> tuple[SnippetPart, ...]:
    """Return an excerpt around the first match, with the matches marked."""
    begin = 0
    first = next(marked.spans(body), None)
    if first and first[0] > _SNIPPET // 3:
        begin = first[0] - _SNIPPET // 3
        begin = body.rfind(" ", 0, begin) + 1 if " " in body[:begin] else begin
    finish = min(len(body), begin + _SNIPPET)
    marks = list(marked.spans(body, first[0], finish + _LONGEST)) if first else []
    parts = [SnippetPart("…")] if begin else []
    at = begin
    for start, end in marks:
        if start < at or end > finish:
            continue
        if start > at:
            parts.append(SnippetPart(body[at:start]))
        parts.append(SnippetPart(body[start:end], True))
        at = end
    if at < finish:
        parts.append(SnippetPart(body[at:finish]))
    if finish < len(body):
        parts.append(SnippetPart("…"))
    return tuple(part for part in parts if part.text)


def suggest(
    tx: Transaction, space_ids: Sequence[str], text: str, limit: int = 3, sees: Sees = sees_everything
) -> list[str]:
    """Return suggestions for a search without results: words in visible sections that are similar to words in the
    query."""
    vocabulary = _Vocabulary(tx, store.open_scope(tx, space_ids), [])
    found: dict[str, int] = {}
    long = (word for word in dict.fromkeys(words(text)) if len(word) >= _MIN_TYPO - 1)
    for word in vocabulary.affordable(long):
        found |= vocabulary.known(one_edit_away(word))
        found |= vocabulary.known(set(islice(vocabulary.beginning(fold(word)[:_MIN_TYPO]).words, _COMPLETED)))
    likely = sorted(found, key=lambda word: (-found[word], word))[:_SUGGESTED]
    suggested = []
    for word in likely:
        if _is_seen(tx, vocabulary, word, sees):
            suggested.append(word)
        if len(suggested) == limit:
            break
    return suggested
