"""Commands for maintenance mode and announcements."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from octavo.cli.commands import DONE, CommandGroup, Failure, option
from octavo.cli.opening import opened
from octavo.cli.output import show, table
from octavo.cli.values import parse_moment
from octavo.errors import BadRequest

if TYPE_CHECKING:
    from octavo.kit.work.maintenance import NoticeKind

MAINTENANCE = CommandGroup("maintenance", "Make the server read-only, and notify everyone.")
ANNOUNCEMENT = CommandGroup("announcement", "Show an announcement to everyone.")

_START = option(
    "--start",
    type=parse_moment,
    metavar="TIME",
    help="start time, such as 2026-11-26T14:05 (UTC by default); without it, maintenance starts now",
)


@MAINTENANCE.command(
    "on",
    option("--message", default="", help="text shown to everyone, such as the reason"),
    _START,
    option(
        "--end",
        type=parse_moment,
        metavar="TIME",
        help="announced end; maintenance mode stays on until you turn it off",
    ),
)
def start_maintenance(options: argparse.Namespace) -> int:
    """Turn on maintenance mode, or schedule it. The app and the API are read-only until you turn it off."""
    return _begin(options, "maintenance")


@MAINTENANCE.command("off")
def end_maintenance(options: argparse.Namespace) -> int:
    """Turn off maintenance mode, or cancel scheduled maintenance."""
    return _end(options, "maintenance", "Maintenance mode turned off")


@MAINTENANCE.command("show")
def show_notices(options: argparse.Namespace) -> int:
    """Show active and scheduled maintenance and announcements."""
    return _show(options)


@ANNOUNCEMENT.command(
    "set",
    option("message", help="text shown to everyone"),
    _START,
    option(
        "--end",
        type=parse_moment,
        metavar="TIME",
        help="time when the announcement disappears (default: when you remove it)",
    ),
)
def set_announcement(options: argparse.Namespace) -> int:
    """Show an announcement to everyone, replacing the current announcement."""
    return _begin(options, "announcement")


@ANNOUNCEMENT.command("remove")
def remove_announcement(options: argparse.Namespace) -> int:
    """Remove the announcement."""
    return _end(options, "announcement", "Announcement removed")


def _begin(options: argparse.Namespace, kind: NoticeKind) -> int:
    from octavo.operations.admin import maintaining
    from octavo.organization.access.auditing import Stranger

    with opened(options) as context, context.db.write() as tx:
        try:
            maintaining.begin(
                tx,
                context,
                Stranger("command line"),
                kind,
                message=options.message,
                starts_at=options.start,
                ends_at=options.end,
            )
        except BadRequest as error:  # The command uses different names than the API.
            raise Failure(error.message.replace("endsAt:", "--end:")) from None
    return _show(options)


def _end(options: argparse.Namespace, kind: NoticeKind, done: str) -> int:
    from octavo.operations.admin import maintaining
    from octavo.organization.access.auditing import Stranger

    with opened(options) as context, context.db.write() as tx:
        was_on = maintaining.end(tx, context, Stranger("command line"), kind)
    show(
        options, {"ended": was_on}, done if was_on else "No maintenance or announcement was active or planned"
    )
    return DONE


def _show(options: argparse.Namespace) -> int:
    from octavo.kit.clock import iso
    from octavo.kit.work.maintenance import list_notices
    from octavo.operations.admin.wire import present_notices

    with opened(options) as context, context.db.read() as tx:
        found = list_notices(tx)
        presented = present_notices(found, to_operator=True)
    rows = [
        (
            each.kind,
            "on" if each.is_on else "planned",
            iso(each.starts_at),
            each.ends_at and iso(each.ends_at),
            each.message,
        )
        for each in found.values()
    ]
    show(
        options,
        presented,
        table(("kind", "state", "start", "end", "message"), rows)
        if rows
        else "No maintenance or announcement is active or planned",
    )
    return DONE
