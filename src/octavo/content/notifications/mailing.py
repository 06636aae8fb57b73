"""Notifications by mail: at once, as a digest of a day, and how either is ended by whoever gets it."""

from __future__ import annotations

from octavo.core.app_urls import AppAddresses
from octavo.errors import BadRequest, TooManyRequests, Unavailable
from octavo.kit.clock import now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.net import mail
from octavo.kit.scheduling import deadlines
from octavo.kit.work import jobs
from octavo.organization.access.accounts import find_user, has_verified_email
from octavo.organization.access.authorization import find_space_access
from octavo.organization.access.reach import actor_for_job
from octavo.organization.access.roles import Can

from . import presenting, store
from .store import NotificationRow
from .types import DEFAULTS, Reason

WAIT = 30_000
"""Milliseconds before a mail is sent: what happens meanwhile is in it, and who reads it in the app gets none."""
_MOST = 50
"""Entries of a digest; of the others their number is said."""
_BATCH = 500
_PURPOSE = "unsubscribe"


def enqueue(context: Context, tx: Transaction, organization_id: str, row: NotificationRow) -> None:
    if context.settings.smtp_url:
        jobs.enqueue(
            tx,
            "mailNotification",
            organization=organization_id,
            key=f"notification:{row.id}",
            run_at=now() + WAIT,
            user=row.user_id,
            notification=row.id,
        )


@jobs.job("mailNotification", attempts=5, waits=True)
def mail_notification(context: Context, user: str, notification: str) -> None:
    """Mails somebody what they have not read meanwhile and still see."""
    with context.db.read() as tx:
        row = store.find_notification(tx, user, notification)
        if row is None or row.state != "unread" or (address := _address(tx, user)) is None:
            return
        if not _still_seen(tx, row):
            return
        found = presenting.find(tx, [row])
        subject, text = presenting.sentence(tx, found, row), _text(context, tx, found, row)
    _send(context, user, row.reason, address, subject, text)


@jobs.job("mailDigests", seconds=600)
def mail_digests(context: Context) -> None:
    """Has everybody mailed for whom something waits for the digest."""
    after = ""
    while True:
        deadlines.check()
        with context.db.write() as tx:
            users = store.list_digested(tx, after, _BATCH)
            for user in users:
                jobs.enqueue(tx, "mailDigest", organization="", key=f"digest:{user}", user=user)
        if len(users) < _BATCH:
            return
        after = users[-1]


jobs.schedule("mailDigests", 86_400, "mailDigests")


@jobs.job("mailDigest", attempts=5, waits=True)
def mail_digest(context: Context, user: str) -> None:
    """Mails somebody what waits for their digest and they still see, the latest in words and of the rest the number.
    Without a mail server it is in the app alone."""
    with context.db.read() as tx:
        waiting = store.list_for_digest(tx, user)
        seen = {
            row.space_id for row in {row.space_id: row for row in waiting}.values() if _still_seen(tx, row)
        }
        rows = [row for row in waiting if row.state == "unread" and row.space_id in seen]
        shown = rows[:_MOST]
        address = _address(tx, user) if context.settings.smtp_url else None
        found = presenting.find(tx, shown)
        said = [_text(context, tx, found, row) for row in shown]
    if rows and address is not None:
        if more := len(rows) - len(shown):
            said.append(f"And {more} more: {AppAddresses(context.settings.url).inbox}")
        _send(context, user, None, address, "What concerns you since yesterday", "\n\n".join(said))
    with context.db.write() as tx:
        store.note_digested(tx, waiting)
        jobs.finish(tx)


def _still_seen(tx: Transaction, row: NotificationRow) -> bool:
    organization = tx.value("SELECT organization_id FROM spaces WHERE id = :id", id=row.space_id)
    actor = actor_for_job(row.user_id, organization or "")
    return find_space_access(tx, actor, Can.VIEW, row.space_id) is not None


def _address(tx: Transaction, user_id: str) -> str | None:
    """Where somebody can be mailed: at an address that they proved to be theirs."""
    user = find_user(tx, user_id)
    if user is None or user.disabled or not has_verified_email(tx, user_id):
        return None
    return user.email


def _text(context: Context, tx: Transaction, found: presenting.Found, row: NotificationRow) -> str:
    lines = [presenting.sentence(tx, found, row)]
    words = found.words.get(row.reply_id or row.comment_id or "") or row.problem
    if words:
        lines.append(f"> {words}")
    return "\n".join([*lines, found.address(AppAddresses(context.settings.url), row)])


def _send(
    context: Context, user_id: str, reason: Reason | None, address: str, subject: str, text: str
) -> None:
    """``reason`` None: a digest, which is ended for all reasons."""
    link = unsubscribe_link(context, user_id, reason)
    try:
        with context.db.write() as tx:
            mail.allow(tx, context.settings, address)
    except TooManyRequests:
        return  # it is in the app
    try:
        mail.send(
            context.settings,
            to=address,
            subject=subject[:200],
            text=f"{text}\n\n-- \nNo more such mails: {link}\n",
            headers={"List-Unsubscribe": f"<{link}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"},
        )
    except Unavailable:
        # A day on which the server fails must not use up what somebody may be sent when it is back.
        with context.db.write() as tx:
            mail.give_back(tx, address)
        raise


# --- no more of it ------------------------------------------------------------------------------------


def unsubscribe_link(context: Context, user_id: str, reason: Reason | None) -> str:
    token = context.signer.sign(_PURPOSE, f"{user_id} {reason or 'digest'}")
    return f"{context.settings.url}/v1/notifications/unsubscribe?token={token}"


def read_token(context: Context, token: str) -> tuple[str, str]:
    """Whom a link is of, and what it ends: a reason, or ``digest``. Raises BadRequest."""
    payload = context.signer.verify(_PURPOSE, token)
    if payload is None:
        raise BadRequest("token: this is no link of ours, or not all of it.")
    user_id, _, what = payload.partition(" ")
    return user_id, what


def unsubscribe(tx: Transaction, user_id: str, what: str) -> None:
    """What was mailed is in the app alone from now on. It does the same each time."""
    if find_user(tx, user_id) is None:
        return
    channels = store.list_channels(tx, [user_id])[user_id]
    wanted = {
        reason: "app" if reason == what or (what == "digest" and channel == "digest") else channel
        for reason, channel in channels.items()
    }
    changed = {reason: channel for reason, channel in wanted.items() if channel != DEFAULTS[reason]}
    store.set_channels(tx, user_id, changed)
