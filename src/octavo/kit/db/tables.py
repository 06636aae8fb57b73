"""Declarations of tables. Each table is declared once, by the package that owns it.

Backups, restores, organization archives, and the verification of a server rely on these declarations, and so does the
code that deletes unused Markdown sources and files, purges spaces, and ends memberships. A test requires a declaration
for every table, and for every column that contains a hash or a person's ID.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct

from octavo.settings import Settings

from .database import Transaction

Content = Literal["text", "file"]
"""Kinds of content that are stored only once and identified by their hash."""

_SPACES_OF_ORGANIZATION = "(SELECT id FROM spaces WHERE organization_id = :org)"


class Column(Struct, frozen=True):
    """Column whose values refer to other data.

    ``names``: the possible targets of the column: ``text`` or ``file``, identified by a hash, or one or more
    ``TABLE.COLUMN`` with the same value. ``when``: another column and the values for which this column is a
    reference. ``path``: the keys that lead to the references in a JSON value, including all items of lists; empty
    if the value is a list of references.
    """

    name: str
    names: tuple[str, ...]
    when: tuple[str, tuple[str, ...]] | None = None
    path: tuple[str, ...] | None = None

    @property
    def condition(self) -> str:
        """Return the SQL condition for rows that refer to other data."""
        found = f"{self.name} IS NOT NULL AND {self.name} <> ''"
        if self.when is not None:
            found += f" AND {self.when[0]} IN ({', '.join(_quoted(value) for value in self.when[1])})"
        return found

    @property
    def is_person(self) -> bool:
        return self.names in (("users.id",), ("members.user_id",))

    def read(self, row: Mapping[str, Any]) -> list[str]:
        """Return the references of a row. Raises ValueError if the JSON is in a different format."""
        value = row.get(self.name)
        if not value or (self.when is not None and row.get(self.when[0]) not in self.when[1]):
            return []
        if self.path is None:
            return [value]
        return [found for holder, key in _places(value, self.path) for found in [holder[key]]]

    def rename(self, row: dict[str, Any], new: Callable[[str], str]) -> None:
        """Replace every reference in a row with ``new(reference)``."""
        if not self.read(row):
            return
        if self.path is None:
            row[self.name] = new(row[self.name])
            return
        data: list[Any] = [msgspec.json.decode(row[self.name])]
        for holder, key in list(_walk(data, 0, self.path)):
            holder[key] = new(holder[key])
        row[self.name] = msgspec.json.encode(data[0]).decode()


class Count(Struct, frozen=True):
    """Column that always contains a count. ``query``: the SQL query that computes the count for a row of ``table``."""

    table: str
    column: str
    query: str


class Table(Struct, frozen=True, kw_only=True):
    """Declaration of a table.

    ``of_space``: the SQL condition for rows that belong to spaces; ``{spaces}`` in it becomes a parenthesized list of
    spaces. ``of_organization``: the SQL condition for rows that belong to the organization ``:org``, unless these are
    exactly the rows of its spaces. ``derived``: whether the rows are derived from other rows, and therefore rebuilt
    instead of backed up. ``stays``: the reason rows aren't exported with an organization; empty if they are.
    ``columns``: the references without a foreign key in the schema. ``membership``: the column with the ID of a person;
    a row is deleted when this person leaves the organization. ``values``: by column, all values that the column can
    have, other than NULL. ``json``: the JSON columns, with the types that they are decoded to. ``long``: the text
    columns without a length limit. ``secrets``: the columns with hashes of secrets. ``counts``: the columns of any
    table that count rows of this table. ``many``: whether a space can have so many rows that they are deleted in
    batches before the space is purged. ``check``: a function that checks whether a row in an archive could also be
    created through this server's API. If that isn't possible because of the server's URLs or data, it raises BadRequest
    or Conflict with a message that starts with the column.
    """

    name: str
    of_space: str = ""
    of_organization: str = ""
    derived: bool = False
    stays: str = ""
    columns: tuple[Column, ...] = ()
    membership: str | None = None
    values: Mapping[str, tuple[str, ...]] = {}
    json: Mapping[str, Any] = {}
    long: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    counts: tuple[Count, ...] = ()
    many: bool = False
    check: Callable[[Transaction, Settings, Mapping[str, Any]], None] | None = None

    @property
    def rows_of_organization(self) -> str:
        """Return the SQL condition for the rows of the organization ``:org``; empty if no rows belong to an
        organization."""
        return self.of_organization or self.of_space.format(spaces=_SPACES_OF_ORGANIZATION)

    @property
    def rows_of_space(self) -> str:
        """Return the SQL condition for the rows of the space ``:space``; empty if no rows belong to a
        space."""
        return self.of_space.format(spaces="(:space)")

    @property
    def is_exported(self) -> bool:
        """Return whether the table's rows are part of an exported organization."""
        return not self.derived and not self.stays


TABLES: dict[str, Table] = {}
"""All tables. The list is complete after the packages are loaded."""


