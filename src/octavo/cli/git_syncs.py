"""Commands for Git sync."""

from __future__ import annotations

import argparse
from typing import Any

from octavo.cli.commands import DONE, FAILED, CommandGroup, option
from octavo.cli.opening import opened
from octavo.cli.output import progress, say, show, table
from octavo.cli.values import parse_positive

GIT = CommandGroup("git", "Show and run Git syncs.")
_OWNER = option("space", metavar="SPACE", help="ID or title of the space, collection, or site")


@GIT.command(
    "status",
    _OWNER,
)
def show_sync(options: argparse.Namespace) -> int:
    """Show the Git sync of a space, collection, or site. The exit code is 1 if the sync failed or stopped."""
    from octavo.operations.admin.git_syncs import describe_sync
    from octavo.operations.admin.lookup import find_named

    with opened(options) as context:
        named = find_named(context, options.space, ["space", "collection", "site"], prefers="space")
        state = describe_sync(context, named)
    return _show_state(options, state)


@GIT.command(
    "sync",
    _OWNER,
    option(
        "--first",
        choices=("import", "export"),
        help="if the sync is waiting for a decision: start from the repository (import) or from Octavo (export)",
    ),
)
def sync(options: argparse.Namespace) -> int:
    """Sync a space, collection, or site now, and show the result."""
    from octavo.operations.admin.git_syncs import sync_now
    from octavo.operations.admin.lookup import find_named

    with opened(options) as context, progress(options, f"Syncing {options.space}"):
        named = find_named(context, options.space, ["space", "collection", "site"], prefers="space")
        state = sync_now(context, named, options.first)
    return _show_state(options, state)


def _show_state(options: argparse.Namespace, state: dict[str, Any]) -> int:
    spaces = state.get("spaces", [])
    shown = [(name, str(value)) for name, value in state.items() if not isinstance(value, list)]
    tables = [table(("what", "is"), shown)]
    if spaces:
        tables.append(table(tuple(spaces[0]), [tuple(one.values()) for one in spaces]))
    show(options, state, "\n\n".join(tables))
    if not options.json:
        for problem in state.get("problems", []):
            say(f"{problem['path']}: {problem['message']}")
    wrong = any(one["status"] in ("failed", "stopped") for one in [state, *spaces])
    return FAILED if wrong else DONE


@GIT.command(
    "log",
    _OWNER,
    option(
        "--limit",
        type=parse_positive,
        default=20,
        help="maximum number of entries to list (default: %(default)s)",
    ),
)
def list_syncs(options: argparse.Namespace) -> int:
    """List a space's most recent syncs."""
    from octavo.operations.admin import git_syncs
    from octavo.operations.admin.lookup import find_named

    with opened(options) as context:
        space = find_named(context, options.space, ["space"])
        runs = git_syncs.list_syncs(context, space, options.limit)
    columns = ("startedAt", "status", "cause", "imported", "exported", "conflicts", "commit", "message")
    headings = ("when", "status", "cause", "in", "out", "conflicts", "commit", "message")
    show(options, runs, table(headings, [[str(run[name])[:80] for name in columns] for run in runs]))
    if not options.json:
        for problem in runs[0]["problems"] if runs else ():
            place = f"{problem['path']}:{problem['line']}" if problem["line"] else problem["path"]
            say(f"{place}: {problem['message']}")
    return DONE
