"""Present the answers of a site's assistant as server-sent events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET

from octavo.core.document.json import to_json
from octavo.kit.context import Context
from octavo.organization.access.authorization import SiteAccess, VisitedSite

from .answering import ComposedAnswer
from .site_answers import SiteAnswer, keep_answer
from .wire import (
    ResponseDocument,
    ResponseEvent,
    ResponseFinish,
    ResponseMetadata,
    ResponseStart,
    ResponseSuggestion,
)


def stream_answer(
    context: Context,
    site: SiteAccess | VisitedSite,
    questions: list[str],
    answers: Iterator[ComposedAnswer],
    response_id: str,
    previous: str | None,
) -> Iterator[ResponseEvent]:
    """Yield the events of an answer while it is being written, and store the complete answer. ``previous``: the ID of
    the answer that this answer continues."""
    yield ResponseStart(response_id)
    blocks: list[dict[str, Any]] = []
    followups: list[str] = []
    pages: list[tuple[str, str]] = []
    operation = "insert"
    for found in answers:
        blocks, followups = to_json(found.document)["nodes"], list(found.followups)
        pages = list(dict.fromkeys((one.space_id, one.page_id) for one in found.given))
        yield ResponseDocument(response_id, 0, operation, blocks)  # type: ignore[arg-type]
        operation = "update"
    keep_answer(context, site, response_id, SiteAnswer(questions, blocks, followups, pages, previous))
    yield from _end(response_id, followups, previous)


def present_answer(response_id: str, answer: SiteAnswer) -> Iterator[ResponseEvent]:
    """Yield the events of a complete answer."""
    yield ResponseStart(response_id)
    yield ResponseDocument(response_id, 0, "insert", answer.blocks)
    yield from _end(response_id, answer.followups, answer.previous)


def _end(response_id: str, followups: list[str], previous: str | None) -> Iterator[ResponseEvent]:
    if followups:
        yield ResponseSuggestion(response_id, followups)
    yield ResponseFinish(response_id, response_id, ResponseMetadata(response_id, previous or UNSET))
