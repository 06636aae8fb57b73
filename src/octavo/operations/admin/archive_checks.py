"""Validate an organization's archive before importing it.

Rows must have the right format, and may refer only to one another and to people, Markdown sources, and files in the
archive. Archives are untrusted: their content must not affect any data outside the new organization, so any other
reference is rejected with its file, line, and column.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from octavo.errors import BadRequest
from octavo.kit.db.rows import RowDict, Schema
from octavo.kit.db.tables import TABLES, Column, Table, person

USER = ("id", "email", "display_name", "photo_url", "kind", "created_at")
"""Columns of an account that are exported."""

_SHORT, _LONG = 4_000, 16 * 1024 * 1024
_ID = re.compile(r"[A-Za-z0-9_.:@-]{1,200}")
_RANK = re.compile(r"[0-9A-Za-z]*")
_HASH = re.compile(r"[0-9a-f]{64}")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")


class Line(NamedTuple):
    """Row with its location in the archive, which is used in messages."""

    path: Path
    number: int
    row: RowDict

    def refuse(self, column: str, why: str) -> BadRequest:
        return BadRequest(f"{self.path}:{self.number}: {self.path.stem}.{column}: {why}")


Rows = dict[str, list[Line]]
"""Rows with their locations, by table."""


def read_rows(path: Path) -> list[Line]:
    """Read the rows of a file. Raises BadRequest if a row is invalid."""
    if not path.exists():
        return []
    found = []
    with path.open("rb") as lines:
        number = 0
        while line := lines.readline(2 * _LONG):
            number += 1
            if len(line) == 2 * _LONG:
                raise BadRequest(f"{path}:{number}: the line must be at most {2 * _LONG} bytes long")
            try:
                found.append(Line(path, number, msgspec.json.decode(line, type=dict[str, str | int | None])))
            except (msgspec.MsgspecError, RecursionError) as error:
                raise BadRequest(f"{path}:{number}: {error}") from None
    return found


def naming_columns(table: Table, schema: Schema) -> list[Column]:
    """Return a table's columns that refer to other data: declared references and foreign keys."""
    declared = {column.name for column in table.columns}
    keys = [
        person(column) if other == "users" else Column(column, (f"{other}.id",))
        for column, other in schema.refers
        if column not in declared
    ]
    return [*table.columns, *keys]


def check_rows(rows: Rows, schemas: Mapping[str, Schema], organization_id: str) -> None:
    """Validate the whole archive, except for the bytes of Markdown sources and files. Raises BadRequest with the
    first problem found."""
    if [line.row.get("id") for line in rows["organizations"]] != [organization_id]:
        raise BadRequest(
            "rows/organizations.jsonl: must contain exactly one row, for the organization"
            f" {organization_id!r}"
        )
    for name, lines in rows.items():
        seen: set[tuple[Any, ...]] = set()
        for line in lines:
            _check_shape(line, TABLES[name], schemas[name])
            key = tuple(line.row.get(column) for column in schemas[name].key)
            if key in seen:
                raise line.refuse(", ".join(schemas[name].key), f"{key!r} isn't unique")
            seen.add(key)
        if schemas[name].parent is not None:
            _check_circles(lines, schemas[name])
    _check_people(rows["users"])
    named: dict[str, set[Any]] = {}
    for name, lines in rows.items():
        if name == "users":
            continue
        for column in naming_columns(TABLES[name], schemas[name]):
            for line in lines:
                for value in _read(line, column):
                    _check_name(line, column, value, rows, named)


def _check_shape(line: Line, table: Table, schema: Schema) -> None:
    allowed = USER if table.name == "users" else schema.columns
    for column, value in line.row.items():
        if column not in allowed:
            raise line.refuse(
                column,
                "this column is unknown, because a newer version of Octavo created the archive. Upgrade this"
                " server, then import the archive again.",
            )
        if value is None:
            if column in schema.required:
                raise line.refuse(column, "must not be null")
        elif column in schema.numbers:
            if not isinstance(value, int) or not -1 <= value <= schema.numbers[column]:
                raise line.refuse(column, f"must be a number that is at most {schema.numbers[column]}")
        else:
            _check_text(line, table, schema, column, value)
    needed = USER[:3] if table.name == "users" else schema.required
    if missing := sorted(column for column in needed if column not in line.row):
        raise line.refuse(missing[0], "is required")


