"""Wire format of questions and answers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.core.document.json import DocumentError, from_json, to_json
from octavo.core.document.text import to_text
from octavo.core.document.writing import write
from octavo.errors import BadRequest
from octavo.kit.texts import NOT_BLANK

from .answering import ComposedAnswer

MAX_QUESTION = 512
"""Maximum number of characters in a question on a site."""
Question = Annotated[str, Meta(min_length=1, max_length=2000, pattern=NOT_BLANK)]
Format = Literal["document", "markdown"]


class Ask(Struct, rename="camel"):
    """Question for the assistant. ``conversation`` (an Octavo extension): the ID of the caller's conversation to
    continue."""

    query: Question
    previous_queries: Annotated[list[Annotated[str, Meta(max_length=2000)]], Meta(max_length=10)] = []
    conversation: Annotated[str, Meta(max_length=100)] | UnsetType = UNSET


class AskQuery(Struct):
    """Query parameters of a question. ``details``: whether to include the reason why each source was chosen."""

    format: Format = "document"
    details: bool = False


class AskFormatQuery(Struct):
    format: Format = "document"


class DefaultScope(Struct, rename="camel", tag_field="mode", tag="default"):
    current_site_space: str | None = None
    restrict_to: Literal["currentSiteSpace", "otherSiteSpaces"] | None = None

    def __post_init__(self) -> None:
        if self.restrict_to is not None and self.current_site_space is None:
            raise ValueError("scope: `restrictTo` can only be used with `currentSiteSpace`")


class SpecificScope(Struct, rename="camel", tag_field="mode", tag="specific"):
    site_space_ids: Annotated[list[str], Meta(min_length=1, max_length=1000)]


class WholeScope(Struct, tag_field="mode", tag="all"):
    pass


class AskContext(Struct, rename="camel"):
    site_space_id: str | UnsetType = UNSET


class AskSite(Struct):
    """Question on a site. ``scope``: the site spaces to search. ``context``: the location on the site where the
    question is asked."""

    question: Annotated[str, Meta(min_length=1, max_length=MAX_QUESTION, pattern=NOT_BLANK)]
    scope: DefaultScope | SpecificScope | WholeScope
    context: AskContext | UnsetType = UNSET


class SiteQuestionsQuery(Struct, rename="camel"):
    """Query parameters of suggested questions. ``spaceId``: the space whose site spaces to use."""

    site_space_id: str | None = None
    space_id: str | None = None


class StreamQuery(AskQuery, kw_only=True):
    query: Question


class AnswerSource(Struct, kw_only=True):
    """Source of an answer. ``sections``: the anchors of the cited sections."""

    type: Literal["page"]
    page: str
    revision: str
    space: str
    sections: list[str]
    reason: str | UnsetType = UNSET


class ShownAnswer(Struct, rename={"followup_questions": "followupQuestions"}):
    answer: dict[str, Any]
    sources: list[AnswerSource]
    followup_questions: list[str]


class Answered(Struct):
    answer: ShownAnswer


class Done(Struct):
    """Last event of every stream. Its type is `done`, and it has no other content."""


class AnswerEvent(Struct):
    type: Literal["answer"]
    answer: ShownAnswer


class Questions(Struct):
    questions: list[str]


class QuestionEvent(Struct):
    question: str


def present_answer(found: ComposedAnswer, query: AskQuery) -> ShownAnswer:
    """Return the answer with one source for each page, including the page's cited sections."""
    sources: dict[tuple[str, str], AnswerSource] = {}
    for passage in found.cited:
        source = sources.setdefault(
            (passage.space_id, passage.page_id),
            AnswerSource(
                type="page",
                page=passage.page_id,
                revision=passage.revision_id,
                space=passage.space_id,
                sections=[],
            ),
        )
        if passage.anchor:
            source.sections.append(passage.anchor)
        if query.details:
            heading = passage.heading or passage.title
            source.reason = heading if source.reason is UNSET else f"{source.reason}, {heading}"
    document: dict[str, Any] = (
        {"markdown": write(found.document)}
        if query.format == "markdown"
        else {"document": to_json(found.document)}
    )
    return ShownAnswer(document, list(sources.values()), list(found.followups))


# --- the assistant of a site ----------------------------------------------------------------------------


class MessageLocation(Struct, rename="camel"):
    space_id: str
    page_id: str


class MessageContext(Struct):
    location: MessageLocation | UnsetType = UNSET


class MessageInput(Struct):
    """User message in a conversation. ``content``: text, or a document as JSON."""

    role: Literal["user"]
    content: Annotated[str, Meta(max_length=2048)] | dict[str, Any]
    context: MessageContext | UnsetType = UNSET


class RespondInSite(Struct, rename="camel"):
    """Request to the assistant. The last message is the question. ``model``: the preferred model, which the server
    can ignore. ``tools``: the caller's tools, which the server never calls."""

    input: Annotated[list[MessageInput], Meta(min_length=1, max_length=20)]
    previous_response_id: Annotated[str, Meta(max_length=100)] | UnsetType = UNSET
    model: Literal["fast", "reasoning-low", "reasoning-medium", "reasoning-high"] | UnsetType = UNSET
    tools: Annotated[list[dict[str, Any]], Meta(max_length=50)] | UnsetType = UNSET
    tool_call: dict[str, Any] | UnsetType = UNSET

    @property
    def question(self) -> str:
        """Return the text of the question. Raises BadRequest if it is empty."""
        content = self.input[-1].content
        if isinstance(content, dict):
            try:
                content = to_text(from_json(content))
            except DocumentError as error:
                raise BadRequest(f"input: {error}") from None
        if not content.strip():
            raise BadRequest("input: must contain a question")
        return content[:2048]


class ResponseStart(Struct, rename="camel", tag_field="type", tag="response_start"):
    message_id: str


class ResponseDocument(Struct, rename="camel", tag_field="type", tag="response_document"):
    """Part of a response. ``operation``: whether to append the blocks to the earlier blocks, or replace the earlier
    blocks."""

    message_id: str
    step_index: int
    operation: Literal["insert", "update"]
    blocks: list[dict[str, Any]]


class ResponseSuggestion(Struct, rename="camel", tag_field="type", tag="response_followup_suggestion"):
    message_id: str
    suggestions: list[str]


class ResponseMetadata(Struct):
    """Reference to a response. ``previous``: the response that it continues."""

    id: str
    previous: str | UnsetType = UNSET


class ResponseFinish(Struct, rename="camel", tag_field="type", tag="response_finish"):
    message_id: str
    response_id: str
    response: ResponseMetadata


ResponseEvent = ResponseStart | ResponseDocument | ResponseSuggestion | ResponseFinish
