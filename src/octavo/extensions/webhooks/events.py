"""Events that webhooks can receive, and their payloads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from octavo.core.json_types import JsonObject
from octavo.kit.clock import iso
from octavo.kit.work.outbox import Event

EventType = Literal[
    "change_request_content_updated",
    "change_request_created",
    "change_request_merged",
    "change_request_review_requested",
    "change_request_review_submitted",
    "change_request_status_updated",
    "change_request_updated",
    "comment_created",
    "comment_deleted",
    "comment_reply_created",
    "comment_reply_deleted",
    "comment_reply_updated",
    "comment_updated",
    "space_content_updated",
    "space_deleted",
    "space_duplicated",
    "space_purged",
    "space_restored",
    "space_transferred",
]
EVENTS: tuple[str, ...] = get_args(EventType)
TEST = "webhook_test"

_NAMES = {
    "change_request": "changeRequestId",
    "changed": "changed",
    "comment": "commentId",
    "conflicts": "conflicts",
    "reply": "replyId",
    "review": "reviewId",
    "revision": "revisionId",
    "source": "sourceSpaceId",
    "status": "status",
    "user": "userId",
}
"""Names of payload fields in messages. Mentioned people are listed only in notifications."""


def describe_event(event: Event) -> JsonObject:
    """Return the message for an event."""
    data: JsonObject = {"organizationId": event.organization_id}
    if event.space_id is not None:
        data["spaceId"] = event.space_id
    data |= {_NAMES[name]: value for name, value in event.payload.items() if name in _NAMES}
    return build_message(event.type, event.created_at, data)


def build_message(type: str, at: int, data: Mapping[str, object]) -> JsonObject:
    """Return a message in the Standard Webhooks format. ``at``: the time in milliseconds."""
    return {"type": type, "timestamp": iso(at), "data": data}
