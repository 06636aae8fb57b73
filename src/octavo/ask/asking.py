"""One question from beginning to end: retrieve, answer, and keep what could not be answered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from ..access import OrgAccess
from ..conversations import record_question
from ..kit.context import Context
from ..kit.db import Transaction
from ..models import find_model
from .answering import Answer, Asked, answer
from .material import Material
from .retrieving import retrieve


class Asker(Struct, frozen=True):
    """Who asks. ``material``: what they may be answered from."""

    org: OrgAccess
    material: Callable[[Transaction], Material]


def ask(context: Context, asker: Asker, question: str, before: Sequence[str]) -> Iterator[Answer]:
    """The answer as it grows. No transaction is open while a model writes."""
    org = asker.org
    with context.db.read() as tx:
        passages = retrieve(tx, asker.material(tx), question, before)
        model = find_model(context, tx, org.organization_id, org.user_id)
    found = None
    for found in answer(Asked(question, before), passages, model):
        yield found
    if found is not None and not found.is_good:
        with context.db.write() as tx:
            record_question(tx, context.settings, org.organization_id, org.user_id, question)
