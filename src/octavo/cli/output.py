"""Command output: values as JSON or as text, tables, notes on standard error, and progress bars."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

_SEAM = re.compile(r"_|(?<=[a-z])(?=[A-Z])")


def show(options: argparse.Namespace, value: object, text: str | Callable[[], str]) -> None:
    """Print a value as JSON if ``--json`` is set. Otherwise, print ``text``, which is a string or a function that
    returns one."""
    if options.json:
        print_json(value)
    else:
        print(text if isinstance(text, str) else text())


def print_json(value: object) -> None:
    """Print a value as one line of JSON. The value can contain structs."""
    import msgspec

    is_unicode = (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    print(json.dumps(msgspec.to_builtins(value), ensure_ascii=not is_unicode))


def table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return columns of text under headings, with ``-`` for None.

    >>> print(table(["email", "lastSeenAt", "disabled"], [["a@example.org", None, True]]))
    EMAIL          LAST SEEN AT  DISABLED
    a@example.org  -             yes
    """
    lines = [[_SEAM.sub(" ", heading).upper() for heading in headings]]
    lines += [[_cell(value) for value in row] for row in rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(headings))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def warn(text: str) -> None:
    """Print a warning on standard error."""
    say(f"octavo: {text}")


def say(line: str) -> None:
    """Print a line to standard error. The line isn't part of the command's result."""
    print(line, file=sys.stderr, flush=True)


@contextmanager
def progress(options: argparse.Namespace, what: str) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar on standard error. The yielded function takes the number of completed items and the
    total. Until this function is called, the bar is indeterminate. Without a ``--quiet`` option, the bar is shown
    only on a terminal."""
    if options.quiet if "quiet" in options else not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[count]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(what, total=None, count="")
        yield lambda done, total: bar.update(task, completed=done, total=total, count=f"{done}/{total}")
