"""Questions and answers on the wire."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from ..core.document import to_json, write
from .answering import Answer

Question = Annotated[str, Meta(min_length=1, max_length=2000, pattern=r"\S")]
Format = Literal["document", "markdown"]


class Ask(Struct, rename="camel"):
    query: Question
    previous_queries: Annotated[list[Annotated[str, Meta(max_length=2000)]], Meta(max_length=10)] = []


class AskQuery(Struct):
    """``details``: whether sources say why they were chosen."""

    format: Format = "document"
    details: bool = False


class StreamQuery(AskQuery, kw_only=True):
    query: Question


class Source(Struct):
    """``sections``: anchors of the page."""

    type: Literal["page"]
    page: str
    revision: str
    space: str
    sections: list[str]
    reason: str | UnsetType = UNSET


class ShownAnswer(Struct, rename={"followup_questions": "followupQuestions"}):
    answer: dict[str, Any]
    sources: list[Source]
    followup_questions: list[str]


class Answered(Struct):
    answer: ShownAnswer


class AnswerEvent(Struct):
    type: Literal["answer"]
    answer: ShownAnswer


class Questions(Struct):
    questions: list[str]


class QuestionEvent(Struct):
    question: str


def present_answer(found: Answer, query: AskQuery) -> ShownAnswer:
    """A source for each page, with the sections of it that were used."""
    sources: dict[tuple[str, str], Source] = {}
    for passage in found.cited:
        source = sources.setdefault(
            (passage.space_id, passage.page_id),
            Source("page", passage.page_id, passage.revision_id, passage.space_id, []),
        )
        if passage.anchor:
            source.sections.append(passage.anchor)
        if query.details:
            said = passage.heading or passage.title
            source.reason = said if source.reason is UNSET else f"{source.reason}, {said}"
    document: dict[str, Any] = (
        {"markdown": write(found.document)}
        if query.format == "markdown"
        else {"document": to_json(found.document)}
    )
    return ShownAnswer(document, list(sources.values()), list(found.followups))
