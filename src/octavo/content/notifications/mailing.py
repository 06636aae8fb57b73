"""Notification emails: immediate emails, daily digests, and unsubscribing."""

from __future__ import annotations

from octavo.content.revisions.restrictions import seen_by
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
"""Delay in milliseconds before an email is sent. The email includes events that happen in the meantime. It
isn't sent if the notification is read in the app first."""
_DIGEST_LIMIT = 50
"""Maximum number of entries in a digest. Additional notifications are only counted."""
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


@jobs.job("mailNotification", bound="one mail", attempts=5, waits=True, in_maintenance=True)
def mail_notification(context: Context, user: str, notification: str) -> None:
    """Email a notification if it is still unread and the recipient can still see its subject."""
    with context.db.read() as tx:
        row = store.find_notification(tx, user, notification)
        if row is None or row.state != "unread" or (address := _address(tx, user)) is None:
            return
        if not _can_still_see(tx, row):
            return
        found = presenting.load_subjects(tx, [row])
        subject, text = presenting.sentence(tx, found, row), _text(context, tx, found, row)
    _send(context, user, row.reason, address, subject, text)


@jobs.job("mailDigests", bound=None, seconds=600)
def mail_digests(context: Context, after: str = "") -> None:
    """Enqueue digests for everyone who has pending notifications for the digest, ordered by user ID."""
    while True:
        deadlines.check()
        with context.db.write() as tx:
            users = store.list_digest_recipients(tx, after, _BATCH)
            for user in users:
                jobs.enqueue(tx, "mailDigest", organization="", key=f"digest:{user}", user=user)
            if len(users) < _BATCH:
                jobs.finish(tx)
                return
            after = users[-1]
            jobs.advance(tx, after=after)


jobs.schedule("mailDigests", 86_400, "mailDigests")


@jobs.job("mailDigest", bound="one mail", attempts=5, waits=True)
def mail_digest(context: Context, user: str) -> None:
    """Email a digest to a person: the latest notifications that they can still see, and the number of other
    notifications. Without a mail server, notifications appear only in the app."""
    with context.db.read() as tx:
        waiting = store.list_for_digest(tx, user)
        rows = [row for row in waiting if row.state == "unread" and _can_still_see(tx, row)]
        shown = rows[:_DIGEST_LIMIT]
        address = _address(tx, user) if context.settings.smtp_url else None
        found = presenting.load_subjects(tx, shown)
        entries = [_text(context, tx, found, row) for row in shown]
    if rows and address is not None:
        if more := len(rows) - len(shown):
            entries.append(f"And {more} more: {AppAddresses(context.settings.url).inbox}")
        _send(context, user, None, address, "Your daily notifications", "\n\n".join(entries))
    with context.db.write() as tx:
        store.clear_digest(tx, waiting)
        jobs.finish(tx)


def _can_still_see(tx: Transaction, row: NotificationRow) -> bool:
    organization = tx.value("SELECT organization_id FROM spaces WHERE id = :id", id=row.space_id)
    actor = actor_for_job(row.user_id, organization or "")
    space = find_space_access(tx, actor, Can.VIEW, row.space_id)
    return space is not None and row.page_id not in seen_by(tx, space, presenting.state_of(tx, row)).hidden


def _address(tx: Transaction, user_id: str) -> str | None:
    """Return a person's email address if the person is active and the address is verified."""
    user = find_user(tx, user_id)
    if user is None or user.disabled or not has_verified_email(tx, user_id):
        return None
    return user.email


def _text(context: Context, tx: Transaction, found: presenting.Subjects, row: NotificationRow) -> str:
    lines = [presenting.sentence(tx, found, row)]
    words = found.words.get(row.reply_id or row.comment_id or "") or row.problem
    if words:
        lines.append(f"> {words}")
    return "\n".join([*lines, found.address(AppAddresses(context.settings.url), row)])


def _send(
    context: Context, user_id: str, reason: Reason | None, address: str, subject: str, text: str
) -> None:
    """Send one email. ``reason``: the reason for the notification; None for a digest, which has a single unsubscribe
    link."""
    link = unsubscribe_link(context, user_id, reason)
    try:
        with context.db.write() as tx:
            mail.allow(tx, context.settings, address)
    except TooManyRequests:
        return  # The notification is shown in the app.
    try:
        mail.send(
            context.settings,
            to=address,
            subject=subject[:200],
            text=f"{text}\n\n-- \nUnsubscribe from these emails: {link}\n",
            headers={"List-Unsubscribe": f"<{link}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"},
        )
    except Unavailable:
        # An outage of the mail server must not use up the recipient's daily limit.
        with context.db.write() as tx:
            mail.uncount(tx, address)
        raise


# --- unsubscribing ------------------------------------------------------------------------------------


def unsubscribe_link(context: Context, user_id: str, reason: Reason | None) -> str:
    token = context.signer.sign(_PURPOSE, f"{user_id} {reason or 'digest'}")
    return f"{context.settings.url}/v1/notifications/unsubscribe?token={token}"


def read_token(context: Context, token: str) -> tuple[str, str]:
    """Return the user of an unsubscribe link, and the emails to unsubscribe from: a reason or ``digest``. Raises
    BadRequest if the token is invalid."""
    payload = context.signer.verify(_PURPOSE, token)
    if payload is None:
        raise BadRequest("This link is invalid or incomplete. Copy the whole link from the email.")
    user_id, _, what = payload.partition(" ")
    return user_id, what


def unsubscribe(tx: Transaction, user_id: str, what: str) -> None:
    """Stop emailing these notifications to the user, and show them only in the app. Repeating this has no effect."""
    if find_user(tx, user_id) is None:
        return
    channels = store.list_channels(tx, [user_id])[user_id]
    wanted = {
        reason: "app" if reason == what or (what == "digest" and channel == "digest") else channel
        for reason, channel in channels.items()
    }
    changed = {reason: channel for reason, channel in wanted.items() if channel != DEFAULTS[reason]}
    store.set_channels(tx, user_id, changed)
