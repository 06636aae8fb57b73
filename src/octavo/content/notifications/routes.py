"""The caller's notifications, watches, and notification settings."""

from __future__ import annotations

from html import escape

from octavo.content.changes.store import find_state
from octavo.content.revisions.page_versions import get_page
from octavo.content.revisions.restrictions import main_seen_by, seen_by
from octavo.errors import BadRequest, NotFound
from octavo.kit.clock import now, parse_iso
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Listing, PageQuery, Slice, present_slice
from octavo.kit.http.operation import PUBLIC, Area, Call, Reply
from octavo.organization.access.authorization import SignedIn, SpaceAccess, find_space_access
from octavo.organization.access.roles import Can

from . import mailing, notifying, presenting, store
from .store import SpaceCounts
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


def _visible(
    tx: Transaction,
    caller: SignedIn,
    counts: list[SpaceCounts],
    organization: str | None = None,
    space: str | None = None,
) -> tuple[list[SpaceCounts], store.Pages]:
    """Return the notification counts of the spaces that the caller can currently see, and the pages in these spaces
    that are hidden from the caller."""
    seen, hidden = [], store.Pages()
    for one in counts:
        if space is not None and one.space_id != space:
            continue
        access = find_space_access(tx, caller.actor, Can.VIEW, one.space_id)
        if access is not None and organization in (None, access.organization_id):
            pages = {
                (one.space_id, change, page)
                for change in ("", *store.list_changes(tx, caller.user_id, one.space_id))
                for page in seen_by(tx, access, find_state(tx, one.space_id, change)).hidden
            }
            seen.append(store.count_visible(tx, caller.user_id, one.space_id, pages) if pages else one)
            hidden |= pages
    return seen, hidden


def _totals(seen: list[SpaceCounts]) -> NotificationCounts:
    unread = sum(one.unread for one in seen)
    return NotificationCounts(unread, unread + sum(one.read for one in seen), sum(one.done for one in seen))


@operation("listOwnNotifications", "GET", _OWN, needs=Can.SIGN_IN)
def list_notifications(call: Call, caller: SignedIn, query: NotificationsQuery) -> Listing[Notification]:
    """List the caller's notifications about content that the token can access, latest first. Each thread or change
    request has one entry. Notifications about content that the caller can no longer see are omitted."""
    with call.db.read() as tx:
        counts = store.list_counts(tx, caller.user_id)
        seen, hidden = _visible(tx, caller, counts, query.organization, query.space)
        total = getattr(_totals(seen), query.status)
        spaces = [one.space_id for one in seen]
        found = store.list_notifications(
            tx, caller.user_id, query.status, spaces, hidden, total, query.limit, query.page
        )
        shown = presenting.present(call, tx, found.rows)
    return present_slice(Slice(shown, found.count, found.next_token), lambda one: one)


@operation("countOwnNotifications", "GET", f"{_OWN}/counts", needs=Can.SIGN_IN)
def count_notifications(call: Call, caller: SignedIn) -> NotificationCounts:
    """Count the caller's notifications, for example for a badge on the inbox."""
    with call.db.read() as tx:
        return _totals(_visible(tx, caller, store.list_counts(tx, caller.user_id))[0])


@operation("getOwnNotification", "GET", f"{_OWN}/{{notificationId}}", needs=Can.SIGN_IN, errors=(404,))
def get_notification(call: Call, caller: SignedIn, notification_id: str) -> Notification:
    """Get one of the caller's notifications."""
    with call.db.read() as tx:
        return presenting.present(call, tx, [_get(tx, caller, notification_id)])[0]


def _get(
    tx: Transaction, caller: SignedIn, notification_id: str, *, lock: bool = False
) -> store.NotificationRow:
    row = store.find_notification(tx, caller.user_id, notification_id, lock=lock)
    space = find_space_access(tx, caller.actor, Can.VIEW, row.space_id) if row is not None else None
    if row is None or space is None or row.page_id in seen_by(tx, space, presenting.state_of(tx, row)).hidden:
        raise NotFound(f"You have no notification with the ID {notification_id!r}.")
    return row


