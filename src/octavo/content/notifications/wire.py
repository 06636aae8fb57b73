"""Notifications, watches and settings on the wire."""

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
"""Of a change request, of a review, or of an edit that was suggested."""


class NotificationsQuery(PageQuery):
    """``status``: ``inbox`` is all that is not done. ``organization``, ``space``: of this one alone."""

    status: Literal["inbox", "unread", "done"] = "inbox"
    organization: str | None = None
    space: str | None = None


class NotifiedSpace(Struct):
    id: str
    title: str
    organization: str


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
    """``excerpt``: its first words, of the reply where it is one."""

    id: str
    excerpt: str
    reply: str | UnsetType = UNSET


class NotificationUrls(Struct):
    """``app``: where it is in the app."""

    app: str
    location: str


class Notification(Struct, rename="camel", kw_only=True):
    """What concerns the caller, and why. Another event about the same thing (a thread, a change request) makes it new:
    ``events`` says how many there were since it was read, and the rest is of the last one. ``user``: who did it, where
    somebody did. ``problem``: why something failed."""

    id: str
    reason: Reason
    state: State
    events: int
    at: str
    space: NotifiedSpace
    urls: NotificationUrls
    object: Literal["notification"] = "notification"
    user: User | UnsetType = UNSET
    change_request: NotifiedChange | UnsetType = UNSET
    page: NotifiedPage | UnsetType = UNSET
    comment: NotifiedComment | UnsetType = UNSET
    review: str | UnsetType = UNSET
    revision: str | UnsetType = UNSET
    status: Status | UnsetType = UNSET
    problem: str | UnsetType = UNSET


class NotificationCounts(Struct):
    """How many there are of what the caller sees now."""

    unread: int
    inbox: int
    done: int


class UpdateNotification(Struct):
    state: State


class UpdateNotifications(Struct):
    """``notifications``: these, else all that are in the inbox. ``until``: as it was when the caller looked, the newest
    ``at`` that they saw; what is newer stays."""

    state: State
    notifications: Annotated[list[str], Meta(max_length=1000)] | UnsetType = UNSET
    until: str | UnsetType = UNSET


class UpdatedNotifications(Struct):
    """``updated``: how many changed."""

    updated: int


class NotificationSettings(Struct):
    """How the caller is told, by reason: ``app``, as all but ``off``; ``mail``, at once as well; ``digest``, in one mail
    a day as well; ``off``, not at all. ``mail``: whether this installation sends any."""

    channels: dict[Reason, Channel]
    mail: bool
    object: Literal["notification-settings"] = "notification-settings"


class UpdateNotificationSettings(Struct):
    channels: dict[Reason, Channel]


class Watch(Struct):
    """``page``: empty for the space as a whole."""

    space: str
    level: Level
    since: str
    object: Literal["watch"] = "watch"
    page: str | UnsetType = UNSET


class SetWatch(Struct):
    level: Level


class UnsubscribeQuery(Struct):
    token: Annotated[str, Meta(max_length=2000)]


class Unsubscribed(Struct):
    """What is not mailed any more."""

    reason: Reason


def present_watch(space_id: str, page_id: str, level: Level, since: int) -> Watch:
    return Watch(space=space_id, level=level, since=iso(since), page=page_id or UNSET)
