"""Operations on the questions that visitors asked a site's assistant, and on the answers."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Listing, PageQuery, present_slice
from octavo.kit.http.operation import Area, Call
from octavo.organization.access.authorization import SiteAccess
from octavo.organization.access.roles import Can

from . import stats, store, wire
from .filters import AnswerFilter

operation = Area("ask").operation

_SITE = "/orgs/{organizationId}/sites/{siteId}"
_QUESTIONS = f"{_SITE}/questions"
_QUESTION = _QUESTIONS + "/{siteQuestionId}"
_ANSWERS = f"{_SITE}/answers"
_ANSWER = _ANSWERS + "/{siteQuestionAnswerId}"


@operation("listSiteQuestions", "GET", _QUESTIONS, needs=Can.VIEW)
def list_questions(call: Call, site: SiteAccess, query: wire.QuestionsQuery) -> Listing[wire.SiteQuestion]:
    """List the questions that visitors asked a site's assistant, newest first. Different wordings of a
    question count as the same question. The filters apply to answers: a question is listed if it has a
    matching answer, and its statistics count only matching answers. Sorting uses all answers that the caller can
    see."""
    with call.db.read() as tx:
        found = store.list_questions(tx, site, query.filter, query.limit, query.page, query.sort, query.order)
        counted = stats.measure_questions(tx, site, query.filter, [row.id for row in found.rows])
    return present_slice(
        found, lambda row: wire.present_question(call, site.organization_id, row, counted[row.id])
    )


@operation("getSiteQuestionById", "GET", _QUESTION, needs=Can.VIEW, errors=(404,))
def get_question(
    call: Call, site: SiteAccess, site_question_id: str, query: wire.QuestionQuery
) -> wire.SiteQuestion:
    """Get a question, with statistics for the answers that match the filters."""
    with call.db.read() as tx:
        row = store.get_question(tx, site, site_question_id)
        counted = stats.measure_questions(tx, site, query.filter, [row.id])
    return wire.present_question(call, site.organization_id, row, counted[row.id])


@operation("listSiteQuestionSources", "GET", f"{_QUESTION}/sources", needs=Can.VIEW, errors=(404,))
def list_question_sources(
    call: Call, site: SiteAccess, site_question_id: str, query: wire.QuestionSourcesQuery
) -> Listing[wire.SiteQuestionAnswerSource]:
    """List the pages on which the answers to a question are based."""
    with call.db.read() as tx:
        row = store.get_question(tx, site, site_question_id)
        chosen = replace(query.filter, question=row.id)
        found = store.list_sources(tx, site, chosen, query.limit, query.page)
    return present_slice(found, lambda source: wire.present_source(call, source))


@operation("getSiteQuestionStats", "GET", f"{_SITE}/question-stats", needs=Can.VIEW)
def get_stats(call: Call, site: SiteAccess, query: wire.QuestionStatsQuery) -> wire.SiteQuestionStats:
    """Get statistics on a site's questions: the number of questions, how well they were answered, how the answers
    were rated, and where the questions were asked."""
    with call.db.read() as tx:
        return wire.present_stats(stats.measure_site(tx, site, query.filter))


@operation("listSiteQuestionAnswers", "GET", _ANSWERS, needs=Can.VIEW)
def list_answers(call: Call, site: SiteAccess, query: wire.AnswersQuery) -> Listing[wire.SiteQuestionAnswer]:
    """List the answers of a site's assistant, newest first. If you don't have access to all spaces of the
    site, the list contains only answers from spaces that you can see."""
    with call.db.read() as tx:
        found = store.list_answers(tx, site, query.filter, query.limit, query.page)
    return present_slice(found, lambda row: wire.present_answer(call, site.organization_id, row))


@operation("getSiteQuestionAnswerById", "GET", _ANSWER, needs=Can.VIEW, errors=(404,))
def get_answer(
    call: Call, site: SiteAccess, site_question_answer_id: str
) -> wire.SiteQuestionAnswerWithResponse:
    """Get an answer with its text."""
    with call.db.read() as tx:
        row = store.get_answer(tx, site, site_question_answer_id)
        return _with_responses(call, tx, site, [row])[0]


@operation("getSiteQuestionAnswerThreadById", "GET", f"{_ANSWER}/thread", needs=Can.VIEW, errors=(404,))
def get_thread(
    call: Call, site: SiteAccess, site_question_answer_id: str
) -> list[wire.SiteQuestionAnswerWithResponse]:
    """Get the conversation that an answer belongs to, as a list of its answers, oldest first."""
    with call.db.read() as tx:
        row = store.get_answer(tx, site, site_question_answer_id)
        return _with_responses(call, tx, site, store.list_thread(tx, site, row.thread_id))


def _with_responses(
    call: Call, tx: Transaction, site: SiteAccess, rows: Sequence[store.SiteAnswerRow]
) -> list[wire.SiteQuestionAnswerWithResponse]:
    blocks = store.read_responses(tx, [row.id for row in rows])
    return [
        wire.present_with_response(call, site.organization_id, row, blocks.get(row.id, [])) for row in rows
    ]


@operation("listSiteQuestionAnswerSources", "GET", f"{_ANSWER}/sources", needs=Can.VIEW, errors=(404,))
def list_answer_sources(
    call: Call, site: SiteAccess, site_question_answer_id: str, query: PageQuery
) -> Listing[wire.SiteQuestionAnswerSource]:
    """List the pages on which an answer is based."""
    with call.db.read() as tx:
        row = store.get_answer(tx, site, site_question_answer_id)
        found = store.list_sources(tx, site, AnswerFilter(answer=row.id), query.limit, query.page)
    return present_slice(found, lambda source: wire.present_source(call, source))
