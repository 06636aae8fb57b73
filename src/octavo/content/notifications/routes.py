"""What concerns the caller: their notifications, what they watch, and how they are told."""

from __future__ import annotations

from html import escape

from octavo.content.revisions.store import get_page, main_state
from octavo.errors import BadRequest, NotFound
from octavo.kit.clock import now, parse_iso
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Listing, PageQuery, Slice, present_slice
from octavo.kit.http.operation import PUBLIC, Area, Call, Deletion, Reply
from octavo.organization.access.authorization import SignedIn, SpaceAccess, find_space_access
from octavo.organization.access.roles import Can

from . import mailing, notifying, presenting, store
from .store import Counted
from .types import DEFAULTS
from .wire import (
    Notification,
    NotificationCounts,
    NotificationSettings,
    NotificationsQuery,
    SetWatch,
    UnsubscribeQuery,
    UpdatedNotifications,
    UpdateNotification,
    UpdateNotifications,
    UpdateNotificationSettings,
    Watch,
    present_watch,
)

operation = Area("notifications").operation

__all__ = ["notifying"]

_OWN = "/user/notifications"
_BATCH = 500
_HTML = "text/html; charset=utf-8"


def _seen(
    tx: Transaction,
    caller: SignedIn,
    counts: list[Counted],
    organization: str | None = None,
    space: str | None = None,
) -> list[Counted]:
    """What of the caller's notifications is in spaces that they see now."""
    seen = []
    for one in counts:
        if space is not None and one.space_id != space:
            continue
        access = find_space_access(tx, caller.actor, Can.VIEW, one.space_id)
        if access is not None and organization in (None, access.organization_id):
            seen.append(one)
    return seen


def _totals(seen: list[Counted]) -> NotificationCounts:
    unread = sum(one.unread for one in seen)
    return NotificationCounts(unread, unread + sum(one.read for one in seen), sum(one.done for one in seen))


@operation(
    "listOwnNotifications",
    "GET",
    _OWN,
    needs=Can.SIGN_IN,
    returns=Listing[Notification],
    extension=True,
)
def list_notifications(call: Call, caller: SignedIn, query: NotificationsQuery) -> Listing[Notification]:
    """What concerns the caller in all that the token reaches, the latest first: one entry for each thing that it is
    about. What they do not see any more is not shown."""
    with call.db.read() as tx:
        counts = store.list_counts(tx, caller.user_id)
        seen = _seen(tx, caller, counts, query.organization, query.space)
        total = getattr(_totals(seen), query.status)
        spaces = [one.space_id for one in seen]
        found = store.list_notifications(
            tx, caller.user_id, query.status, spaces, total, query.limit, query.page
        )
        shown = presenting.present(call, tx, found.rows)
    return present_slice(Slice(shown, found.count, found.next_token), lambda one: one)


@operation(
    "countOwnNotifications",
    "GET",
    f"{_OWN}/counts",
    needs=Can.SIGN_IN,
    returns=NotificationCounts,
    extension=True,
)
def count_notifications(call: Call, caller: SignedIn) -> NotificationCounts:
    """How many notifications the caller has: for a number beside the inbox."""
    with call.db.read() as tx:
        return _totals(_seen(tx, caller, store.list_counts(tx, caller.user_id)))


@operation(
    "getOwnNotification",
    "GET",
    f"{_OWN}/{{notificationId}}",
    needs=Can.SIGN_IN,
    returns=Notification,
    errors=(404,),
    extension=True,
)
def get_notification(call: Call, caller: SignedIn, notification_id: str) -> Notification:
    """One notification of the caller."""
    with call.db.read() as tx:
        return presenting.present(call, tx, [_get(tx, caller, notification_id)])[0]


def _get(
    tx: Transaction, caller: SignedIn, notification_id: str, *, lock: bool = False
) -> store.NotificationRow:
    row = store.find_notification(tx, caller.user_id, notification_id, lock=lock)
    if row is None or find_space_access(tx, caller.actor, Can.VIEW, row.space_id) is None:
        raise NotFound(f"There is no notification {notification_id!r} of yours.")
    return row


