"""Find visitor questions that no page answers.

For each question without results, each scan repeats the search, so the question's finding closes as soon as a page
answers it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from octavo.assistants.ask.material import MemberMaterial
from octavo.assistants.ask.retrieving import ENOUGH, retrieve
from octavo.assistants.questions.store import UnansweredQuestion, list_unanswered
from octavo.content.revisions.restrictions import hidden_on_sites
from octavo.core.checks.faults import QUOTE
from octavo.core.sentences import shorten
from octavo.kit.clock import iso, now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.scheduling import deadlines

from .gathering import key_of
from .kinds import KINDS, Severity
from .types import Evidence, Found

_RECENT_MS = 90 * 24 * 3600 * 1000
"""Milliseconds after which a question is no longer a finding if no one has asked it again."""
_MOST = 200
"""Maximum number of questions that a scan searches for. The most frequent questions are chosen."""
_OFTEN, _VERY_OFTEN = 3, 10
"""Numbers of times that a question must be asked for its finding to have medium or high severity."""


def find_unanswered(
    context: Context, tx: Transaction, site_id: str, organization_id: str, space_ids: Sequence[str]
) -> Iterator[Found]:
    """Yield a finding for each unanswered question that the site's pages still don't answer."""
    material = MemberMaterial(context, list(space_ids), hidden_on_sites(tx, organization_id))
    for question in list_unanswered(tx, site_id, now() - _RECENT_MS, _MOST):
        deadlines.check()
        if not any(passage.covers >= ENOUGH for passage in retrieve(tx, material, question.text)):
            yield _found(question)


def _found(question: UnansweredQuestion) -> Found:
    kind = KINDS["unanswered-question"]
    times = "once" if question.unanswered == 1 else f"{question.unanswered} times"
    quote = shorten(question.text, QUOTE)
    message = f"Asked {times} without an answer, last on {iso(question.asked_at)[:10]}."
    severity: Severity = "low"
    if question.unanswered >= _OFTEN:
        severity = "high" if question.unanswered >= _VERY_OFTEN else "medium"
    return Found(
        key_of("unanswered-question", question.id),
        "unanswered-question",
        None,
        shorten(f"{kind.title}: {quote}", 256),
        severity,
        (Evidence("", quote, message),),
        (),
        question=question.id,
    )
