"""Answer questions: retrieve passages, compose the answer, and record unanswered questions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from octavo.assistants.conversations.ingesting import record_question
from octavo.assistants.models.calling import find_model
from octavo.assistants.questions.recording import record_answer
from octavo.assistants.questions.types import AnswerPage, Asked, Resolution
from octavo.content.revisions.restrictions import HiddenPages, restricted_pages
from octavo.core.document.json import to_json
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction

from .answering import ENGLISH, AnswerWords, AskedQuestion, ComposedAnswer, answer
from .material import AnswerMaterial
from .recommending import recommend
from .retrieving import retrieve


class QuestionAsker(Struct, frozen=True):
    """Person asking a question, with the material and settings for the answer. ``user_id``: the user, or empty for
    a site visitor. ``material``: the content to answer from. ``words``: the text that Octavo adds to an answer.
    ``instructions``: the site's instructions to the model. ``suggestions``: the questions that the site suggests;
    if there are none, suggestions are derived from its pages. ``recorded``: whether unanswered questions are stored
    as conversations. ``asked``: the place on a site where the question was asked, if the site records the answer.
    ``answered``: a function to call when an answer is complete."""

    organization_id: str
    user_id: str
    material: Callable[[Transaction], AnswerMaterial]
    words: AnswerWords = ENGLISH
    instructions: str = ""
    suggestions: Sequence[str] = ()
    recorded: bool = True
    asked: Asked | None = None
    answered: Callable[[Transaction], None] | None = None


def suggest(tx: Transaction, asker: QuestionAsker) -> list[str]:
    """Return suggested questions: those that the site configures or, if there are none, questions that the site's pages
    answer."""
    return list(asker.suggestions) or recommend(tx, asker.material(tx), asker.words)


def ask(
    context: Context, asker: QuestionAsker, question: str, before: Sequence[str], previous: str | None = None
) -> Iterator[ComposedAnswer]:
    """Yield the answer as it grows. No transaction is open while a model is writing. ``previous``: the ID of the
    response that the question continues."""
    with context.db.read() as tx:
        passages = retrieve(tx, asker.material(tx), question, before)
        model = find_model(context, tx, asker.organization_id, asker.user_id or None, asker.instructions)
    found = None
    for found in answer(AskedQuestion(question, before), passages, model, asker.words):
        yield found
    if found is None:
        return
    unanswered = not found.is_good and asker.recorded
    if unanswered or asker.asked is not None or asker.answered is not None:
        blocks = to_json(found.document)["nodes"] if asker.asked is not None else []
        with context.db.write() as tx:
            if unanswered:
                record_question(tx, context.settings, asker.organization_id, asker.user_id, question)
            if asker.asked is not None:
                asked = replace(asker.asked, previous=previous)
                sources = _sources_of(found, restricted_pages(tx, asker.organization_id))
                record_answer(tx, context.settings, asked, question, _resolution_of(found), blocks, sources)
            if asker.answered is not None:
                asker.answered(tx)


def _resolution_of(found: ComposedAnswer) -> Resolution:
    """Return the extent to which an answer resolves its question. An answer without citations is at most partial."""
    if found.is_good and found.cited:
        return "yes"
    return "partially" if found.is_good or found.cited else "no"


def _sources_of(found: ComposedAnswer, restricted: HiddenPages) -> list[AnswerPage]:
    """Return the pages on which an answer is based: those that it cites, and all restricted pages that the model
    received, because the answer can contain their text."""
    given = found.given if found.written else ()
    uncited = [one for one in given if one.page_id in restricted.of(one.space_id)]
    return [
        AnswerPage(one.space_id, one.page_id, one.revision_id, one.full_title, round(one.covers * 100))
        for one in (*found.cited, *uncited)
    ]
