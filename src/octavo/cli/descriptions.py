"""Commands for API descriptions."""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

from octavo.cli.commands import DONE, FAILED, WRONG_USAGE, CommandGroup, Failure, command, option
from octavo.cli.output import show, table, warn

OPENAPI = CommandGroup("openapi", "Compare API specifications.")


@command(
    "operations",
    option("name", nargs="?", help="show only the operation with this ID"),
    option(
        "--missing",
        action="store_true",
        help="show operations that are in the specification but not in the code",
    ),
    option(
        "--spec",
        type=Path,
        default=Path("../shared/spec/operations.csv"),
        help="operations table of the specification (default: %(default)s)",
    ),
)
def list_operations(options: argparse.Namespace) -> int:
    """List the API operations."""
    from octavo.kit.http.operation import TABLE
    from octavo.operations.installation import load_packages

    load_packages()
    if options.missing:
        try:
            with options.spec.open(newline="") as lines:
                wanted = [(row["operation_id"], row["method"], row["path"]) for row in csv.DictReader(lines)]
        except (OSError, KeyError) as error:
            raise Failure(f"{options.spec}: {error}") from None
        rows = [(*entry, "", "") for entry in wanted if entry[0] not in TABLE]
    else:
        rows = [
            (o.id, o.method, o.path, str(getattr(o.needs, "value", "public")), o.source)
            for o in TABLE.values()
            if options.name is None or options.name == o.id
        ]
        if options.name is not None and not rows:
            raise Failure(f"there is no operation named {options.name!r}")
    names = ("id", "method", "path", "permission", "source")
    show(options, [dict(zip(names, row, strict=True)) for row in rows], table(names, rows))
    return DONE


@OPENAPI.command(
    "diff",
    option("old", type=Path, metavar="OLD", help="old OpenAPI file, or a .zip of several files"),
    option("new", type=Path, metavar="NEW", help="new OpenAPI file, or a .zip of several files"),
)
def compare_specifications(options: argparse.Namespace) -> int:
    """List changes between two API specifications. The exit code is 1 if there are breaking changes."""
    import msgspec

    from octavo.sites.openapi.comparing import compare
    from octavo.sites.openapi.compiling import compile_description
    from octavo.sites.openapi.description import ApiDescription

    found = []
    for path in (options.old, options.new):
        try:
            data = path.read_bytes()
        except OSError as unreadable:
            # Exit code 1 means breaking changes, so an unreadable file must have a different one.
            warn(f"{path}: {unreadable.strerror}")
            return WRONG_USAGE
        compiled = compile_description(data)
        for error in compiled.errors:
            where = f"{path}:{error.line}" if error.line else str(path)
            warn(f"{where}: {error.pointer}: {error.message}")
        if compiled.errors:
            return WRONG_USAGE
        found.append(ApiDescription(msgspec.json.decode(compiled.document)))
    changes = compare(*found)
    rows = [(c.kind, "yes" if c.breaking else "", c.operation, c.place, c.message) for c in changes]
    show(options, changes, table(("change", "breaks", "operation", "place", "what"), rows))
    return FAILED if any(change.breaking for change in changes) else DONE
