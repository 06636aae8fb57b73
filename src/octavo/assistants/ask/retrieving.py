"""Retrieve the best passages for a question from the spaces that the person asking can see."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from octavo.content.search.querying import PageHit, search_pages
from octavo.core.sentences import content_words, sentences, shorten, stems
from octavo.kit.db.database import Transaction

from .material import AnswerMaterial
from .ranking import Candidate, rank

MAX_PASSAGES = 6
_PAGES = 12
_TERMS = 16
"""Maximum number of words from a question to search for. The rest of a long question is mostly background."""
_EXCERPT = 600
_TEXT = 4000
"""Maximum number of characters in a quoted passage, and in a passage sent to a model."""
ENOUGH = 0.6
"""Share of a question's words that a passage must contain in order to answer the question."""
_EACH = 3
"""Maximum number of passages from one page."""


class Passage(Struct, frozen=True):
    """Section of a page. ``url``: the page's URL for the person who asks. ``anchor``: the anchor of the section;
    None before the first heading. ``covers``: the share of the question's words that the section and its titles
    contain, from 0 to 1."""

    space_id: str
    page_id: str
    revision_id: str
    title: str
    url: str
    anchor: str | None
    heading: str
    text: str
    excerpt: str
    covers: float

    @property
    def full_title(self) -> str:
        return " › ".join(filter(None, [self.title, self.heading]))

    @property
    def address(self) -> str:
        """Return the URL of the section."""
        return f"{self.url}#{self.anchor}" if self.anchor else self.url


def retrieve(
    tx: Transaction, material: AnswerMaterial, question: str, context: Sequence[str] = ()
) -> list[Passage]:
    """Return the passages, best first. ``context``: the earlier questions. These are used if the question itself
    contains too few words."""
    searched = question
    if len(set(stems(question))) < 2:
        searched = "\n".join([question, *context[-1:]])
    asked = dict(list(zip(stems(searched), content_words(searched), strict=True))[:_TERMS])
    if not asked:
        return []
    candidates: list[Candidate] = []
    passages: list[Passage] = []
    for at, hit in enumerate(_search(tx, material, searched)):
        for titles, passage in _list_passages(tx, material, hit):
            candidates.append(Candidate(titles, passage.heading, passage.text, at))
            passages.append(passage)
    scores = rank(asked, candidates)
    of_page: Counter[str] = Counter()
    seen: set[tuple[str, str]] = set()
    found: list[Passage] = []
    for at in sorted(range(len(passages)), key=lambda at: (-scores[at].worth, at)):
        passage = passages[at]
        words = (passage.full_title, passage.text)
        if words in seen:
            # Copies and other versions of a space have the same passages.
            continue
        seen.add(words)
        of_page[passage.page_id] += 1
        if of_page[passage.page_id] <= _EACH and scores[at].covers > 0:
            found.append(
                replace(passage, excerpt=excerpt(passage.text, list(asked)), covers=scores[at].covers)
            )
        if len(found) == MAX_PASSAGES:
            break
    return found


def _search(tx: Transaction, material: AnswerMaterial, question: str) -> list[PageHit]:
    """Search for the significant words of a question with their original spelling, because the search corrects
    spelling. A trailing space marks the last word as complete."""
    words = list(dict.fromkeys(content_words(question)))[:_TERMS]
    found = search_pages(
        tx,
        material.spaces,
        " ".join(words) + " ",
        _PAGES,
        sees=material.sees,
        draft=material.draft,
        counts=False,
    )
    return list(found.hits[:_PAGES])


def _list_passages(tx: Transaction, material: AnswerMaterial, hit: PageHit) -> list[tuple[str, Passage]]:
    """Return all sections of a page, each with the titles above it."""
    page = material.read(tx, hit.space_id, hit.page_id)
    if page is None:
        return []
    titles = "\n".join(page.titles)
    return [
        (
            titles,
            Passage(
                hit.space_id,
                hit.page_id,
                page.revision_id,
                page.titles[-1],
                page.url,
                section.id,
                section.title,
                section.text[:_TEXT],
                "",
                0.0,
            ),
        )
        for section in page.sections
        if section.text.strip() or section.title
    ]


def excerpt(text: str, asked: Sequence[str]) -> str:
    """Return an excerpt of a passage that contains as many words of the question as possible. The excerpt starts at the
    beginning of a sentence."""
    every = sentences(text)
    if not every:
        return ""
    wanted = set(asked)
    scores = [len(wanted & set(stems(sentence))) for sentence in every[:200]]
    best, start = 0, 0
    for at, first in enumerate(scores):
        length, worth = 0, 0
        for sentence, score in zip(every[at:], scores[at:], strict=False):
            length += len(sentence) + 1
            if not first or (length > _EXCERPT and worth):
                break
            worth += score
        if worth > best:
            best, start = worth, at
    return shorten(" ".join(every[start:]), _EXCERPT)
