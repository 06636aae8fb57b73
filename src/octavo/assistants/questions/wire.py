"""Wire format of questions and answers."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal, cast, get_args

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType, field

from octavo.core.document.description import DocumentNodes
from octavo.core.json_types import JsonObject
from octavo.kit.clock import iso
from octavo.kit.db.pagination import DEFAULT_LIMIT, MAX_LIMIT
from octavo.kit.http.operation import Recipient

from .filters import AnswerFilter, helpfulness_of
from .stats import QuestionStats
from .store import Direction, QuestionRow, SiteAnswerRow, SortBy
from .types import (
    AnswerPage,
    ChannelType,
    Helpfulness,
    QuestionType,
    Relevance,
    Resolution,
)

Id = Annotated[str, Meta(max_length=100)]


class Location(Struct):
    location: str


class StatsFeedback(Struct):
    positive: int
    negative: int
    unrated: int


class StatsAnswered(Struct):
    yes: int
    partially: int
    no: int


class StatsRelevance(Struct, rename={"off_topic": "off-topic"}):
    relevant: int
    spam: int
    off_topic: int
    unclear: int


class StatsTypes(Struct, rename={"how_to": "how-to"}):
    exploring: int
    how_to: int
    troubleshooting: int
    reference: int
    unknown: int


class SiteQuestionStats(Struct, rename="camel", kw_only=True):
    """Statistics on questions and answers. ``weeklyPulse``: the number of answers in each of the last 13 weeks,
    oldest first."""

    total: int
    answers: int
    feedback: StatsFeedback
    answered: StatsAnswered
    relevance: StatsRelevance
    types: StatsTypes
    channel_types: dict[str, int]
    channels: dict[str, int]
    weekly_pulse: list[int]


class SiteQuestion(Struct, rename="camel", kw_only=True):
    """Question that visitors asked, with statistics on its answers. ``question``: its first wording."""

    id: str
    question: str
    type: QuestionType
    created_at: str
    asked_at: str
    stats: SiteQuestionStats
    urls: Location
    object: Literal["site-question"] = "site-question"


class QuestionReference(Struct):
    id: str
    type: QuestionType


class AnswerInput(Struct):
    """Question that was answered. ``text``: the question on one line. ``raw``: the question as it was asked.
    Personal data is masked in both fields."""

    text: str
    raw: str


class AnswerThread(Struct):
    """Conversation that an answer belongs to. ``id``: the ID of the first answer in the conversation. ``previous``:
    the previous answer."""

    id: str
    previous: str


class AnswerFeedback(Struct):
    rating: Literal[-1, 1]


class AnswerChannel(Struct):
    """Channel in which a question was asked. ``id``: the ID of the channel, if it is a site channel; null if the
    channel was deleted."""

    type: ChannelType
    id: str | None | UnsetType = UNSET


class SiteQuestionAnswer(Struct, rename="camel", kw_only=True):
    """Answer to a question. ``language``: the language of the question; `und` if it is uncertain. ``helpfulness``:
    the reader's rating if there is one; otherwise, it depends on whether the answer resolved the question."""

    id: str
    question: QuestionReference
    topics: list[str]
    input: AnswerInput
    response_id: str
    language: str
    answered: Resolution
    helpfulness: Helpfulness
    relevance: Relevance
    channel: AnswerChannel
    created_at: str
    updated_at: str
    urls: Location
    object: Literal["site-question-answer"] = "site-question-answer"
    thread: AnswerThread | UnsetType = UNSET
    feedback: AnswerFeedback | UnsetType = UNSET


class AnswerMessageStep(Struct):
    content: DocumentNodes


class AnswerMessageResponse(Struct):
    id: str
    previous: str | UnsetType = UNSET


class AnswerMessage(Struct, rename="camel", kw_only=True):
    """Message from the assistant that contains the answer."""

    id: str
    role: Literal["assistant"]
    steps: list[AnswerMessageStep]
    response: AnswerMessageResponse
    created_at: str


class SiteQuestionAnswerWithResponse(SiteQuestionAnswer, rename="camel", kw_only=True):
    """Answer to a question, with its text."""

    response: AnswerMessage


class SiteQuestionAnswerSource(Struct, kw_only=True):
    """Page on which answers are based. ``weight``: the fraction of the question's words that the page contains,
    from 0 to 1."""

    id: str
    weight: float
    title: str
    urls: Location
    space: str
    revision: str
    page: str
    type: Literal["page"] = "page"
    object: Literal["site-question-answer-source"] = "site-question-answer-source"


# --- queries ----------------------------------------------------------------------------------------------


class QuestionQuery(Struct, rename="camel", kw_only=True):
    """Query parameters for a question. The parameters select the answers that the question's statistics count."""

    start: datetime | None = field(default=None, name="from")
    end: datetime | None = field(default=None, name="to")
    relevance: list[Relevance] = []
    channel_type: list[ChannelType] = []
    answered: list[Resolution] = []

    @property
    def filter(self) -> AnswerFilter:
        return AnswerFilter(
            start=to_milliseconds(self.start),
            end=to_milliseconds(self.end),
            relevance=self.relevance,
            channel_types=self.channel_type,
            answered=self.answered,
        )


class QuestionSourcesQuery(QuestionQuery, rename="camel", kw_only=True):
    page: str | None = None
    limit: Annotated[int, Meta(ge=0, le=MAX_LIMIT)] = DEFAULT_LIMIT


