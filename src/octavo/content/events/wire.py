"""Wire types for events and presence."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.content.live.wire import CaretEvent, LiveReset, SavedEvent, StepsEvent
from octavo.content.notifications.types import Reason
from octavo.kit.clock import iso
from octavo.kit.db.pagination import PageQuery
from octavo.kit.http.schema_names import schema_name
from octavo.kit.texts import pattern
from octavo.kit.work.hub import Closed, Ready, Reset
from octavo.organization.access.accounts import UserRow
from octavo.organization.access.wire import User

from .types import Activity

Status = Literal["draft", "open", "archived", "merged", "approved", "changes-requested"]
"""Status of a change request or of a review."""
MAX_SPACES = 10
LONGEST = 3600


@schema_name("Person")
class PersonSummary(Struct, rename={"display_name": "displayName", "photo_url": "photoURL"}):
    """Summary of a person, with enough data for one line."""

    id: str
    display_name: str
    photo_url: str | UnsetType = UNSET


def present_person(user_id: str, known: UserRow | None) -> PersonSummary:
    """Return a person's summary. If the account was deleted, it contains only the ID."""
    if known is None:
        return PersonSummary(user_id, "Deleted user")
    return PersonSummary(user_id, known.display_name, known.photo_url or UNSET)


class _Event(Struct, rename="camel", tag_field="kind", kw_only=True):
    """Fields common to all events. ``timestamp``: the time of the event. ``change_request_id``: the ID of
    its change request, if any. ``user``: the person who caused it, if any."""

    timestamp: str
    organization_id: str
    space_id: str
    change_request_id: str | UnsetType = UNSET
    user: PersonSummary | UnsetType = UNSET


class RevisionEvent(_Event, tag="revision", kw_only=True):
    """New revision. ``page_ids``: the IDs of the pages that changed since the previous revision; omitted if there are
    more than fifty or if one of them is restricted. ``conflicts``: the number of open conflicts; omitted if the space
    has restricted pages. ``updated``: whether the change request was updated with changes from main. ``live``: whether
    the revision is a save of a live-edited page."""

    action: Literal["edited", "updated"]
    revision_id: str
    page_ids: list[str] | UnsetType = UNSET
    conflicts: int | UnsetType = UNSET
    live: bool | UnsetType = UNSET


class ReviewEvent(_Event, tag="review", kw_only=True):
    """Change to a change request or its reviews. ``reviewer_id``: the ID of the person whose review was requested."""

    action: Literal["created", "statusChanged", "requested", "submitted", "merged"]
    status: Status | UnsetType = UNSET
    review_id: str | UnsetType = UNSET
    reviewer_id: str | UnsetType = UNSET
    revision_id: str | UnsetType = UNSET


class CommentEvent(_Event, tag="comment", kw_only=True):
    """Change to a comment or reply. ``reply_id``: the ID of the reply, if the event is about a reply to that comment.
    ``changed``: the parts of the comment that changed."""

    action: Literal["created", "updated", "deleted"]
    comment_id: str
    reply_id: str | UnsetType = UNSET
    review_id: str | UnsetType = UNSET
    page_id: str | UnsetType = UNSET
    changed: list[Literal["body", "resolved", "reactions"]] | UnsetType = UNSET


class PresenceEvent(_Event, tag="presence", kw_only=True):
    """Person who arrived, moved to another page, or left. ``client_id``: the ID that the client chose."""

    activity: Activity | Literal["left"]
    client_id: str
    page_id: str | None


class NotificationEvent(_Event, tag="notification", kw_only=True):
    """New notification in the inbox of the connected person."""

    notification_id: str
    reason: Reason
    comment_id: str | UnsetType = UNSET
    reply_id: str | UnsetType = UNSET
    review_id: str | UnsetType = UNSET
    page_id: str | UnsetType = UNSET
    status: Status | UnsetType = UNSET


SpaceMessage = RevisionEvent | ReviewEvent | CommentEvent | PresenceEvent | Ready | Reset | Closed
PersonMessage = SpaceMessage | NotificationEvent | StepsEvent | CaretEvent | SavedEvent | LiveReset


class EventsQuery(Struct, rename="camel"):
    """Query parameters for a stream. ``after``: the ID of the last known event; the ``Last-Event-ID`` header takes
    precedence. ``seconds``: the duration of the stream; with 0, it contains only past events."""

    after: str | None = None
    seconds: Annotated[int, Meta(ge=0, le=LONGEST)] = LONGEST


class OwnEventsQuery(EventsQuery):
    """Query parameters for the caller's own stream. ``space``: the spaces whose events are all included. ``live``: a
    page that the caller is editing live, as ``{changeRequestId}/{pageId}``, or ``{spaceId}/{pageId}`` for main."""

    space: Annotated[list[str], Meta(max_length=MAX_SPACES)] = []
    live: (
        Annotated[
            str,
            Meta(
                pattern=pattern(
                    r"^[^/\x00-\x20]{1,100}/[^/\x00-\x20]{1,100}\Z",
                    "be the ID of a change request or space, a slash, and the ID of a page",
                )
            ),
        ]
        | None
    ) = None


class SayPresence(Struct, rename="camel"):
    """Presence report. ``page``: the ID of the page; None if no page is open."""

    page: str | None = None
    activity: Activity = "viewing"


class Presence(Struct, rename="camel", kw_only=True):
    id: str
    user: User
    page: str | None
    activity: Activity
    came_at: str
    change_request_id: str | UnsetType = UNSET
    object: Literal["presence"] = "presence"


PresenceQuery = PageQuery


def present_presence(
    client_id: str, user: User, page: str | None, activity: Activity, came_at: int, change_id: str | None
) -> Presence:
    return Presence(
        id=client_id,
        user=user,
        page=page,
        activity=activity,
        came_at=iso(came_at),
        change_request_id=change_id or UNSET,
    )
