"""Run SQL migrations in chronological order. Migrations can't be reversed.

A migration is a file ``YYYYMMDDHHMM_name.sql``, and the time serves as its number. The ``migrations`` table records the
migrations that have been run on a database. Octavo rejects a file that was changed after it was run, a migration that
is older than the latest one in the database, and a database that is newer than Octavo.

A migration that replaces older migrations has a file ``NUMBER_name.upgrade.sql`` next to it. The line ``--
replaces:`` in that file lists the numbers of the older migrations. A database on which all of them have been run
uses that file instead of the migration itself. A database on which only some of them have been run must first be
upgraded to the version of Octavo in the line ``-- first upgrade with:``.

The files are written for both engines: ``BYTES`` means a binary column, ``TEXT`` means a column that is compared
bytewise, and ``SERIAL_KEY`` means an auto-increment primary key. A part for only one engine is between a line
``-- only: sqlite`` or ``-- only: postgresql`` and a line ``-- end``.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.resources import files
from typing import Literal, NamedTuple

from octavo.errors import Unavailable
from octavo.kit.clock import now

from .database import Database, Engine, Live, LockTimeout, Transaction
from .tables import Table, declare

# The runner of migrations writes the rows.
declare(Table(name="migrations", derived=True))

_NAME = re.compile(r"(\d{12})_(\w+?)(\.upgrade)?\.sql")
_ONLY = re.compile(r"^-- only: (\w+)\n(.*?)^-- end\n", re.M | re.S)
_TRIES = 6
_PAUSE = 2.0
_TABLE = """CREATE TABLE migrations (
  number BIGINT PRIMARY KEY,
  name TEXT NOT NULL,
  checksum TEXT NOT NULL,
  applied_at BIGINT NOT NULL
);
"""


class Upgrade(NamedTuple):
    """Upgrade of a database on which the migrations in ``replaces`` have been run. It is run instead of the migration
    that replaces them. ``first``: the version of Octavo to upgrade to first."""

    sql: str
    replaces: frozenset[int]
    first: str


@dataclass(frozen=True)
class Migration:
    number: int
    name: str
    sql: str
    upgrade: Upgrade | None = None

    @cached_property
    def checksum(self) -> str:
        """Return the checksum of the statements without comments, so that comments can still be changed."""
        bare = " ".join(re.sub(r"--(?! only: | end$).*", "", self.sql, flags=re.M).split())
        return hashlib.sha256(bare.encode()).hexdigest()

    def __str__(self) -> str:
        return f"{self.number}_{self.name}"


class RefusedDatabase(Unavailable):
    """Raised if this version must not change the database, or can't work with it. The message contains the
    reason and how to fix the problem."""


def load_migrations(package: str) -> list[Migration]:
    """Return the migrations of a package, in order. Raises ValueError if a file name is invalid."""
    found: dict[int, Migration] = {}
    upgrades: dict[int, Upgrade] = {}
    for entry in sorted(files(package).iterdir(), key=lambda entry: entry.name):
        if not entry.name.endswith(".sql"):
            continue
        match = _NAME.fullmatch(entry.name)
        if match is None:
            raise ValueError(f"{entry.name}: must be named YYYYMMDDHHMM_name.sql")
        number, sql = int(match[1]), entry.read_text()
        if match[3]:
            upgrades[number] = _read_upgrade(sql)
        elif number in found:
            raise ValueError(f"{entry.name}: another migration has this number")
        else:
            found[number] = Migration(number, match[2], sql)
    return [replace(found[number], upgrade=upgrades.get(number)) for number in sorted(found)]


def _read_upgrade(sql: str) -> Upgrade:
    said = dict(re.findall(r"^-- (replaces|first upgrade with): (.+)$", sql, re.M))
    return Upgrade(sql, frozenset(map(int, said["replaces"].split())), said["first upgrade with"])


def for_engine(sql: str, engine: Engine) -> str:
    """Return the SQL of a migration for one engine."""
    sql = _ONLY.sub(lambda part: part[2] if part[1] == engine else "", sql)
    if engine == "sqlite":
        return sql.replace("BYTES", "BLOB").replace("SERIAL_KEY", "INTEGER PRIMARY KEY AUTOINCREMENT")
    sql = re.sub(r"\bTEXT\b", 'TEXT COLLATE "C"', sql)
    return sql.replace("BYTES", "BYTEA").replace("SERIAL_KEY", "BIGSERIAL PRIMARY KEY")


def migrate(database: Database, migrations: Sequence[Migration]) -> list[Migration]:
    """Run missing migrations, each in its own transaction, and return the migrations that were run.

    Several processes may start at the same time: one process runs the migrations, and the other processes wait.
    Raises RefusedDatabase if the database can't be migrated, and Unavailable if other transactions keep using
    tables that a migration has to change.
    """
    applied: list[Migration] = []
    with database.read() as tx:
        if not _missing(tx, migrations):
            return applied
    failures = 0
    while True:
        try:
            with database.migration() as tx:
                # Checked again: another process may have migrated while this one waited.
                missing = _missing(tx, migrations)
                if not missing:
                    return applied
                _apply(tx, missing[0])
        except LockTimeout as error:
            failures += 1
            if failures == _TRIES:
                raise Unavailable(
                    "The database can't be migrated, because another program has locked it. End long"
                    f" transactions, then start Octavo again ({str(error).splitlines()[0]})."
                ) from error
            time.sleep(_PAUSE)
        else:
            applied.append(missing[0])


class SchemaState(NamedTuple):
    """Result of comparing a database's schema with this version of Octavo. ``upgraded_at``: the time in
    milliseconds at which the database was last migrated. ``written_by``: the version of Octavo that migrated it."""

    upgraded_at: int
    written_by: Literal["current", "newer", "older"]


def compare_schema(tx: Transaction, migrations: Sequence[Migration]) -> SchemaState:
    """Compare an already migrated database with the migrations of this version."""
    latest, upgraded_at = tx.all("SELECT max(number), max(applied_at) FROM migrations")[0]
    known = max(migration.number for migration in migrations)
    if latest == known:
        return SchemaState(upgraded_at, "current")
    return SchemaState(upgraded_at, "newer" if latest > known else "older")


def _apply(tx: Transaction, migration: Migration) -> None:
    recorded = _recorded(tx)
    sql = migration.sql
    if recorded is None or _is_old(recorded):
        if recorded:
            assert migration.upgrade is not None, "checked by _missing"
            sql = migration.upgrade.sql
        if recorded is not None:
            tx.script("DROP TABLE migrations;\n")
        tx.script(for_engine(_TABLE, tx.engine))
    tx.script(for_engine(sql, tx.engine))
    tx.run(
        "INSERT INTO migrations (number, name, checksum, applied_at) VALUES (:number, :name, :checksum, :at)",
        number=migration.number,
        name=migration.name,
        checksum=migration.checksum,
        at=now(),
    )


def _missing(tx: Transaction, migrations: Sequence[Migration]) -> list[Migration]:
    """Return the migrations that haven't been run on a database. Raises RefusedDatabase if the database doesn't match
    these migrations."""
    recorded = _recorded(tx)
    if recorded is None:
        return list(migrations)
    if _is_old(recorded):
        _require_upgradable(set(recorded), migrations)
        return list(migrations)
    known = {migration.number for migration in migrations}
    if newer := sorted(recorded.keys() - known):
        name, _ = recorded[newer[-1]]
        raise RefusedDatabase(
            f"This database was migrated by a newer version of Octavo ({newer[-1]}_{name}). Run that version"
            " or a later one."
        )
    latest = max(recorded)
    for migration in migrations:
        if migration.number in recorded:
            if recorded[migration.number][1] != migration.checksum:
                raise RefusedDatabase(
                    f"This database was migrated with a different version of the migration {migration}. Run"
                    " the version of Octavo that created this database, or a later one."
                )
        elif migration.number < latest:
            name, _ = recorded[latest]
            raise RefusedDatabase(
                f"This database was created by an unreleased version of Octavo: it has {latest}_{name} but"
                f" not the older migration {migration}. Export its organizations with that version, and"
                " import them into a new server."
            )
    return [migration for migration in migrations if migration.number not in recorded]


def _recorded(tx: Transaction) -> dict[int, tuple[str, str]] | None:
    """Return the recorded names and checksums by number; None for a new database.

    Before the first release, only the numbers were recorded, so the names and checksums of those migrations are
    empty.
    """
    columns = {row[0] for row in tx.all(_COLUMNS[tx.engine])}
    if not columns:
        return None
    rest = "name, checksum" if "checksum" in columns else "'', ''"
    return {row[0]: (row[1], row[2]) for row in tx.all(f"SELECT number, {rest} FROM migrations")}


_COLUMNS: dict[Engine, str] = {
    "sqlite": "SELECT name FROM pragma_table_info('migrations')",
    "postgresql": Live(
        "SELECT column_name FROM information_schema.columns"
        " WHERE table_schema = current_schema() AND table_name = 'migrations'"
    ),
}


def _is_old(recorded: dict[int, tuple[str, str]]) -> bool:
    return all(not checksum for _, checksum in recorded.values())


def _require_upgradable(numbers: set[int], migrations: Sequence[Migration]) -> None:
    upgrade = migrations[0].upgrade
    if numbers and (upgrade is None or numbers != upgrade.replaces):
        first = upgrade.first if upgrade is not None else "the version it was created with"
        raise RefusedDatabase(
            "This version of Octavo can't upgrade a database that has the migrations"
            f" {', '.join(map(str, sorted(numbers)))}. Upgrade the database with {first} first."
        )
