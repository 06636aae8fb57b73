"""Record the questions of a site's visitors, with the answers.

Nothing about the person who asked is stored. Personal data in the question is masked, as in conversations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from functools import partial

from octavo.core.json_types import JsonObject
from octavo.core.languages import find_language
from octavo.core.masking import mask
from octavo.core.sentences import shorten
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.ids import new_id
from octavo.kit.work import jobs
from octavo.settings import Settings
from octavo.sites.insights.collecting import on_events
from octavo.sites.insights.store import EventRow

from . import store
from .matching import (
    SAME,
    SAME_WITH_SOURCE,
    classify,
    judge_relevance,
    similarity,
    wording_of,
    words_of,
)
from .store import SiteAnswerRow
from .types import AnswerPage, Asked, Resolution

MAX_ANSWERS = 100_000
"""Maximum number of answers to keep per site. The latest answers are kept."""
_MAX_TEXT = 256
"""Maximum number of characters of a question to show in lists."""
_MAX_RAW = 2048
_SHARING = 200
"""Maximum number of earlier questions that share a word with a new question to compare with it."""
_CANDIDATES = 20
_CHUNK = 1000
_UNKNOWN = "und"
"""Code of an undetermined language."""


def record_answer(
    tx: Transaction,
    settings: Settings,
    asked: Asked,
    question: str,
    answered: Resolution,
    blocks: list[JsonObject],
    sources: Sequence[AnswerPage],
) -> None:
    """Store an answer with its question. If a stored question has the same meaning, the answer is added to that
    question. ``blocks``: the blocks of the answer's document. If the site was deleted in the meantime, nothing is
    stored."""
    # The lock ensures that simultaneous answers find each other's question.
    alive = tx.value(f"SELECT id FROM sites WHERE id = :site{tx.for_update}", site=asked.site_id)
    if alive is None:
        return
    raw = (mask(question) if settings.mask_conversations else question)[:_MAX_RAW]
    text = shorten(raw, _MAX_TEXT)
    sources = _by_page(sources)
    question_id = _find_question(tx, asked.site_id, text, sources)
    answer_id = new_id()
    earlier = store.find_response(tx, asked.site_id, asked.previous) if asked.previous else None
    store.insert_answer(
        tx,
        SiteAnswerRow(
            id=answer_id,
            site_id=asked.site_id,
            question_id=question_id,
            question_type="unknown",
            text=text,
            raw=raw,
            thread_id=earlier[1] if earlier else answer_id,
            previous_id=earlier[0] if earlier else None,
            response_id=asked.response_id,
            language=find_language(question) or asked.language or _UNKNOWN,
            answered=answered,
            relevance=judge_relevance(text, answered),
            rating=None,
            channel_type=asked.channel_type,
            channel_id=asked.channel_id,
            created_at=now(),
            updated_at=now(),
        ),
        blocks,
        sources,
    )


def _by_page(sources: Sequence[AnswerPage]) -> list[AnswerPage]:
    """Return the best source on each page, best first."""
    found: dict[tuple[str, str], AnswerPage] = {}
    for source in sorted(sources, key=lambda one: -one.weight):
        found.setdefault((source.space_id, source.page_id), source)
    return list(found.values())


def _find_question(tx: Transaction, site_id: str, text: str, sources: Sequence[AnswerPage]) -> str:
    """Return the ID of the stored question with the same meaning. If there is none, store the question."""
    wording = wording_of(text)
    found = store.find_by_wording(tx, site_id, wording)
    if found is not None:
        return found
    found = _find_similar(tx, site_id, text, sources[0].page_id if sources else None)
    if found is None:
        found = new_id()
        store.insert_question(tx, found, site_id, text, classify(text), words_of(text))
    store.put_wording(tx, site_id, wording, found)
    return found


def _find_similar(tx: Transaction, site_id: str, text: str, page_id: str | None) -> str | None:
    words = words_of(text)
    shared: Counter[str] = Counter()
    for word in sorted(words):
        # Similar questions share nearly all their words, so they also share a rare word, which narrows the
        # search.
        shared.update(store.list_candidates(tx, site_id, word, _SHARING))
    best = [question_id for question_id, _ in shared.most_common(_CANDIDATES)]
    if not best:
        return None
    of_question = store.read_words(tx, best)
    likeness = {
        question_id: similarity(words, of_question.get(question_id, set()))
        for question_id in best
        # Sharing a single word proves nothing.
        if len(words & of_question.get(question_id, set())) > 1
    }
    pages = store.read_best_pages(tx, best) if page_id is not None else {}
    same = {
        question_id: value
        for question_id, value in likeness.items()
        if value >= (SAME_WITH_SOURCE if page_id and pages.get(question_id) == page_id else SAME)
    }
    return max(same, key=lambda question_id: (same[question_id], question_id), default=None)


def _rate(tx: Transaction, rows: Sequence[EventRow]) -> None:
    for row in rows:
        if row.type == "ask_rate_response" and row.response_id is not None and row.rating is not None:
            store.rate_answer(tx, row.site_id, row.response_id, row.rating)


on_events(_rate)


@jobs.job("forgetSiteQuestions", bound=None)
def forget_questions(context: Context) -> None:
    """Delete, in batches, answers that are older than the retention period for events or that exceed their site's
    limit."""
    days = timedelta(days=context.settings.insight_days)
    before = now() - int(days.total_seconds() * 1000)
    jobs.run_parts(context.db, lambda tx: store.delete_old(tx, before, _CHUNK))
    with context.db.read() as tx:
        sites = store.list_sites_with_answers(tx, MAX_ANSWERS)
    for site_id in sites:
        excess = partial(store.delete_excess, site_id=site_id, most=MAX_ANSWERS, limit=_CHUNK)
        jobs.run_parts(context.db, excess)


jobs.schedule("forgetSiteQuestions", 3600, "forgetSiteQuestions")
