"""Start and end maintenance and announcements, and send reminders that maintenance mode is still on.

The same functions serve the API and the command line. Every change is recorded in the audit log of each
organization, because it affects all of them.
"""

from __future__ import annotations

import logging

from octavo.errors import BadRequest, OctavoError
from octavo.kit.clock import DAY, HOUR, iso, now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.net import mail
from octavo.kit.work.jobs import job, schedule
from octavo.kit.work.maintenance import (
    NoticeKind,
    ServerNotice,
    find_maintenance,
    put_notice,
    remove_notice,
)
from octavo.organization.access.auditing import Stranger, audit_everywhere
from octavo.settings import Settings

from .accounts import By
from .store import list_operators

log = logging.getLogger(__name__)

_LOOK_EVERY = 15 * 60.0
"""Number of seconds between two checks of whether maintenance was left on."""
_FORGOTTEN = 4 * HOUR
"""Time in milliseconds after which maintenance without an announced end counts as left on."""
_REMIND_EVERY = DAY


def begin(
    tx: Transaction,
    context: Context,
    by: By,
    kind: NoticeKind,
    *,
    message: str,
    starts_at: int | None,
    ends_at: int | None,
) -> ServerNotice:
    """Start or schedule maintenance or an announcement, replacing the current maintenance or announcement.

    ``starts_at``: the start; None to start immediately. Times are in milliseconds. Raises BadRequest if the times
    contradict each other, or if an announcement has no text.
    """
    moment = now()
    starts = moment if starts_at is None else starts_at
    text = message.strip()
    if kind == "announcement" and not text:
        raise BadRequest("message: this field is required")
    if ends_at is not None and ends_at <= max(starts, moment):
        raise BadRequest("endsAt: must be in the future and after the start")
    notice = ServerNotice(kind, text, starts, ends_at)
    put_notice(tx, notice, None if isinstance(by, Stranger) else by.user_id)
    after = {"message": text, "startsAt": iso(starts), **({"endsAt": iso(ends_at)} if ends_at else {})}
    audit_everywhere(tx, by, f"{kind}.planned" if starts > moment else f"{kind}.started", after=after)
    tx.after_commit(context.gate.forget)
    return notice


def end(tx: Transaction, context: Context, by: By, kind: NoticeKind) -> bool:
    """End or cancel maintenance or an announcement. Return False if there is none."""
    if not remove_notice(tx, kind):
        return False
    audit_everywhere(tx, by, f"{kind}.ended")
    tx.after_commit(context.gate.forget)
    return True


def forgotten_since(notice: ServerNotice) -> int | None:
    """Return the time at which maintenance should have ended, in milliseconds; None if it isn't overdue."""
    due = notice.starts_at + _FORGOTTEN if notice.ends_at is None else notice.ends_at
    return due if notice.is_on and due <= now() else None


@job("remindOfMaintenance", bound="one email for each server administrator", in_maintenance=True)
def remind(context: Context) -> None:
    """Remind the server administrators, once a day, that maintenance was left on."""
    with context.db.write() as tx:
        notice = find_maintenance(tx)
        if notice is None or forgotten_since(notice) is None:
            return
        if notice.reminded_at is not None and notice.reminded_at > now() - _REMIND_EVERY:
            return
        tx.run("UPDATE server_notices SET reminded_at = :now WHERE kind = 'maintenance'", now=now())
        addresses = list_operators(tx, context.settings)
    log.error("maintenance mode was left on", extra={"since": iso(notice.starts_at)})
    for address in addresses if context.settings.smtp_url else []:
        try:
            _send_reminder(context.settings, address, notice)
        except OctavoError as error:
            # The log has the reminder, and another administrator may get the email.
            log.warning("a maintenance reminder couldn't be sent: %s", error.message)


schedule("remindOfMaintenance", _LOOK_EVERY, "remindOfMaintenance")


def _send_reminder(settings: Settings, address: str, notice: ServerNotice) -> None:
    planned = (
        f"Maintenance was scheduled to end at {iso(notice.ends_at)[:16]} UTC.\n"
        if notice.ends_at is not None
        else ""
    )
    mail.send(
        settings,
        to=address,
        subject=f"{settings.name} is still in maintenance mode",
        text=(
            f"{settings.url} has been read-only since {iso(notice.starts_at)[:16]} UTC.\n{planned}\n"
            f"Turn maintenance mode off at {settings.url}/installation, or run `octavo maintenance off`.\n"
        ),
    )
