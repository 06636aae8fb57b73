"""Questions that the documentation answers, for whoever does not know what to ask."""

from __future__ import annotations

from ..kit.db import Transaction
from .answering import as_question
from .material import Material

MAX_QUESTIONS = 8
_SPACES = 4
_PAGES = 6


def recommend(tx: Transaction, material: Material) -> list[str]:
    """From the pages of the spaces, the ones at the top first; headings that are questions before others."""
    titles: list[str] = []
    for space_id in material.space_ids[:_SPACES]:
        shown = [page for page in material.list_top(tx, space_id) if page.kind == "document"]
        titles += [page.title for page in shown[:_PAGES] if page.title]
    asked = list(dict.fromkeys(map(as_question, titles)))
    # What is a question already, or says how something is done, reads better than the rest.
    asked.sort(key=lambda question: question.startswith("What is there to know"))
    return asked[:MAX_QUESTIONS]
