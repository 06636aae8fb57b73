"""Suggested questions that the documentation answers."""

from __future__ import annotations

from octavo.content.search.store import OrganizationScope
from octavo.kit.db.database import Transaction

from .answering import ENGLISH, AnswerWords, phrase_as_question
from .material import AnswerMaterial

MAX_QUESTIONS = 8
_SPACES = 4
_PAGES = 6


def recommend(tx: Transaction, material: AnswerMaterial, words: AnswerWords = ENGLISH) -> list[str]:
    """Return questions that pages in the spaces answer. Headings that are questions and top-level pages come
    first."""
    titles: list[str] = []
    spaces = material.spaces.some if isinstance(material.spaces, OrganizationScope) else material.spaces
    for space_id in spaces[:_SPACES]:
        shown = [page for page in material.list_top(tx, space_id) if page.kind == "document"]
        titles += [page.title for page in shown[:_PAGES] if page.title]
    asked = list(dict.fromkeys(phrase_as_question(title, words) for title in titles))
    # Headings that are questions or instructions make better questions than other headings.
    plain = words.about.partition("{title}")[0]
    asked.sort(key=lambda question: question.startswith(plain))
    return asked[:MAX_QUESTIONS]
