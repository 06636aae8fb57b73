"""Search in previews. Pages that differ from main aren't indexed, so their text is read directly."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from octavo.content.revisions.bodies import get_body, read_source
from octavo.content.revisions.page_versions import find_pages
from octavo.content.revisions.states import State, list_branch_content, list_changed, main_state
from octavo.core.pages import Page
from octavo.core.sentences import stem
from octavo.kit.db.database import Transaction

from .indexing import INDEXED, cut_page, titles_of
from .store import SectionMatch, Term
from .tokens import fold, words

_READ = 200
"""Maximum number of pages to split into sections per search. This is more than a result list ever shows."""
_WEIGHTS = (10.0, 5.0, 1.0)
"""Weights of a term in a title, a heading, and the text."""
_BEGINNING = 4
"""Number of leading characters that all forms of a word are assumed to share."""


class SearchedDraft(Struct, frozen=True):
    """State other than main, with the IDs of the pages that differ from main."""

    state: State
    pages: frozenset[str]


class DraftSection(Struct, frozen=True):
    """Section of a page of the draft, with its text. ``covered``: the share of the query terms that it
    contains."""

    found: SectionMatch
    body: str
    covered: float


def draft_of(tx: Transaction, state: State) -> SearchedDraft | None:
    """Return a state with the IDs of the pages that differ from main, including pages that have changed in main since
    the state was created; None for main itself."""
    main = main_state(tx, state.space_id)
    if state.revision_id == main.revision_id:
        return None
    pages: frozenset[str] = frozenset()
    for layer in state.layers:
        if layer.branch_id == main.layers[0].branch_id:
            pages |= list_changed(tx, main.layers[0], layer.sequence).pages
        else:
            pages |= list_branch_content(tx, layer).pages
    return SearchedDraft(state, pages)


def match_draft(tx: Transaction, draft: SearchedDraft, terms: Sequence[Term]) -> list[DraftSection]:
    """Return the sections of the draft's pages that contain any of the terms. Their IDs are negative, unlike the IDs of
    indexed sections."""
    begun = {word[:_BEGINNING] for term in terms for row in term.every() for word in map(stem, row)}
    matched: list[DraftSection] = []
    read = 0
    for page in find_pages(tx, draft.state, sorted(draft.pages)).values():
        if page.kind not in INDEXED:
            continue
        titles = titles_of(tx, page)
        plain = fold(
            "\n".join((titles, page.description or "", get_body(tx, page.body) if page.body else ""))
        )
        # Splitting costs much more than a substring check; a text without the beginning of any word can't
        # match.
        if read == _READ or not any(word in plain for word in begun):
            continue
        read += 1
        matched += _match_page(tx, draft.state.space_id, page, titles, terms, -len(matched) - 1)
    return matched


def _match_page(
    tx: Transaction, space_id: str, page: Page, titles: str, terms: Sequence[Term], id: int
) -> list[DraftSection]:
    matched: list[DraftSection] = []
    title_words = words(titles)
    for section in cut_page(page, read_source(tx, page.body)):
        parts = (title_words, words(section.heading), words(section.body))
        stems = [[*map(stem, row)] for row in parts]
        worth = [
            max(
                (weight for weight, row in zip(_WEIGHTS, stems, strict=True) if _says(row, term)), default=0.0
            )
            for term in terms
        ]
        if not any(worth):
            continue
        found = SectionMatch(
            id - len(matched),
            space_id,
            page.id,
            section.anchor,
            section.heading,
            titles,
            sum(worth),
            section.conditions,
        )
        matched.append(DraftSection(found, section.body, sum(map(bool, worth)) / len(terms)))
    return matched


def _says(stems: Sequence[str], term: Term) -> bool:
    for row in term.every():
        wanted = [*map(stem, row)]
        for at in range(len(stems) - len(wanted) + 1):
            last = stems[at + len(wanted) - 1]
            ends = last == wanted[-1] or (term.prefix and last.startswith((wanted[-1], row[-1])))
            if ends and stems[at : at + len(wanted) - 1] == wanted[:-1]:
                return True
    return False
