"""Types shared by the conversation modules."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.core.url_parts import read_address

TaskStatus = Literal["backlog", "started", "completed", "canceled"]
DEFAULT_SOURCE = "integration:octavo:api"
"""Source of conversations that are submitted without a source."""


class Part(Struct):
    """Message in a conversation."""

    type: Literal["message"]
    role: Literal["user", "assistant", "team-member"]
    body: Annotated[str, Meta(max_length=100_000)]


class Metadata(Struct, rename="camel"):
    """Location of a conversation, and additional data from its source."""

    url: Annotated[str, Meta(max_length=2048)] | UnsetType = UNSET
    attributes: (
        Annotated[
            dict[Annotated[str, Meta(max_length=100)], Annotated[str, Meta(max_length=2000)]],
            Meta(max_length=100),
        ]
        | UnsetType
    ) = UNSET
    created_at: datetime | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.url is not UNSET:
            parts = read_address(self.url)
            if parts is None or not parts.is_web:
                raise ValueError("url: must be an http or https URL")
        if self.created_at is not UNSET and not 1970 < self.created_at.year < 9999:
            raise ValueError("createdAt: must have a year from 1971 to 9998")


class ConversationInput(Struct):
    """Conversation to submit. ``id``: the conversation's ID in its source. A conversation with the same ID is
    replaced."""

    id: Annotated[str, Meta(min_length=1, max_length=255)]
    parts: Annotated[list[Part], Meta(max_length=1000)]
    subject: Annotated[str, Meta(max_length=512)] | UnsetType = UNSET
    metadata: Metadata | UnsetType = UNSET
