"""One question from beginning to end: retrieve, answer, and keep what could not be answered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from octavo.assistants.conversations.ingesting import record_question
from octavo.assistants.models.calling import find_model
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction

from .answering import ENGLISH, Answer, AnswerWords, Asked, answer
from .material import Material
from .retrieving import retrieve


class Asker(Struct, frozen=True):
    """Who asks. ``user_id``: empty for a visitor of a site. ``material``: what they may be answered from. ``words``:
    of what an answer says besides passages. ``recorded``: whether a question that nothing answers is kept."""

    organization_id: str
    user_id: str
    material: Callable[[Transaction], Material]
    words: AnswerWords = ENGLISH
    recorded: bool = True


def ask(context: Context, asker: Asker, question: str, before: Sequence[str]) -> Iterator[Answer]:
    """The answer as it grows. No transaction is open while a model writes."""
    with context.db.read() as tx:
        passages = retrieve(tx, asker.material(tx), question, before)
        model = find_model(context, tx, asker.organization_id, asker.user_id or None)
    found = None
    for found in answer(Asked(question, before), passages, model, asker.words):
        yield found
    if found is not None and not found.is_good and asker.recorded:
        with context.db.write() as tx:
            record_question(tx, context.settings, asker.organization_id, asker.user_id, question)
