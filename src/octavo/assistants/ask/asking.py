"""A question from start to end: retrieve passages, answer, and record questions that could not be
answered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from octavo.assistants.conversations.ingesting import record_question
from octavo.assistants.models.calling import find_model
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction

from .answering import ENGLISH, AnswerWords, AskedQuestion, ComposedAnswer, answer
from .material import AnswerMaterial
from .recommending import recommend
from .retrieving import retrieve


class QuestionAsker(Struct, frozen=True):
    """Person who asks a question, with the material and settings for its answer. ``user_id``: the user, or empty for a
    visitor of a site. ``material``: the content for answers. ``words``: the texts of an answer other than passages.
    ``instructions``: the instructions of the site to the model. ``suggestions``: the questions that the site suggests,
    or none to suggest questions from its pages. ``recorded``: whether unanswered questions are stored. ``answered``:
    the function called when an answer is complete."""

    organization_id: str
    user_id: str
    material: Callable[[Transaction], AnswerMaterial]
    words: AnswerWords = ENGLISH
    instructions: str = ""
    suggestions: Sequence[str] = ()
    recorded: bool = True
    answered: Callable[[Transaction], None] | None = None


def suggest(tx: Transaction, asker: QuestionAsker) -> list[str]:
    """Return suggested questions: those of the site, or questions that its pages answer."""
    return list(asker.suggestions) or recommend(tx, asker.material(tx), asker.words)


def ask(
    context: Context, asker: QuestionAsker, question: str, before: Sequence[str]
) -> Iterator[ComposedAnswer]:
    """Yield the answer as it grows. No transaction is open while a model writes."""
    with context.db.read() as tx:
        passages = retrieve(tx, asker.material(tx), question, before)
        model = find_model(context, tx, asker.organization_id, asker.user_id or None, asker.instructions)
    found = None
    for found in answer(AskedQuestion(question, before), passages, model, asker.words):
        yield found
    unanswered = found is not None and not found.is_good and asker.recorded
    if unanswered or asker.answered is not None:
        with context.db.write() as tx:
            if unanswered:
                record_question(tx, context.settings, asker.organization_id, asker.user_id, question)
            if asker.answered is not None:
                asker.answered(tx)
