"""Wire types for notifications, watches, and settings."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.kit.clock import iso
from octavo.kit.db.pagination import PageQuery
from octavo.organization.access.wire import User

from .types import Channel, Level, Reason, State

Status = Literal[
    "draft", "open", "archived", "merged", "approved", "changes-requested", "accepted", "declined"
]
"""Status of a change request, a review, or a suggested edit."""


class NotificationsQuery(PageQuery):
    """Filter for notifications. ``status``: ``inbox`` means all notifications that aren't done. ``organization`` and
    ``space``: the organization or space to limit the list to."""

    status: Literal["inbox", "unread", "done"] = "inbox"
    organization: str | None = None
    space: str | None = None


class NotifiedSpace(Struct):
    id: str
    title: str
    organization: str


class NotifiedContainer(Struct):
    """Site or collection that a notification is about."""

    id: str
    title: str


class NotifiedChange(Struct):
    id: str
    number: int
    subject: str
    status: Literal["draft", "open", "archived", "merged"]


class NotifiedPage(Struct):
    id: str
    title: str
    path: str


class NotifiedComment(Struct):
    """Comment in a notification. ``excerpt``: the beginning of the comment or, if there is one, of the
    reply."""

    id: str
    excerpt: str
    reply: str | UnsetType = UNSET


class NotificationUrls(Struct):
    """URLs of a notification. ``app``: the URL of the subject in the app."""

    app: str
    location: str


class Notification(Struct, rename="camel", kw_only=True):
    """Notification of the caller. A new event about the same subject, such as a thread or a change request, makes it
    unread again: ``events`` is the number of events since it was last read, and the other fields describe the latest
    event. ``user``: the person who caused that event, if any. ``site`` or ``collection``: what a notification is about
    that isn't about a single space. ``problem``: the reason for a failure, or the title of an assigned finding."""

    id: str
    reason: Reason
    state: State
    events: int
    at: str
    space: NotifiedSpace
    urls: NotificationUrls
    object: Literal["notification"] = "notification"
    user: User | UnsetType = UNSET
    site: NotifiedContainer | UnsetType = UNSET
    collection: NotifiedContainer | UnsetType = UNSET
    change_request: NotifiedChange | UnsetType = UNSET
    page: NotifiedPage | UnsetType = UNSET
    comment: NotifiedComment | UnsetType = UNSET
    review: str | UnsetType = UNSET
    revision: str | UnsetType = UNSET
    status: Status | UnsetType = UNSET
    problem: str | UnsetType = UNSET


class NotificationCounts(Struct):
    """Number of notifications that the caller can see now."""

    unread: int
    inbox: int
    done: int


class UpdateNotification(Struct):
    state: State


class UpdateNotifications(Struct):
    """State change for many notifications. ``notifications``: the IDs of the notifications; by default, all
    notifications in the inbox. ``until``: the newest ``at`` that the caller has seen; newer notifications are left
    unchanged."""

    state: State
    notifications: Annotated[list[str], Meta(max_length=1000)] | UnsetType = UNSET
    until: str | UnsetType = UNSET


class UpdatedNotifications(Struct):
    """Result of a state change. ``updated``: the number of changed notifications."""

    updated: int


class NotificationSettings(Struct):
    """Notification settings of the caller. ``channels``: the channel for each reason: ``app`` notifies in the app,
    ``mail`` also sends an email immediately, ``digest`` also includes the notification in a daily email, and ``off``
    doesn't notify at all. ``mail``: whether the server sends email."""

    channels: dict[Reason, Channel]
    mail: bool
    object: Literal["notification-settings"] = "notification-settings"


class UpdateNotificationSettings(Struct):
    channels: dict[Reason, Channel]


class Watch(Struct):
    """Setting to watch or mute a space or page. ``page``: the ID of the page; omitted for the space as a
    whole."""

    space: str
    level: Level
    since: str
    object: Literal["watch"] = "watch"
    page: str | UnsetType = UNSET


class SetWatch(Struct):
    level: Level


class UnsubscribeQuery(Struct):
    token: Annotated[str, Meta(max_length=2000)]


def present_watch(space_id: str, page_id: str, level: Level, since: int) -> Watch:
    return Watch(space=space_id, level=level, since=iso(since), page=page_id or UNSET)
