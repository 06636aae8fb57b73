"""Wire format of topics."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec
from msgspec import Raw, Struct, field

from octavo.assistants.questions.filters import AnswerFilter
from octavo.assistants.questions.wire import Location, SiteQuestionStats, present_stats, to_milliseconds
from octavo.core.document.description import DocumentNodes
from octavo.core.document.json import to_json
from octavo.core.document.nodes import Block, Document, Leaf, Text
from octavo.kit.clock import iso
from octavo.kit.http.operation import Recipient

from .topics import TopicState


class TopicUsage(Struct, rename="camel"):
    """Allowed uses of a topic. ``changeRequests``: whether its findings can become change requests."""

    change_requests: bool


class TopicFindings(Struct):
    open: int
    total: int


class SiteTopic(Struct, rename="camel", kw_only=True):
    """Topic of questions that visitors asked."""

    id: str
    label: str
    created_at: str
    updated_at: str
    icon: str
    summary: DocumentNodes
    usage_settings: TopicUsage
    pages: int
    records: int
    findings: TopicFindings
    questions: SiteQuestionStats
    urls: Location
    object: Literal["context-topic"] = "context-topic"


class SiteTopics(Struct):
    items: list[SiteTopic]


class UpdateSiteTopic(Struct, rename="camel"):
    usage_settings: TopicUsage


class TopicsQuery(Struct):
    """Query parameters for topics. The parameters select the answers that the statistics count."""

    start: datetime | None = field(default=None, name="from")
    end: datetime | None = field(default=None, name="to")

    @property
    def filter(self) -> AnswerFilter:
        return AnswerFilter(start=to_milliseconds(self.start), end=to_milliseconds(self.end))


def present_topic(to: Recipient, organization_id: str, state: TopicState) -> SiteTopic:
    row = state.row
    blocks = [
        Block("list-item", {}, [Block("paragraph", {}, [Text([Leaf(question)])])]) for question in state.asked
    ]
    document = Document([Block("list-unordered", {}, [*blocks])] if blocks else [])
    return SiteTopic(
        id=row.id,
        label=row.label,
        created_at=iso(row.created_at),
        updated_at=iso(row.updated_at),
        icon="comments",
        summary=Raw(msgspec.json.encode(to_json(document))),
        usage_settings=TopicUsage(row.change_requests),
        pages=state.pages,
        records=state.records,
        findings=TopicFindings(state.open, state.findings),
        questions=present_stats(state.stats),
        urls=Location(to.url(f"/orgs/{organization_id}/sites/{row.site_id}/topics/{row.id}")),
    )