@operation(
    "updateOwnNotification", "PATCH", f"{_OWN}/{{notificationId}}", needs=Can.SIGN_IN, errors=(400, 404)
)
def update_notification(
    call: Call, caller: SignedIn, notification_id: str, body: UpdateNotification
) -> Notification:
    """Mark a notification as read, done, or unread."""
    with call.db.write() as tx:
        store.set_state(tx, [_get(tx, caller, notification_id, lock=True)], body.state)
    with call.db.read() as tx:
        return presenting.present(call, tx, [_get(tx, caller, notification_id)])[0]


@operation("updateOwnNotifications", "POST", f"{_OWN}/update", needs=Can.SIGN_IN, errors=(400,))
def update_notifications(call: Call, caller: SignedIn, body: UpdateNotifications) -> UpdatedNotifications:
    """Mark many notifications as read or done: the given notifications, or all notifications in the inbox."""
    until = _until(body)
    with call.db.read() as tx:
        seen, hidden = _visible(tx, caller, store.list_counts(tx, caller.user_id))
        spaces = [one.space_id for one in seen]
    only = body.notifications or None
    updated = 0
    while True:
        with call.db.write() as tx:
            rows = store.lock_changing(tx, caller.user_id, spaces, only, body.state, until, _BATCH, hidden)
            updated += store.set_state(tx, rows, body.state)
        if len(rows) < _BATCH:
            return UpdatedNotifications(updated)


def _until(body: UpdateNotifications) -> int:
    if not body.until:
        return now()
    try:
        return parse_iso(body.until)
    except ValueError:
        raise BadRequest("until: must be a time such as 2026-11-25T10:00:00.000Z") from None


# --- watching -----------------------------------------------------------------------------------------


@operation("listOwnWatches", "GET", "/user/watches", needs=Can.SIGN_IN)
def list_watches(call: Call, caller: SignedIn, query: PageQuery) -> Listing[Watch]:
    """List the spaces and pages that the caller watches or has muted, except spaces and pages that the caller can no
    longer see."""
    with call.db.read() as tx:
        spaces = {
            space_id: space
            for space_id in store.list_watched_spaces(tx, caller.user_id)
            if (space := find_space_access(tx, caller.actor, Can.VIEW, space_id)) is not None
        }
        hidden = {(id, "", page) for id, space in spaces.items() for page in main_seen_by(tx, space).hidden}
        found = store.list_watches(tx, caller.user_id, list(spaces), hidden, query.limit, query.page)
    return present_slice(found, _present)


def _present(row: store.WatchRow) -> Watch:
    return present_watch(row.space_id, row.page_id, row.level, row.set_at)


@operation("getSpaceWatch", "GET", "/spaces/{spaceId}/watch", needs=Can.VIEW, errors=(404,))
def get_space_watch(call: Call, space: SpaceAccess) -> Watch:
    """Get the caller's watch on a space. Returns 404 if the caller neither watches nor mutes it."""
    return _get_watch(call, space, "")


@operation("setSpaceWatch", "PUT", "/spaces/{spaceId}/watch", needs=Can.VIEW, errors=(400,))
def set_space_watch(call: Call, space: SpaceAccess, body: SetWatch) -> Watch:
    """Watch or mute a space. Watching notifies the caller about merges, edits, and comments; muting limits
    notifications to mentions of the caller, requests for the caller's review, and reports of failures."""
    with call.db.write() as tx:
        return _present(store.put_watch(tx, space.user_id, space.space_id, "", body.level))


@operation("endSpaceWatch", "DELETE", "/spaces/{spaceId}/watch", needs=Can.VIEW)
def end_space_watch(call: Call, space: SpaceAccess) -> bool:
    """Unwatch or unmute a space."""
    with call.db.write() as tx:
        return store.delete_watch(tx, space.user_id, space.space_id, "")


_PAGE = "/spaces/{spaceId}/content/page/{pageId}/watch"


