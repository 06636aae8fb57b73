"""Commands for backups, and for checking and rebuilding a server's data."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from octavo.cli.commands import DONE, FAILED, QUIET, Failure, command, option
from octavo.cli.opening import find_organization, load_settings, opened
from octavo.cli.output import progress, say, show, table, warn
from octavo.cli.values import parse_duration, parse_moment, parse_positive, parse_seconds
from octavo.errors import Damaged
from octavo.kit.texts import counted

if TYPE_CHECKING:
    from octavo.operations.admin.lookup import Kind

_DAY_MS = 24 * 60 * 60 * 1000


@command(
    "backup",
    option(
        "file",
        metavar="FILE|PLACE",
        help="file to write, or a folder or s3://bucket/prefix in which to write a file named after the current time",
    ),
    option(
        "--keep",
        type=parse_positive,
        metavar="DAYS",
        help="in a folder or bucket: delete backups older than this once the new one is verified",
    ),
    option(
        "--follow",
        action="store_true",
        help="SQLite only: keep running and back up every change to PLACE, so that any point in time can be"
        " restored",
    ),
    option(
        "--every",
        type=parse_seconds,
        metavar="SECONDS",
        help="with --follow: seconds between backups of changes (default: 5)",
    ),
    option(
        "--base-hours",
        type=parse_positive,
        metavar="HOURS",
        help="with --follow: hours between full backups (default: 24)",
    ),
    option(
        "--moments",
        type=parse_positive,
        metavar="DAYS",
        help="with --follow: days for which any point in time can be restored (default: 2); full backups are kept"
        " for --keep days (default: 14)",
    ),
)
def back_up(options: argparse.Namespace) -> int:
    """Back up the whole server into one file. The server keeps running."""
    from octavo.kit.work.backup_runs import recorded
    from octavo.operations.admin import backup
    from octavo.operations.admin.backup_storage import BackupPlace, is_bucket
    from octavo.operations.admin.kept_backups import back_up_into, is_place

    if options.follow:
        return _follow(options)
    if alone := [name for name in ("every", "base_hours", "moments") if getattr(options, name) is not None]:
        raise Failure(f"--{alone[0].replace('_', '-')} can only be used with --follow")
    name = options.file
    into_place = is_place(name)
    if options.keep is not None and not into_place:
        raise Failure("--keep can only be used with a backup folder or bucket")
    # The app shows this location to people who don't know the command's working directory.
    address = name if is_bucket(name) else str(Path(name).resolve())
    with opened(options) as context, progress(options, f"Backing up to {name}"):
        if into_place:
            place = BackupPlace(name, new=True)
            with recorded(context.db, address) as note_size:
                keep = None if options.keep is None else options.keep * _DAY_MS
                name, outcome = back_up_into(context, place, keep)
                note_size(next(each.size for each in place.list() if each.name == name))
            name = f"{place.address}/{name}"
        else:
            with recorded(context.db, address) as note_size:
                outcome = backup.back_up(context, Path(name))
                note_size(Path(name).stat().st_size)
    text = f"Backed up {counted(outcome.rows, 'row')} and {counted(outcome.files, 'file')} to {name}"
    return _show_outcome(options, outcome, text)


def _follow(options: argparse.Namespace) -> int:
    """Keep a backup up to date until SIGTERM or SIGINT is received."""
    import signal
    import threading

    from octavo.kit.observability import logs
    from octavo.operations.admin.backup_storage import BackupPlace
    from octavo.operations.admin.continuous_backup import Terms, follow

    given = {
        "every": options.every,
        "base_hours": options.base_hours,
        "moments": options.moments,
        "keep": options.keep,
    }
    terms = Terms(**{name: value for name, value in given.items() if value is not None})
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    with opened(options) as context:
        settings = context.settings
        logs.configure("json" if settings.log_format == "json" else "text", secrets=settings.secrets)
        follow(context, BackupPlace(options.file, new=True), terms, stop)
    return DONE


@command(
    "restore",
    option(
        "file",
        metavar="FILE|PLACE",
        help="backup to restore; in a folder or bucket, the newest backup is used",
    ),
    option("--list", action="store_true", help="list what the backup contains, and restore nothing"),
    option(
        "--organization",
        metavar="ORG",
        help="restore only this organization into this server: its ID, hostname, or title in the backup",
    ),
    option(
        "--space", metavar="SPACE", help="restore only this space, as a new one alongside the current one"
    ),
    option("--site", metavar="SITE", help="restore only this site, as a new, unpublished one"),
    option(
        "--org",
        metavar="ORG",
        help="with --space or --site: organization to restore it to, if it isn't the original one",
    ),
    option(
        "--until",
        type=parse_moment,
        metavar="TIME",
        help="for --follow backups: restore the state at this time, such as 2026-11-26T14:05 (UTC by default)",
    ),
    QUIET,
)
def restore(options: argparse.Namespace) -> int:
    """Restore a backup to an empty server, or one part of a backup to a running server."""
    from octavo.operations.admin import backup
    from octavo.operations.admin.backup_storage import BackupPlace
    from octavo.operations.admin.continuous_restore import holds_log, restore_followed
    from octavo.operations.admin.kept_backups import is_place, opened_backup

    kinds: tuple[Kind, ...] = ("organization", "space", "site")
    parts = {kind: getattr(options, kind) for kind in kinds if getattr(options, kind) is not None}
    if options.list or parts:
        return _restore_part(options, parts)
    if options.org is not None:
        raise Failure("--org can only be used with --space or --site")
    settings = load_settings(options)
    outcome: Any
    with progress(options, f"Restoring {options.file}") as advance:
        if is_place(options.file) and holds_log(place := BackupPlace(options.file)):
            outcome = restore_followed(settings, place, options.until, advance)
            text = f"Restored the state at {outcome.moment}, with {counted(outcome.files, 'file')}"
        elif options.until is not None:
            raise Failure("--until: requires a folder or bucket written by `octavo backup --follow`")
        else:
            with opened_backup(options.file) as file:
                outcome = backup.restore(settings, file, advance)
            text = f"Restored {counted(outcome.rows, 'row')} and {counted(outcome.files, 'file')}"
    return _show_outcome(options, outcome, text)


def _restore_part(options: argparse.Namespace, parts: dict[Kind, str]) -> int:
    """List the contents of a backup, or restore one part of it to this server."""
    from datetime import UTC, datetime

    from octavo.operations.admin.partial_restore import list_backup_parts, opened_copy, restore_part

    if len(parts) + options.list != 1:
        raise Failure("--list, --organization, --space, and --site can't be combined")
    if options.org is not None and ("organization" in parts or options.list):
        raise Failure("--org can only be used with --space or --site")
    with opened(options) as context, progress(options, f"Reading {options.file}") as advance:
        target = options.org and find_organization(context, options.org)
        with opened_copy(context.settings, options.file, options.until, advance) as copy:
            if options.list:
                listed = list_backup_parts(context, copy)
            else:
                ((kind, name),) = parts.items()
                moment = options.until and datetime.fromtimestamp(options.until / 1000, UTC)
                label = f"backup of {moment:%Y-%m-%d %H:%M}" if moment else "from backup"
                part = restore_part(
                    context, copy, kind, name, organization_id=target, label=label, progress=advance
                )
    if not options.list:
        show(options, part, f"Restored the {part.kind} {part.title}, {part.id}")
        return DONE
    rows = [
        (each.kind, each.id, each.title, each.organization, each.pages, each.changed_at, _here(each.present))
        for each in listed
    ]
    show(options, listed, table(("kind", "id", "title", "organization", "pages", "changed", "here"), rows))
    return DONE


def _here(present: bool) -> str:
    return "yes" if present else "no"


def _show_outcome(options: argparse.Namespace, outcome: Any, text: str) -> int:
    show(options, outcome, text)
    for digest in outcome.missing:
        warn(f"file {digest} is missing")
    return FAILED if outcome.missing else DONE


@command(
    "reindex",
    option("--org", metavar="ORG", help="rebuild only this organization: its ID, hostname, or title"),
    QUIET,
)
def reindex(options: argparse.Namespace) -> int:
    """Rebuild search, references, and counts. The server keeps running."""
    from octavo.core.links import app_hosts
    from octavo.operations.admin import reindexing

    with opened(options) as context, progress(options, "Reindexing spaces") as advance:
        organization = options.org and find_organization(context, options.org)
        hosts = app_hosts(context.settings.url)
        rebuilt = reindexing.reindex(context.db, hosts, organization, advance)
    text = f"Reindexed {counted(rebuilt.spaces, 'space')}, corrected {counted(rebuilt.counts, 'count')}"
    show(options, rebuilt, text)
    return DONE


@command(
    "verify",
    option(
        "file",
        nargs="?",
        metavar="FILE|PLACE",
        help="backup to check; in a folder or bucket, the newest backup is used (default: this server)",
    ),
    option(
        "--fresh",
        type=parse_duration,
        metavar="DURATION",
        help="for --follow backups: fail if the last change was backed up longer ago than this, such as 10m",
    ),
)
def verify(options: argparse.Namespace) -> int:
    """Check that a backup, or this server's data, is complete and undamaged."""
    with progress(options, f"Verifying {options.file or 'the data on this server'}"):
        findings = _find_damage(options)
    show(options, findings, "\n".join(findings) or "No problems found")
    return FAILED if findings else DONE


def _find_damage(options: argparse.Namespace) -> list[str]:
    from octavo.operations.admin.backup import list_damage, verify_backup, verify_installation
    from octavo.operations.admin.backup_storage import BackupPlace
    from octavo.operations.admin.continuous_restore import holds_log, verify_followed
    from octavo.operations.admin.kept_backups import is_place, opened_backup
    from octavo.operations.installation import describe_rebuild

    if options.file is None:
        try:
            with opened(options) as context:
                findings = verify_installation(context)
                if rebuild := describe_rebuild(context):
                    say(
                        f"{rebuild}. Data that hasn't been rebuilt yet wasn't checked. Pages remain"
                        " available."
                    )
                return findings
        except Damaged as damaged:
            # The database was already known to be damaged and wasn't opened, or PostgreSQL has just found
            # the damage.
            return list_damage(load_settings(options)) or [damaged.message]
    if is_place(options.file) and holds_log(place := BackupPlace(options.file)):
        return verify_followed(place, options.fresh)
    if options.fresh is not None:
        raise Failure("--fresh: requires a folder or bucket written by `octavo backup --follow`")
    with opened_backup(options.file) as file:
        return verify_backup(file)