@operation(
    "updateOwnNotification",
    "PATCH",
    f"{_OWN}/{{notificationId}}",
    needs=Can.SIGN_IN,
    returns=Notification,
    errors=(400, 404),
    extension=True,
)
def update_notification(
    call: Call, caller: SignedIn, notification_id: str, body: UpdateNotification
) -> Notification:
    """Reads a notification, is done with it, or has it as new again."""
    with call.db.write() as tx:
        store.set_state(tx, [_get(tx, caller, notification_id, lock=True)], body.state)
    with call.db.read() as tx:
        return presenting.present(call, tx, [_get(tx, caller, notification_id)])[0]


@operation(
    "updateOwnNotifications",
    "POST",
    f"{_OWN}/update",
    needs=Can.SIGN_IN,
    returns=UpdatedNotifications,
    errors=(400,),
    extension=True,
)
def update_notifications(call: Call, caller: SignedIn, body: UpdateNotifications) -> UpdatedNotifications:
    """Reads many notifications or is done with them: those that are named, or all in the inbox."""
    until = _until(body)
    with call.db.read() as tx:
        spaces = [one.space_id for one in _seen(tx, caller, store.list_counts(tx, caller.user_id))]
    only = body.notifications or None
    updated = 0
    while True:
        with call.db.write() as tx:
            rows = store.lock_changing(tx, caller.user_id, spaces, only, body.state, until, _BATCH)
            updated += store.set_state(tx, rows, body.state)
        if len(rows) < _BATCH:
            return UpdatedNotifications(updated)


def _until(body: UpdateNotifications) -> int:
    if not body.until:
        return now()
    try:
        return parse_iso(body.until)
    except ValueError:
        raise BadRequest("until: expected a moment such as 2026-11-25T10:00:00.000Z") from None


# --- watching -----------------------------------------------------------------------------------------


@operation(
    "listOwnWatches",
    "GET",
    "/user/watches",
    needs=Can.SIGN_IN,
    returns=Listing[Watch],
    extension=True,
)
def list_watches(call: Call, caller: SignedIn, query: PageQuery) -> Listing[Watch]:
    """The spaces and pages that the caller watches or muted, of those that they see."""
    with call.db.read() as tx:
        spaces = [
            space_id
            for space_id in store.list_watched_spaces(tx, caller.user_id)
            if find_space_access(tx, caller.actor, Can.VIEW, space_id) is not None
        ]
        found = store.list_watches(tx, caller.user_id, spaces, query.limit, query.page)
    return present_slice(found, _present)


def _present(row: store.WatchRow) -> Watch:
    return present_watch(row.space_id, row.page_id, row.level, row.set_at)


@operation(
    "getSpaceWatch",
    "GET",
    "/spaces/{spaceId}/watch",
    needs=Can.VIEW,
    returns=Watch,
    errors=(404,),
    extension=True,
)
def get_space_watch(call: Call, space: SpaceAccess) -> Watch:
    """Whether the caller watches or muted a space; 404 for neither."""
    return _get_watch(call, space, "")


@operation(
    "setSpaceWatch",
    "PUT",
    "/spaces/{spaceId}/watch",
    needs=Can.VIEW,
    returns=Watch,
    errors=(400,),
    extension=True,
)
def set_space_watch(call: Call, space: SpaceAccess, body: SetWatch) -> Watch:
    """Watches a space: the caller is told of what is merged, edited and said there. Or mutes it: they are told of what
    names them alone."""
    with call.db.write() as tx:
        return _present(store.put_watch(tx, space.user_id, space.space_id, "", body.level))


@operation(
    "endSpaceWatch",
    "DELETE",
    "/spaces/{spaceId}/watch",
    needs=Can.VIEW,
    returns=Deletion,
    extension=True,
)
def end_space_watch(call: Call, space: SpaceAccess) -> bool:
    """Neither watches nor mutes a space any more."""
    with call.db.write() as tx:
        return store.delete_watch(tx, space.user_id, space.space_id, "")


_PAGE = "/spaces/{spaceId}/content/page/{pageId}/watch"


@operation("getPageWatch", "GET", _PAGE, needs=Can.VIEW, returns=Watch, errors=(404,), extension=True)
def get_page_watch(call: Call, space: SpaceAccess, page_id: str) -> Watch:
    """Whether the caller watches or muted a page; 404 for neither."""
    return _get_watch(call, space, page_id)


