"""One question from beginning to end: retrieve, answer, and keep what could not be answered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..access import OrgAccess
from ..conversations import record_question
from ..kit.context import Context
from ..models import find_model
from ..spaces import list_visible_space_ids
from .answering import Answer, Asked, answer
from .retrieving import retrieve


def ask(context: Context, org: OrgAccess, question: str, before: Sequence[str]) -> Iterator[Answer]:
    """The answer as it grows. No transaction is open while a model writes."""
    with context.db.read() as tx:
        passages = retrieve(tx, list_visible_space_ids(tx, org), question, before)
        model = find_model(context, tx, org.organization_id, org.user_id)
    found = None
    for found in answer(Asked(question, before, context.settings.url), passages, model):
        yield found
    if found is not None and not found.is_good:
        with context.db.write() as tx:
            record_question(tx, context.settings, org.organization_id, org.user_id, question)
