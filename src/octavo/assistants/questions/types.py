"""Types shared by the question modules."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

QuestionType = Literal["exploring", "how-to", "troubleshooting", "reference", "unknown"]
Resolution = Literal["no", "partially", "yes"]
Helpfulness = Literal["low", "medium", "high"]
Relevance = Literal["relevant", "spam", "off-topic", "unclear"]
CoreChannel = Literal["site", "embed", "api"]
ChannelType = Literal[
    "site", "embed", "api", "builtin:slack", "builtin:discord", "builtin:github", "builtin:linear"
]


class Asked(Struct, frozen=True):
    """Location and context of a question that was asked on a site. ``response_id``: the ID of the answer, as returned
    to the person who asked. ``previous``: the response that the question continues. ``language``: the language of the
    page on which the question was asked, if known."""

    site_id: str
    channel_type: ChannelType
    response_id: str
    previous: str | None = None
    language: str | None = None
    channel_id: str | None = None


class AnswerPage(Struct, frozen=True):
    """Page on which an answer is based. ``weight``: the percentage of the question's words that the page contains."""

    space_id: str
    page_id: str
    revision_id: str
    title: str
    weight: int
