"""A forward-only runner of numbered SQL files.

Seams of the two engines inside the files: ``BYTES`` for binary columns, ``TEXT`` compares bytewise on both,
``SERIAL_KEY`` for a counting primary key, and parts between ``-- only: sqlite`` or ``-- only: postgresql``
and ``-- end`` lines for one engine alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.resources import files
from typing import NamedTuple

from .clock import now
from .db import Database, Engine

_ONLY = re.compile(r"^-- only: (\w+)\n(.*?)^-- end\n", re.M | re.S)


class Migration(NamedTuple):
    number: int
    name: str
    sql: str


def load_migrations(package: str) -> list[Migration]:
    """The ``NNNN_name.sql`` files of a package, in order."""
    found = []
    for entry in files(package).iterdir():
        if entry.name.endswith(".sql"):
            number, _, name = entry.name.removesuffix(".sql").partition("_")
            found.append(Migration(int(number), name, entry.read_text()))
    return sorted(found)


def for_engine(sql: str, engine: Engine) -> str:
    sql = _ONLY.sub(lambda part: part[2] if part[1] == engine else "", sql)
    if engine == "sqlite":
        return sql.replace("BYTES", "BLOB").replace("SERIAL_KEY", "INTEGER PRIMARY KEY AUTOINCREMENT")
    sql = re.sub(r"\bTEXT\b", 'TEXT COLLATE "C"', sql)
    return sql.replace("BYTES", "BYTEA").replace("SERIAL_KEY", "BIGSERIAL PRIMARY KEY")


def migrate(database: Database, migrations: Sequence[Migration]) -> list[Migration]:
    """Applies what is missing, each in a transaction of its own; returns what was applied.

    Several processes may start at once: each step is guarded by the row that records it.
    """
    database.script(
        "CREATE TABLE IF NOT EXISTS migrations (number BIGINT PRIMARY KEY, applied_at BIGINT NOT NULL);"
    )
    with database.read() as tx:
        done = {row[0] for row in tx.all("SELECT number FROM migrations")}
    applied = []
    for migration in migrations:
        if migration.number in done:
            continue
        record = f"INSERT INTO migrations (number, applied_at) VALUES ({migration.number}, {now()});\n"
        try:
            database.script(record + for_engine(migration.sql, database.engine))
        except Exception:
            # Another process may have done it between our look and our try.
            with database.read() as tx:
                if tx.one("SELECT 1 FROM migrations WHERE number = :n", n=migration.number) is None:
                    raise
            continue
        applied.append(migration)
    return applied
