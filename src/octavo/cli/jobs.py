"""Commands for background jobs."""

from __future__ import annotations

import argparse
import json

from octavo.cli.commands import DONE, CommandGroup, Failure, option
from octavo.cli.opening import opened
from octavo.cli.output import show, table
from octavo.cli.values import parse_positive
from octavo.kit.texts import counted

JOBS = CommandGroup("jobs", "List, show, and retry background jobs.")


@JOBS.command(
    "list",
    option("--state", choices=("parked", "running", "waiting"), help="show only jobs in this state"),
    option("--kind", help="show only jobs of this kind"),
    option(
        "--limit",
        type=parse_positive,
        default=100,
        help="maximum number of entries to list (default: %(default)s)",
    ),
)
def list_jobs(options: argparse.Namespace) -> int:
    """List jobs. Failed jobs come first."""
    from octavo.operations.admin import job_list

    with opened(options) as context:
        found = job_list.list_jobs(context, state=options.state, kind=options.kind, limit=options.limit)
    names = ("id", "kind", "state", "organization", "attempts", "runAt", "problem")
    headings = [name.replace("runAt", "run_at") for name in names]
    lines = [table(headings, [[row[name] for name in names] for row in found.jobs])]
    if found.count > len(found.jobs):
        lines.append(
            f"Showing {len(found.jobs)} of {counted(found.count, 'job')}. Use --limit to show more, or --state and"
            " --kind to filter."
        )
    for consumer, count in found.events.items():
        lines.append(f"{counted(count, 'event')} pending for {consumer}")
    show(options, found, "\n".join(lines))
    return DONE


@JOBS.command("show", option("id", help="ID of the job, as listed"))
def show_job(options: argparse.Namespace) -> int:
    """Show a job with its payload and last error."""
    from octavo.operations.admin.job_list import get_job

    with opened(options) as context:
        found = get_job(context, options.id)
    lines = []
    for name, value in found.items():
        if name != "problem":
            text = json.dumps(value, ensure_ascii=False) if name == "payload" else value
            lines.append(f"{name:12}  {'-' if text is None else text}")
    show(options, found, "\n".join(lines))
    return DONE


@JOBS.command(
    "retry",
    option("id", nargs="*", help="IDs of the jobs, as listed"),
    option("--all", action="store_true", help="retry all failed jobs"),
    option("--kind", help="with --all: retry only jobs of this kind"),
)
def retry_jobs(options: argparse.Namespace) -> int:
    """Run failed jobs again."""
    from octavo.operations.admin import job_list

    if bool(options.id) == options.all:
        raise Failure("specify the IDs of failed jobs, or use --all")
    if options.kind and not options.all:
        raise Failure("--kind can only be used with --all")
    with opened(options) as context:
        count = job_list.retry_jobs(context, options.id or None, options.kind)
    show(options, {"retried": count}, f"{counted(count, 'job')} will run again")
    return DONE