@operation("getPageWatch", "GET", _PAGE, needs=Can.VIEW, errors=(404,))
def get_page_watch(call: Call, space: SpaceAccess, page_id: str) -> Watch:
    """Get the caller's watch on a page. Returns 404 if the caller neither watches nor mutes it."""
    return _get_watch(call, space, page_id)


@operation("setPageWatch", "PUT", _PAGE, needs=Can.VIEW, errors=(400, 404))
def set_page_watch(call: Call, space: SpaceAccess, page_id: str, body: SetWatch) -> Watch:
    """Watch or mute a page. The watch on a page takes precedence over the watch on its space."""
    with call.db.write() as tx:
        page = get_page(tx, main_seen_by(tx, space), page_id)
        return _present(store.put_watch(tx, space.user_id, space.space_id, page.id, body.level))


@operation("endPageWatch", "DELETE", _PAGE, needs=Can.VIEW)
def end_page_watch(call: Call, space: SpaceAccess, page_id: str) -> bool:
    """Stop watching or unmute a page."""
    with call.db.write() as tx:
        if page_id in main_seen_by(tx, space).hidden:
            return False
        return store.delete_watch(tx, space.user_id, space.space_id, page_id)


def _get_watch(call: Call, space: SpaceAccess, page_id: str) -> Watch:
    with call.db.read() as tx:
        row = store.find_watch(tx, space.user_id, space.space_id, page_id)
        is_hidden = row is not None and page_id in main_seen_by(tx, space).hidden
    if row is None or is_hidden:
        raise NotFound("You aren't watching this space or page, and you haven't muted it.")
    return _present(row)


# --- settings -----------------------------------------------------------------------------------------


@operation("getOwnNotificationSettings", "GET", "/user/notification-settings", needs=Can.SIGN_IN)
def get_settings(call: Call, caller: SignedIn) -> NotificationSettings:
    """Get the caller's notification settings, by reason."""
    with call.db.read() as tx:
        channels = store.list_channels(tx, [caller.user_id])[caller.user_id]
    return NotificationSettings(channels, bool(call.settings.smtp_url))


@operation(
    "updateOwnNotificationSettings", "PATCH", "/user/notification-settings", needs=Can.SIGN_IN, errors=(400,)
)
def update_settings(call: Call, caller: SignedIn, body: UpdateNotificationSettings) -> NotificationSettings:
    """Update the caller's notification settings for the given reasons."""
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
    browsed=True,
)
def get_unsubscribe_page(call: Call, query: UnsubscribeQuery) -> Reply:
    """Show the page that the unsubscribe link in an email opens. It asks for confirmation, because mail
    scanners open links, too."""
    mailing.read_token(call.context, query.token)
    action = escape(call.url(f"/notifications/unsubscribe?token={query.token}"))
    return _page(
        f'<h1>Unsubscribe from these emails?</h1><form method="post" action="{action}">'
        "<button>Unsubscribe</button></form>"
        "<p>Notifications stay in your inbox in the app.</p>"
    )


@operation(
    "unsubscribe",
    "POST",
    "/notifications/unsubscribe",
    needs=PUBLIC,
    returns=bytes,
    media_type=_HTML,
    errors=(400,),
)
def unsubscribe(call: Call, query: UnsubscribeQuery) -> Reply:
    """Unsubscribe from the emails that contained the link, without signing in. Email clients also post to
    this URL (RFC 8058)."""
    user_id, what = mailing.read_token(call.context, query.token)
    with call.db.write() as tx:
        mailing.unsubscribe(tx, user_id, what)
    return _page("<h1>You're unsubscribed</h1><p>Notifications stay in your inbox in the app.</p>")


_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:15vh auto;padding:0 1rem;color-scheme:light dark}"
    "button{font:inherit;padding:.4rem 1rem}"
)


def _page(body: str) -> Reply:
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>Octavo emails</title><style>{_STYLE}</style><main>{body}</main></html>"
    )
    headers = {
        "content-type": _HTML,
        "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'",
        "referrer-policy": "no-referrer",
        "cache-control": "private, no-store",
    }
    return Reply(page.encode(), headers=headers)
