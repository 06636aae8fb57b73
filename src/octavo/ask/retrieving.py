"""The passages that fit a question best, out of the spaces that whoever asks may see."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ..core.document import Section
from ..core.wording import sentences, shorten, stems
from ..kit.db import Transaction
from ..search import PageHit, search_pages
from .material import Material

MAX_PASSAGES = 6
_PAGES = 8
_TERMS = 16
"""Words of a question that are looked for: more would be the whole of a story."""
_EXCERPT = 600
_TEXT = 4000
"""Characters of a passage as it is quoted, and as a model reads it."""
ENOUGH = 0.6
"""The part of a question's words that a passage must say to answer it."""
_EACH = 2
"""Passages of one page."""


class Passage(Struct, frozen=True):
    """A section of a page. ``url``: of the page for whoever asks; ``anchor`` None before its first heading. ``covers``:
    the part of the question's words that it says with its titles, 0 to 1."""

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


def retrieve(
    tx: Transaction, material: Material, question: str, context: Sequence[str] = ()
) -> list[Passage]:
    """Best first. ``context``: what was asked before, which counts where the question alone says too little."""
    asked = list(dict.fromkeys(stems(question)))[:_TERMS]
    if len(asked) < 2:
        asked = list(dict.fromkeys([*asked, *(word for said in context[-1:] for word in stems(said))]))[
            :_TERMS
        ]
    if not asked:
        return []
    found: list[tuple[float, Passage]] = []
    for rank, hit in enumerate(_search(tx, material, asked)):
        # What search puts first is first among those that say as much.
        found += [(passage.covers - rank * 0.04, passage) for passage in _of_page(tx, material, hit, asked)]
    found.sort(key=lambda item: -item[0])
    return [passage for _, passage in found[:MAX_PASSAGES]]


def _search(tx: Transaction, material: Material, asked: Sequence[str]) -> list[PageHit]:
    """The space behind the words says that the last one is complete."""
    found = search_pages(tx, material.space_ids, " ".join(asked) + " ", _PAGES, sees=material.sees)
    return list(found.hits[:_PAGES])


def _of_page(tx: Transaction, material: Material, hit: PageHit, asked: Sequence[str]) -> list[Passage]:
    page = material.read(tx, hit.space_id, hit.page_id)
    if page is None:
        return []
    titles = "\n".join(page.titles)
    matched = {section.anchor for section in hit.sections}
    found = [
        Passage(
            hit.space_id,
            hit.page_id,
            page.revision_id,
            page.titles[-1],
            page.url,
            section.id,
            section.title,
            section.text[:_TEXT],
            excerpt(section.text, asked),
            _coverage(asked, titles, section),
        )
        for section in page.sections
        if section.id in matched and (section.text.strip() or section.title)
    ]
    return sorted(found, key=lambda passage: -passage.covers)[:_EACH]


def _coverage(asked: Sequence[str], titles: str, section: Section) -> float:
    words = set(stems(f"{titles}\n{section.title}\n{section.text[:_TEXT]}"))
    return sum(word in words for word in asked) / len(asked)


def excerpt(text: str, asked: Sequence[str]) -> str:
    """The part of a text, from the beginning of a sentence, that says most of what was asked for."""
    said = sentences(text)
    if not said:
        return ""
    wanted = set(asked)
    scores = [len(wanted & set(stems(sentence))) for sentence in said[:200]]
    best, start = 0, 0
    for at, first in enumerate(scores):
        length, worth = 0, 0
        for sentence, score in zip(said[at:], scores[at:], strict=False):
            length += len(sentence) + 1
            if not first or (length > _EXCERPT and worth):
                break
            worth += score
        if worth > best:
            best, start = worth, at
    return shorten(" ".join(said[start:]), _EXCERPT)