class QuestionStatsQuery(QuestionQuery, rename="camel", kw_only=True):
    topic: list[Id] = []

    @property
    def filter(self) -> AnswerFilter:
        return msgspec.structs.replace(super().filter, topics=self.topic)


class QuestionsQuery(QuestionStatsQuery, rename="camel", kw_only=True):
    type: QuestionType | None = None
    sort: SortBy | None = None
    order: Direction = "desc"
    page: str | None = None
    limit: Annotated[int, Meta(ge=0, le=MAX_LIMIT)] = DEFAULT_LIMIT

    @property
    def filter(self) -> AnswerFilter:
        return msgspec.structs.replace(super().filter, type=self.type)


class AnswersQuery(QuestionQuery, rename="camel", kw_only=True):
    question: Id | None = None
    question_type: QuestionType | None = field(default=None, name="question.type")
    language: Id | None = None
    helpfulness: Helpfulness | None = None
    topic: Id | None = None
    thread: Id | None = None
    page: str | None = None
    limit: Annotated[int, Meta(ge=0, le=MAX_LIMIT)] = DEFAULT_LIMIT

    @property
    def filter(self) -> AnswerFilter:
        return msgspec.structs.replace(
            super().filter,
            question=self.question,
            type=self.question_type,
            language=self.language,
            helpfulness=self.helpfulness,
            topics=[self.topic] if self.topic is not None else [],
            thread=self.thread,
        )


def to_milliseconds(moment: datetime | None) -> int | None:
    """Return a time in milliseconds. A time without a time zone is interpreted as UTC."""
    return (
        None
        if moment is None
        else int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
    )


_ANSWERED: tuple[Resolution, ...] = ("yes", "partially", "no")


# --- answers ----------------------------------------------------------------------------------------------


def present_stats(found: QuestionStats) -> SiteQuestionStats:
    rated = found.positive + found.negative
    return SiteQuestionStats(
        total=found.total,
        answers=found.answers,
        feedback=StatsFeedback(found.positive, found.negative, found.answers - rated),
        answered=StatsAnswered(*(found.answered.get(name, 0) for name in _ANSWERED)),
        relevance=StatsRelevance(*(found.relevance.get(name, 0) for name in get_args(Relevance))),
        types=StatsTypes(*(found.questions.get(name, 0) for name in get_args(QuestionType))),
        channel_types={type: found.channel_types.get(type, 0) for type in get_args(ChannelType)},
        channels=found.channels,
        weekly_pulse=found.weeks,
    )


def present_question(
    to: Recipient, organization_id: str, row: QuestionRow, stats: QuestionStats
) -> SiteQuestion:
    return SiteQuestion(
        id=row.id,
        question=row.text,
        type=row.type,
        created_at=iso(row.created_at),
        asked_at=iso(row.asked_at),
        stats=present_stats(stats),
        urls=Location(to.url(f"/orgs/{organization_id}/sites/{row.site_id}/questions/{row.id}")),
    )


def _fields(to: Recipient, organization_id: str, row: SiteAnswerRow) -> JsonObject:
    is_service = row.channel_type.startswith("builtin:")
    return {
        "id": row.id,
        "question": QuestionReference(row.question_id, row.question_type),
        "topics": [row.topic_id] if row.topic_id is not None else [],
        "input": AnswerInput(row.text, row.raw),
        "response_id": row.response_id,
        "language": row.language,
        "answered": row.answered,
        "helpfulness": helpfulness_of(row.rating, row.answered),
        "relevance": row.relevance,
        "channel": AnswerChannel(row.channel_type, row.channel_id if is_service else UNSET),
        "created_at": iso(row.created_at),
        "updated_at": iso(row.updated_at),
        "urls": Location(to.url(f"/orgs/{organization_id}/sites/{row.site_id}/answers/{row.id}")),
        "thread": AnswerThread(row.thread_id, row.previous_id) if row.previous_id is not None else UNSET,
        "feedback": AnswerFeedback(1 if row.rating > 0 else -1) if row.rating is not None else UNSET,
    }


def present_answer(to: Recipient, organization_id: str, row: SiteAnswerRow) -> SiteQuestionAnswer:
    return SiteQuestionAnswer(**_fields(to, organization_id, row))


def present_with_response(
    to: Recipient, organization_id: str, row: SiteAnswerRow, blocks: list[JsonObject]
) -> SiteQuestionAnswerWithResponse:
    document = Raw(msgspec.json.encode({"object": "document", "data": {}, "nodes": blocks}))
    return SiteQuestionAnswerWithResponse(
        **_fields(to, organization_id, row),
        response=AnswerMessage(
            id=row.response_id,
            role="assistant",
            steps=[AnswerMessageStep(cast(Any, document))],
            response=AnswerMessageResponse(row.response_id, row.previous_id or UNSET),
            created_at=iso(row.created_at),
        ),
    )


def present_source(to: Recipient, source: AnswerPage) -> SiteQuestionAnswerSource:
    return SiteQuestionAnswerSource(
        id=source.page_id,
        weight=source.weight / 100,
        title=source.title,
        urls=Location(to.url(f"/spaces/{source.space_id}/content/page/{source.page_id}")),
        space=source.space_id,
        revision=source.revision_id,
        page=source.page_id,
    )
