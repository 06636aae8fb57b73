"""Messages that inform connected clients about events, by space, change request, and person."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from msgspec import UNSET

from octavo.content.changes.store import find_state
from octavo.content.notifications.types import NOTIFIED
from octavo.content.revisions.restrictions import unrestricted
from octavo.kit.clock import iso, now
from octavo.kit.db.database import Transaction
from octavo.kit.work.hub import HubMessage, PagePlace, Topic, source
from octavo.kit.work.outbox import Event
from octavo.organization.access.accounts import UserRow, list_users_by_id

from . import store
from .presence import present_at
from .store import PresenceRow
from .types import Activity
from .wire import CommentEvent, NotificationEvent, PresenceEvent, ReviewEvent, RevisionEvent, present_person


def of_space(space_id: str) -> Topic:
    return "space", space_id


def of_main(space_id: str) -> Topic:
    """Return the topic that covers only new revisions of main."""
    return "main", space_id


def of_change(change_id: str) -> Topic:
    return "change", change_id


def of_person(user_id: str) -> Topic:
    return "person", user_id


class _MessageKind(NamedTuple):
    """Format of the message for an outbox event: its kind, wire model, and action, and the fields of the event to
    include, with their wire names."""

    kind: str
    model: Callable[..., RevisionEvent | ReviewEvent | CommentEvent]
    action: str
    fields: dict[str, str]


_REVISION = {"revision": "revision_id", "pages": "page_ids", "conflicts": "conflicts", "live": "live"}
_COMMENT = {
    "comment": "comment_id",
    "reply": "reply_id",
    "review": "review_id",
    "page": "page_id",
    "changed": "changed",
}
MESSAGE_KINDS = {
    "space_content_updated": _MessageKind("revision", RevisionEvent, "edited", _REVISION),
    "change_request_content_updated": _MessageKind("revision", RevisionEvent, "edited", _REVISION),
    "change_request_updated": _MessageKind("revision", RevisionEvent, "updated", _REVISION),
    "change_request_created": _MessageKind("review", ReviewEvent, "created", {}),
    "change_request_status_updated": _MessageKind(
        "review", ReviewEvent, "statusChanged", {"status": "status"}
    ),
    "change_request_review_requested": _MessageKind(
        "review", ReviewEvent, "requested", {"user": "reviewer_id"}
    ),
    "change_request_review_submitted": _MessageKind(
        "review", ReviewEvent, "submitted", {"review": "review_id", "status": "status"}
    ),
    "change_request_merged": _MessageKind("review", ReviewEvent, "merged", {"revision": "revision_id"}),
    **{
        f"{what}_{action}": _MessageKind("comment", CommentEvent, action, _COMMENT)
        for what in ("comment", "comment_reply")
        for action in ("created", "updated", "deleted")
    },
}
_NOTIFIED = {**_COMMENT, "status": "status"}


@source
class EventMessages:
    """Source of messages about events and presence."""

    def __init__(self) -> None:
        self._stamp: tuple[int, int] | None = None
        self._there: dict[tuple[str, str], PresenceRow] = {}

    def messages_about(self, tx: Transaction, event: Event, topics: frozenset[Topic]) -> Iterator[HubMessage]:
        if event.type == NOTIFIED:
            yield from _notify(tx, event, topics)
            return
        message_kind = MESSAGE_KINDS.get(event.type)
        if message_kind is None or event.space_id is None or event.organization_id is None:
            return
        change_id: str | None = event.payload.get("change_request")
        wanted = [of_space(event.space_id)]
        if change_id is not None:
            wanted.append(of_change(change_id))
        elif message_kind.kind == "revision":
            wanted.append(of_main(event.space_id))
        common = {
            "timestamp": iso(event.created_at),
            "organization_id": event.organization_id,
            "space_id": event.space_id,
            "change_request_id": change_id or UNSET,
        }
        fields = {new: event.payload[old] for old, new in message_kind.fields.items() if old in event.payload}
        restricted = unrestricted(tx, find_state(tx, event.space_id, change_id)).hidden
        if not restricted.isdisjoint(fields.get("page_ids", ())):
            # Listeners who don't know which pages changed load all that they can see.
            del fields["page_ids"]
        if restricted:
            # The number can include conflicts in pages that some listeners can't see.
            fields.pop("conflicts", None)
        if not topics.isdisjoint(wanted):
            user = _person(tx, event.payload.get("by"))
            yield HubMessage(
                tuple(wanted),
                message_kind.kind,
                message_kind.model(action=message_kind.action, user=user, **common, **fields),
                page=_place(event, change_id),
            )

    def other_messages(self, tx: Transaction, topics: frozenset[Topic]) -> Iterable[HubMessage]:
        stamp = store.find_stamp(tx)
        spaces = {id for kind, id in topics if kind == "space"}
        changes = {id for kind, id in topics if kind == "change"}
        known = {
            key: here
            for key, here in self._there.items()
            if here.space_id in spaces or here.change_request_id in changes
        }
        if stamp == self._stamp and len(known) == len(self._there):
            return []
        there = present_at(tx, spaces, changes)
        self._stamp, self._there = stamp, there
        return list(_changes_of_presence(tx, known, there))


def _person(tx: Transaction, user_id: str | None) -> Any:
    if user_id is None:
        return UNSET
    return present_person(user_id, list_users_by_id(tx, [user_id]).get(user_id))


def _notify(tx: Transaction, event: Event, topics: frozenset[Topic]) -> Iterator[HubMessage]:
    """Yield a message for each connected person who received a notification."""
    payload = event.payload
    fields = {new: payload[old] for old, new in _NOTIFIED.items() if old in payload}
    shown = {name: value for name, value in fields.items() if name in NotificationEvent.__struct_fields__}
    for user_id, (notification_id, reason) in payload["users"].items():
        if of_person(user_id) not in topics:
            continue
        yield HubMessage(
            (of_person(user_id),),
            "notification",
            NotificationEvent(
                timestamp=iso(event.created_at),
                organization_id=event.organization_id or "",
                space_id=event.space_id or "",
                change_request_id=payload.get("change_request") or UNSET,
                user=_person(tx, payload.get("by")),
                notification_id=notification_id,
                reason=reason,
                **shown,
            ),
            about=event.space_id or "",
            page=_place(event, payload.get("change_request")),
        )


def _place(event: Event, change_id: str | None) -> PagePlace | None:
    """Return the page that an event concerns, if any."""
    page_id: str | None = event.payload.get("page")
    return PagePlace(event.space_id or "", change_id, page_id) if page_id else None


def _changes_of_presence(
    tx: Transaction, before: dict[tuple[str, str], PresenceRow], after: dict[tuple[str, str], PresenceRow]
) -> Iterator[HubMessage]:
    moved = [here for key, here in after.items() if key not in before or not before[key].is_at(here)]
    left = [
        here
        for key, here in before.items()
        if key not in after
        or (after[key].space_id, after[key].change_request_id) != (here.space_id, here.change_request_id)
    ]
    if not moved and not left:
        return
    known = list_users_by_id(tx, [here.user_id for here in (*left, *moved)])
    for here in left:
        yield _presence_message(known, here, "left")
    for here in moved:
        earlier = before.get(here.key)
        if earlier is not None and earlier not in left and _page_of(earlier) != (to := _page_of(here)) and to:
            # To those who can't see the new page, it looks as if the person left.
            yield _presence_message(known, earlier, "left")._replace(instead_of=to)
        yield _presence_message(known, here, here.activity)


def _page_of(here: PresenceRow) -> PagePlace | None:
    return PagePlace(here.space_id, here.change_request_id, here.page_id) if here.page_id else None


def _presence_message(
    known: Mapping[str, UserRow], here: PresenceRow, activity: Activity | Literal["left"]
) -> HubMessage:
    wanted = [of_space(here.space_id)]
    if here.change_request_id is not None:
        wanted.append(of_change(here.change_request_id))
    event = PresenceEvent(
        timestamp=iso(now()),
        organization_id=here.organization_id,
        space_id=here.space_id,
        change_request_id=here.change_request_id or UNSET,
        user=present_person(here.user_id, known.get(here.user_id)),
        activity=activity,
        client_id=here.client_id,
        page_id=None if activity == "left" else here.page_id,
    )
    return HubMessage(tuple(wanted), "presence", event, page=_page_of(here))