@operation("setPageWatch", "PUT", _PAGE, needs=Can.VIEW, returns=Watch, errors=(400, 404), extension=True)
def set_page_watch(call: Call, space: SpaceAccess, page_id: str, body: SetWatch) -> Watch:
    """Watches or mutes one page, whatever the caller said of its space."""
    with call.db.write() as tx:
        page = get_page(tx, main_state(tx, space.space_id), page_id)
        return _present(store.put_watch(tx, space.user_id, space.space_id, page.id, body.level))


@operation("endPageWatch", "DELETE", _PAGE, needs=Can.VIEW, returns=Deletion, extension=True)
def end_page_watch(call: Call, space: SpaceAccess, page_id: str) -> bool:
    """Neither watches nor mutes a page any more."""
    with call.db.write() as tx:
        return store.delete_watch(tx, space.user_id, space.space_id, page_id)


def _get_watch(call: Call, space: SpaceAccess, page_id: str) -> Watch:
    with call.db.read() as tx:
        row = store.find_watch(tx, space.user_id, space.space_id, page_id)
    if row is None:
        raise NotFound("You neither watch nor muted this.")
    return _present(row)


# --- how somebody is told -----------------------------------------------------------------------------


@operation(
    "getOwnNotificationSettings",
    "GET",
    "/user/notification-settings",
    needs=Can.SIGN_IN,
    returns=NotificationSettings,
    extension=True,
)
def get_settings(call: Call, caller: SignedIn) -> NotificationSettings:
    """How the caller is told of what concerns them."""
    with call.db.read() as tx:
        channels = store.list_channels(tx, [caller.user_id])[caller.user_id]
    return NotificationSettings(channels, bool(call.settings.smtp_url))


@operation(
    "updateOwnNotificationSettings",
    "PATCH",
    "/user/notification-settings",
    needs=Can.SIGN_IN,
    returns=NotificationSettings,
    errors=(400,),
    extension=True,
)
def update_settings(call: Call, caller: SignedIn, body: UpdateNotificationSettings) -> NotificationSettings:
    """Changes it for the reasons that are named."""
    with call.db.write() as tx:
        channels = store.list_channels(tx, [caller.user_id])[caller.user_id] | body.channels
        changed = {reason: channel for reason, channel in channels.items() if channel != DEFAULTS[reason]}
        store.set_channels(tx, caller.user_id, changed)
    return NotificationSettings(channels, bool(call.settings.smtp_url))


@operation(
    "getUnsubscribePage",
    "GET",
    "/notifications/unsubscribe",
    needs=PUBLIC,
    returns=bytes,
    media_type=_HTML,
    errors=(400,),
    extension=True,
    browsed=True,
)
def get_unsubscribe_page(call: Call, query: UnsubscribeQuery) -> Reply:
    """The page that a link in a mail leads to: it asks before it ends anything, because programs open links too."""
    mailing.read_token(call.context, query.token)
    action = escape(call.url(f"/notifications/unsubscribe?token={query.token}"))
    return _page(
        f'<h1>No more such mails?</h1><form method="post" action="{action}"><button>Unsubscribe</button></form>'
        "<p>It stays in your inbox in the app.</p>"
    )


@operation(
    "unsubscribe",
    "POST",
    "/notifications/unsubscribe",
    needs=PUBLIC,
    returns=bytes,
    media_type=_HTML,
    errors=(400,),
    extension=True,
)
def unsubscribe(call: Call, query: UnsubscribeQuery) -> Reply:
    """Ends the mails that a link came with, without signing in; mail programs post to it as well (RFC 8058)."""
    user_id, what = mailing.read_token(call.context, query.token)
    with call.db.write() as tx:
        mailing.unsubscribe(tx, user_id, what)
    return _page("<h1>You get no more such mails</h1><p>What concerns you is in your inbox in the app.</p>")


_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:15vh auto;padding:0 1rem;color-scheme:light dark}"
    "button{font:inherit;padding:.4rem 1rem}"
)


def _page(body: str) -> Reply:
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>Mails of Octavo</title><style>{_STYLE}</style><main>{body}</main></html>"
    )
    headers = {
        "content-type": _HTML,
        "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'",
        "referrer-policy": "no-referrer",
        "cache-control": "private, no-store",
    }
    return Reply(page.encode(), headers=headers)