def _check_text(line: Line, table: Table, schema: Schema, column: str, value: object) -> None:
    if not isinstance(value, str):
        raise line.refuse(column, f"must be text, not {value!r}")
    most = _LONG if column in table.json or column in table.long else _SHORT
    if len(value) > most:
        raise line.refuse(column, f"must be at most {most:,} characters long, not {len(value):,}")
    if "\0" in value:
        raise line.refuse(column, "must not contain NUL characters")
    if column == "id" and not _ID.fullmatch(value):
        raise line.refuse(column, f"must be an ID, not {value!r}")
    if column == "rank" and not _RANK.fullmatch(value):
        raise line.refuse(column, f"must be a sort key of letters and digits, not {value!r}")
    if column in table.values and value not in table.values[column]:
        raise line.refuse(column, f"must be one of {', '.join(table.values[column])}, not {value!r}")
    if column in table.json:
        try:
            msgspec.json.decode(value, type=table.json[column])
        except (msgspec.MsgspecError, RecursionError) as error:
            raise line.refuse(column, str(error)) from None


def check_states(rows: Rows) -> None:
    """Check that each space has its main branch, that each branch has its latest revision, and that no page in any
    revision is its own ancestor.

    Raises BadRequest if a check fails.
    """
    branches = {line.row["id"]: line.row for line in rows["branches"]}
    revisions = {line.row["id"]: line.row for line in rows["revisions"]}
    for line in rows["spaces"]:
        main = branches[line.row["main_branch"]]
        if (main["space_id"], main["revision"]) != (line.row["id"], line.row["main_revision"]):
            raise line.refuse(
                "main_branch", "must be a branch of this space whose revision is the space's `main_revision`"
            )
    for line in rows["branches"]:
        head = revisions[line.row["revision"]]
        if (head["branch_id"], head["sequence"]) != (line.row["id"], line.row["sequence"]):
            raise line.refuse(
                "revision", "must be the revision of this branch that has the branch's `sequence`"
            )
        base = line.row.get("base_branch")
        if base is not None and branches[base]["space_id"] != line.row["space_id"]:
            raise line.refuse("base_branch", "must be a branch of the same space")
    pages: dict[str, list[RowDict]] = {}
    for line in rows["page_versions"]:
        pages.setdefault(line.row["branch_id"], []).append(line.row)
    ever: dict[str, dict[str, set[str]]] = {}
    for branch_id, versions in pages.items():
        above = ever.setdefault(branches[branch_id]["space_id"], {})
        for row in versions:
            above.setdefault(row["page_id"], set()).add(row.get("parent_id") or "")
    # Cycles are only possible if a page was moved under one of its own descendants at some point.
    moved = {space_id for space_id, above in ever.items() if _has_circle(above)}
    for line in rows["revisions"]:
        branch = branches[line.row["branch_id"]]
        if branch["space_id"] not in moved:
            continue
        state: dict[str, set[str]] = {}
        for layer, sequence in (
            (branch.get("base_branch"), line.row.get("base_sequence")),
            (branch["id"], line.row["sequence"]),
        ):
            for row in pages.get(layer or "", []):
                if row["from_seq"] <= (sequence or 0) < row["to_seq"]:
                    state[row["page_id"]] = {row.get("parent_id") or ""}
        if _has_circle(state):
            raise line.refuse("id", "the pages of this revision form a cycle")


def _has_circle(above: Mapping[str, set[str]]) -> bool:
    left = {name: {other for other in others if other in above} for name, others in above.items()}
    below: dict[str, list[str]] = {}
    for name, others in left.items():
        for other in others:
            below.setdefault(other, []).append(name)
    free = [name for name, others in left.items() if not others]
    while free:
        name = free.pop()
        del left[name]
        for other in below.get(name, ()):
            left[other].discard(name)
            if not left[other]:
                free.append(other)
    return bool(left)


def _check_circles(lines: list[Line], schema: Schema) -> None:
    above = {line.row["id"]: {line.row.get(schema.parent or "") or ""} for line in lines}
    if _has_circle(above):
        raise lines[0].refuse(schema.parent or "", "some rows are their own ancestors")


def _check_people(lines: list[Line]) -> None:
    emails: set[str] = set()
    for line in lines:
        email = line.row.get("email")
        if not isinstance(email, str) or email != email.lower() or not _EMAIL.fullmatch(email):
            raise line.refuse("email", f"must be an email address in lowercase, not {email!r}")
        if email in emails:
            raise line.refuse("email", f"{email!r} isn't unique")
        emails.add(email)


def _read(line: Line, column: Column) -> Iterator[str]:
    try:
        yield from column.read(line.row)
    except ValueError as error:
        raise line.refuse(column.name, str(error)) from None


def _check_name(line: Line, column: Column, value: str, rows: Rows, named: dict[str, set[object]]) -> None:
    if column.names in (("text",), ("file",)):
        if not _HASH.fullmatch(value):
            raise line.refuse(column.name, f"must be a SHA-256 hash, not {value!r}")
        return
    for name in column.names:
        if name not in named:
            table, _, key = name.partition(".")
            named[name] = {other.row.get(key) for other in rows[table]}
        if value in named[name]:
            return
    what = " or ".join(name.partition(".")[0] for name in column.names)
    raise line.refuse(column.name, f"{value!r} isn't one of the {what} in this archive")
