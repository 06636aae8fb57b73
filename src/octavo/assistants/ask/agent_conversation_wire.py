"""Wire format of conversations with the assistant."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import asdict, replace

from octavo.kit.clock import iso
from octavo.kit.texts import NOT_BLANK

from .agent_conversations import AgentConversationRow


class ConversationSubject(Struct, rename="camel"):
    """Change request that a conversation is about."""

    space: str
    change_request: str


class ProvisionAgentConversation(Struct, rename="camel"):
    """Conversation to create. ``about``: the change request that the conversation is about (an Octavo extension).
    Anyone who can see the change request can also see that the conversation exists."""

    about: ConversationSubject | UnsetType = UNSET


class UpdateAgentConversation(Struct):
    title: Annotated[str, Meta(min_length=1, max_length=256, pattern=NOT_BLANK)]


class AgentConversation(Struct, rename="camel", kw_only=True):
    """Conversation with the assistant. ``shared``: whether the conversation is also listed for other people who can
    see its change request. ``title``: the title, or the first question until you set a title; if the conversation is
    another person's, omitted until that person sets a title."""

    id: str
    shared: bool
    created_at: str
    updated_at: str
    object: Literal["agent-conversation"] = "agent-conversation"
    title: str | UnsetType = UNSET
    change_request: str | UnsetType = UNSET


class AgentConversationWithQuestions(AgentConversation, rename="camel", kw_only=True):
    """Conversation with the questions that were asked, oldest first. Answers aren't stored."""

    questions: list[str]


def present_conversation_to(row: AgentConversationRow, user_id: str) -> AgentConversation:
    """Present a conversation to someone who can see its change request."""
    if row.user_id == user_id or row.has_written_title():
        return present_conversation(row)
    return present_conversation(replace(row, title=None))


def present_conversation(row: AgentConversationRow) -> AgentConversation:
    """Present a conversation to its owner."""
    return AgentConversation(
        id=row.id,
        shared=row.change_id is not None,
        created_at=iso(row.created_at),
        updated_at=iso(row.updated_at),
        title=row.title or UNSET,
        change_request=row.change_id or UNSET,
    )


def present_with_questions(row: AgentConversationRow) -> AgentConversationWithQuestions:
    return AgentConversationWithQuestions(**asdict(present_conversation(row)), questions=row.questions)
