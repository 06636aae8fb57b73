"""Questions that the documentation answers, for whoever does not know what to ask."""

from __future__ import annotations

from ..kit.db import Transaction
from ..search import OrganizationScope
from .answering import ENGLISH, AnswerWords, as_question
from .material import Material

MAX_QUESTIONS = 8
_SPACES = 4
_PAGES = 6


def recommend(tx: Transaction, material: Material, words: AnswerWords = ENGLISH) -> list[str]:
    """From the pages of the spaces, the ones at the top first; headings that are questions before others."""
    titles: list[str] = []
    spaces = material.spaces.some if isinstance(material.spaces, OrganizationScope) else material.spaces
    for space_id in spaces[:_SPACES]:
        shown = [page for page in material.list_top(tx, space_id) if page.kind == "document"]
        titles += [page.title for page in shown[:_PAGES] if page.title]
    asked = list(dict.fromkeys(as_question(title, words) for title in titles))
    # What is a question already, or says how something is done, reads better than the rest.
    plain = words.about.partition("{title}")[0]
    asked.sort(key=lambda question: question.startswith(plain))
    return asked[:MAX_QUESTIONS]
