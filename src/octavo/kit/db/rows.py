"""Generic access to tables' columns, keys, and rows, for moving rows between servers.

The results are the same on both engines. Names come from the database's own catalog, never from external input.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from .database import Database, Live, Transaction

BATCH = 500
RowDict = dict[str, Any]
_GREATEST = {"INTEGER": 2**31 - 1, "BIGINT": 2**63 - 1}


class Schema(Struct, frozen=True):
    """Schema of a table.

    ``key``: the columns of the primary key. ``required``: the columns that are never NULL and have no default.
    ``numbers``: the integer columns, with the maximum of each. ``binary``: the binary columns. All other columns
    are text. ``refers``: pairs of a column and the table that it refers to.
    """

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    required: frozenset[str]
    numbers: dict[str, int]
    binary: frozenset[str]
    refers: tuple[tuple[str, str], ...]

    @property
    def parent(self) -> str | None:
        """Return the column that refers to another row of the same table; None if there is none."""
        return next((column for column, other in self.refers if other == self.name), None)


def read_schema(database: Database, tx: Transaction) -> dict[str, Schema]:
    """Return the tables by name, each after the tables that it refers to, excluding virtual tables and their parts."""
    read = _sqlite_tables if database.engine == "sqlite" else _postgres_tables
    found = {table.name: table for table in read(tx)}
    ordered: dict[str, Schema] = {}

    def put(table: Schema) -> None:
        if table.name not in ordered:
            for _, other in table.refers:
                if other != table.name:
                    put(found[other])
            ordered[table.name] = table

    for name in sorted(found):
        put(found[name])
    return ordered


def _sqlite_tables(tx: Transaction) -> Iterator[Schema]:
    names = tx.all(
        """SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'
           AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY name"""
    )
    for (name,) in names:
        columns = tx.all(
            'SELECT name, type, pk, "notnull" AND dflt_value IS NULL FROM pragma_table_info(:t) ORDER BY cid',
            t=name,
        )
        refers = tx.all('SELECT "from", "table" FROM pragma_foreign_key_list(:t) ORDER BY id', t=name)
        yield Schema(
            name,
            tuple(row[0] for row in columns),
            tuple(row[0] for row in sorted(columns, key=lambda row: row[2]) if row[2]),
            frozenset(row[0] for row in columns if row[2] or row[3]),
            {row[0]: _GREATEST[row[1]] for row in columns if row[1] in _GREATEST},
            frozenset(row[0] for row in columns if row[1] == "BLOB"),
            tuple((row[0], row[1]) for row in refers),
        )


def _postgres_tables(tx: Transaction) -> Iterator[Schema]:
    names = tx.all(
        Live("SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename")
    )
    for (name,) in names:
        columns = tx.all(
            Live(
                """SELECT column_name, data_type, is_nullable = 'NO' AND column_default IS NULL
                   FROM information_schema.columns
                   WHERE table_schema = current_schema() AND table_name = :t ORDER BY ordinal_position"""
            ),
            t=name,
        )
        key = tx.all(
            """SELECT a.attname FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum
               = ANY(i.indkey)
               WHERE i.indrelid = quote_ident(:t)::regclass AND i.indisprimary
               ORDER BY array_position(i.indkey::int2[], a.attnum)""",
            t=name,
        )
        refers = tx.all(
            """SELECT a.attname, c.confrelid::regclass::text FROM pg_constraint c
               JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
               WHERE c.conrelid = quote_ident(:t)::regclass AND c.contype = 'f' ORDER BY a.attname""",
            t=name,
        )
        yield Schema(
            name,
            tuple(row[0] for row in columns),
            tuple(row[0] for row in key),
            frozenset(row[0] for row in columns if row[2]),
            {row[0]: _GREATEST[row[1].upper()] for row in columns if row[1].upper() in _GREATEST},
            frozenset(row[0] for row in columns if row[1] == "bytea"),
            tuple((row[0], row[1]) for row in refers),
        )


def unique_keys(tx: Transaction, table: Schema) -> list[tuple[str, ...]]:
    """Return the columns of the primary key and of each unique index that covers all rows."""
    if tx.engine == "sqlite":
        rows = tx.all(
            """SELECT i.name, c.name FROM pragma_index_list(:t) i, pragma_index_info(i.name) c
               WHERE i."unique" = 1 AND i.partial = 0 ORDER BY i.name, c.seqno""",
            t=table.name,
        )
    else:
        rows = tx.all(
            """SELECT i.indexrelid::regclass::text, a.attname FROM pg_index i
               JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey)
               WHERE i.indrelid = quote_ident(:t)::regclass AND i.indisunique AND i.indpred IS NULL
               ORDER BY 1, array_position(i.indkey::int2[], a.attnum)""",
            t=table.name,
        )
    keys: dict[str, tuple[str, ...]] = {"": table.key}
    for index, column in rows:
        keys[index] = (*keys.get(index, ()), column)
    return list(keys.values())


def read_rows(tx: Transaction, table: Schema, where: str = "1 = 1", **given: object) -> Iterator[RowDict]:
    """Yield rows in primary key order, keeping only one batch in memory at a time."""
    columns, key = ", ".join(table.columns), ", ".join(table.key)
    after = f"({key}) > ({', '.join(f':after_{name}' for name in table.key)})"
    last: RowDict = {}
    while True:
        rows = tx.all(
            f"SELECT {columns} FROM {table.name} WHERE ({where}){f' AND {after}' if last else ''}"
            f" ORDER BY {key} LIMIT {BATCH}",
            **given,
            **last,
        )
        for row in rows:
            yield dict(zip(table.columns, row, strict=True))
        if len(rows) < BATCH:
            return
        found = dict(zip(table.columns, rows[-1], strict=True))
        last = {f"after_{name}": found[name] for name in table.key}


def insert_rows(tx: Transaction, table: Schema, rows: Iterable[RowDict]) -> int:
    """Insert rows, and return the number of inserted rows. Columns without a given value get their defaults."""
    count = 0
    for row in rows:
        _insert(tx, table, row, "")
        count += 1
    return count


def insert_new(tx: Transaction, table: Schema, row: RowDict) -> bool:
    """Insert a row. Return False if its key, or another value that must be unique, already exists."""
    return _insert(tx, table, row, " ON CONFLICT DO NOTHING") == 1


def _insert(tx: Transaction, table: Schema, row: RowDict, otherwise: str) -> int:
    names = [name for name in table.columns if name in row]
    values = ", ".join(f":{name}" for name in names)
    return tx.run(
        f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({values}){otherwise}",
        **{name: row[name] for name in names},
    )


def parents_first(table: Schema, rows: Iterable[RowDict]) -> Iterator[RowDict]:
    """Yield the same rows, each after the row of the same table that it refers to."""
    parent = table.parent
    if parent is None:
        yield from rows
        return
    rows = list(rows)
    there = {row["id"] for row in rows}
    waiting: dict[str | None, list[RowDict]] = {}
    for row in rows:
        waiting.setdefault(row[parent] if row[parent] in there else None, []).append(row)
    level = waiting.pop(None, [])
    while level:
        yield from level
        level = [child for row in level for child in waiting.pop(row["id"], [])]


def set_counters(database: Database, tx: Transaction, tables: Iterable[Schema]) -> None:
    """Advance the counters of auto-increment columns past the inserted rows."""
    if database.engine == "sqlite":
        return  # SQLite does this itself.
    for table in tables:
        if table.key == ("id",):
            sequence = tx.value(Live("SELECT pg_get_serial_sequence(:t, 'id')"), t=table.name)
            if sequence is not None:
                tx.value(
                    Live(
                        f"SELECT setval(CAST(:s AS regclass), greatest((SELECT max(id) FROM {table.name}), 1))"
                    ),
                    s=sequence,
                )
