"""Operations on maintenance mode and announcements. Anyone who is signed in can get them, and server administrators
can change them."""

from __future__ import annotations

from octavo.kit.http.operation import Area, Call
from octavo.kit.work.maintenance import NoticeKind, list_notices
from octavo.organization.access.accounts import is_operator
from octavo.organization.access.authorization import SignedIn
from octavo.organization.access.roles import Can
from octavo.organization.access.wire import parse_time

from . import maintaining
from .authorization import OperatorAccess
from .wire import ServerNoticeInput, ServerNotices, present_notices

operation = Area("access").operation


@operation("getServerNotices", "GET", "/installation/notices", needs=Can.OWN_ACCOUNT)
def get_notices(call: Call, caller: SignedIn) -> ServerNotices:
    """Get the maintenance notice and the announcement that everyone on the server sees. Server administrators also
    get an announcement that hasn't started yet."""
    with call.db.read() as tx:
        operator = is_operator(tx, call.settings, caller.user_id)
        return present_notices(list_notices(tx), to_operator=operator)


@operation("startMaintenance", "PUT", "/installation/maintenance", needs=Can.OPERATE, in_maintenance=True)
def start_maintenance(call: Call, operator: OperatorAccess, body: ServerNoticeInput) -> ServerNotices:
    """Turn on maintenance mode, or schedule it. Once it starts, the app and the API are read-only, and changes return
    503 with the reason `maintenance`. Published sites stay online. Maintenance mode ends only when someone turns it
    off; `endsAt` is only for the notice."""
    return _begin(call, operator, "maintenance", body)


@operation("endMaintenance", "DELETE", "/installation/maintenance", needs=Can.OPERATE, in_maintenance=True)
def end_maintenance(call: Call, operator: OperatorAccess) -> None:
    """Turn off maintenance mode, or cancel scheduled maintenance."""
    with call.db.write() as tx:
        maintaining.end(tx, call.context, operator.actor, "maintenance")


@operation("setAnnouncement", "PUT", "/installation/announcement", needs=Can.OPERATE, in_maintenance=True)
def set_announcement(call: Call, operator: OperatorAccess, body: ServerNoticeInput) -> ServerNotices:
    """Show an announcement to everyone who is signed in, until `endsAt` or until it is removed."""
    return _begin(call, operator, "announcement", body)


@operation(
    "removeAnnouncement", "DELETE", "/installation/announcement", needs=Can.OPERATE, in_maintenance=True
)
def remove_announcement(call: Call, operator: OperatorAccess) -> None:
    """Remove the announcement."""
    with call.db.write() as tx:
        maintaining.end(tx, call.context, operator.actor, "announcement")


def _begin(call: Call, operator: OperatorAccess, kind: NoticeKind, body: ServerNoticeInput) -> ServerNotices:
    starts_at, ends_at = parse_time("startsAt", body.starts_at), parse_time("endsAt", body.ends_at)
    with call.db.write() as tx:
        maintaining.begin(
            tx,
            call.context,
            operator.actor,
            kind,
            message=body.message,
            starts_at=starts_at,
            ends_at=ends_at,
        )
        return present_notices(list_notices(tx), to_operator=True)