def declare(*tables: Table) -> None:
    for table in tables:
        if table.name in TABLES:
            raise ValueError(f"the table {table.name!r} is declared twice")
        if table.is_exported and not table.rows_of_organization:
            raise ValueError(
                f"{table.name}: declare which rows belong to an organization, or why they are kept"
            )
        TABLES[table.name] = table


# --- columns --------------------------------------------------------------------------------------------


def text(name: str, **when: tuple[str, ...]) -> Column:
    """Declare a column that contains hashes of Markdown sources. ``when``: another column and the values for which the
    column contains a hash. The column needs an index."""
    return _column(name, ("text",), when)


def file(name: str, **when: tuple[str, ...]) -> Column:
    """Declare a column that contains hashes of files. The column needs an index."""
    return _column(name, ("file",), when)


def person(name: str, path: tuple[str, ...] | None = None, **when: tuple[str, ...]) -> Column:
    """Declare a column that contains IDs of people who have or had an account."""
    return _column(name, ("users.id",), when, path)


def member(name: str, **when: tuple[str, ...]) -> Column:
    """Declare a column that contains IDs of members of the organization, to whom the rows grant permissions."""
    return _column(name, ("members.user_id",), when)


def row(name: str, *names: str, path: tuple[str, ...] | None = None, **when: tuple[str, ...]) -> Column:
    """Declare a column that contains IDs of rows in one of these tables, or values of ``TABLE.COLUMN``."""
    return _column(name, tuple(name if "." in name else f"{name}.id" for name in names), when, path)


def _column(
    name: str,
    names: tuple[str, ...],
    when: Mapping[str, tuple[str, ...]],
    path: tuple[str, ...] | None = None,
) -> Column:
    condition = next(iter(when.items()), None)
    return Column(name, names, condition, path)


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _places(value: str, path: tuple[str, ...]) -> Iterator[tuple[Any, Any]]:
    try:
        return iter(list(_walk([msgspec.json.decode(value)], 0, path)))
    except msgspec.DecodeError as error:
        raise ValueError(f"not valid JSON: {error}") from None


def _walk(holder: Any, key: Any, path: tuple[str, ...]) -> Iterator[tuple[Any, Any]]:
    """Yield the positions (container and key) of the strings at a path of keys, including all items of lists."""
    value = holder[key]
    if isinstance(value, list):
        for index in range(len(value)):
            yield from _walk(value, index, path)
    elif path:
        if isinstance(value, dict) and value.get(path[0]) is not None:
            yield from _walk(value, path[0], path[1:])
    elif isinstance(value, str):
        yield holder, key
    else:
        raise ValueError(f"must be a string, not {type(value).__name__}")


# --- data derived from the declarations ------------------------------------------------------------------


def content_columns(content: Content) -> list[tuple[Table, Column]]:
    """Return all columns that refer to Markdown sources, or to files."""
    return [
        (table, column) for table in TABLES.values() for column in table.columns if column.names == (content,)
    ]


def end_membership(tx: Transaction, organization_id: str, user_id: str) -> None:
    """Delete all data that a person has as a member of an organization."""
    for table in TABLES.values():
        if table.membership is None:
            continue
        named = next((column for column in table.columns if column.name == table.membership), None)
        condition = f" AND {named.condition}" if named else ""
        tx.run(
            f"DELETE FROM {table.name} WHERE {table.membership} = :user{condition}"
            f" AND ({table.rows_of_organization})",
            user=user_id,
            org=organization_id,
        )


def recount(tx: Transaction, organization_id: str | None = None) -> int:
    """Correct all count columns, and return the number of corrected rows."""
    wrong = 0
    for count in (count for table in TABLES.values() for count in table.counts):
        where = f" AND ({TABLES[count.table].rows_of_organization})" if organization_id else ""
        wrong += tx.run(
            f"UPDATE {count.table} SET {count.column} = ({count.query}) WHERE {count.column} <> ({count.query}){where}",
            org=organization_id,
        )
    return wrong


def find_wrong(tx: Transaction, limit: int) -> Iterator[str]:
    """Yield rows that refer to missing rows, and wrong values in count columns. Yield at most ``limit`` of each
    kind."""
    for table in TABLES.values():
        if table.derived:
            continue
        for column in table.columns:
            if column.path is not None or column.names in (("text",), ("file",)):
                continue
            there = " OR ".join(
                f"EXISTS (SELECT 1 FROM {other} o WHERE o.{key} = {table.name}.{column.name})"
                for other, _, key in (name.partition(".") for name in column.names)
            )
            rows = tx.all(
                f"SELECT {column.name} FROM {table.name} WHERE {column.condition} AND NOT ({there}) LIMIT {limit:d}"
            )
            what = " or ".join(name.partition(".")[0] for name in column.names)
            yield from (f"{table.name}.{column.name}: {value} isn't one of {what}" for (value,) in rows)
        for count in table.counts:
            rows = tx.all(
                f"SELECT id, {count.column}, ({count.query}) FROM {count.table}"
                f" WHERE {count.column} <> ({count.query}) LIMIT {limit:d}"
            )
            yield from (
                f"{count.table}.{count.column} of {id}: the stored value is {kept}, but the correct value is"
                f" {counted}"
                for id, kept, counted in rows
            )
