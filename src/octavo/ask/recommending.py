"""Questions that the documentation answers, for whoever does not know what to ask."""

from __future__ import annotations

from collections.abc import Sequence

from ..content import list_children, main_state
from ..kit.db import Transaction
from .answering import as_question

MAX_QUESTIONS = 8
_SPACES = 4
_PAGES = 6


def recommend(tx: Transaction, space_ids: Sequence[str]) -> list[str]:
    """From the pages of these spaces, the ones at the top first; headings that are questions before others."""
    titles: list[str] = []
    for space_id in space_ids[:_SPACES]:
        state = main_state(tx, space_id)
        top = [page for page in list_children(tx, state, [None]) if not page.hidden]
        below = list_children(tx, state, [page.id for page in top if page.kind == "group"][:_PAGES])
        shown = [page for page in [*top, *below] if page.kind == "document" and not page.hidden]
        titles += [page.title for page in shown[:_PAGES] if page.title]
    asked = list(dict.fromkeys(map(as_question, titles)))
    # What is a question already, or says how something is done, reads better than the rest.
    asked.sort(key=lambda question: question.startswith("What is there to know"))
    return asked[:MAX_QUESTIONS]
