"""Migrations: one order of time, nothing changed afterwards, one process at a time, and from the schema before the
first release to what a new installation has."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from octavo.errors import Unavailable
from octavo.kit.db import migrations as runner
from octavo.kit.db.database import Database
from octavo.kit.db.databases import open_database
from octavo.kit.db.migrations import Migration, RefusedDatabase, Upgrade, for_engine, load_migrations, migrate
from octavo.kit.db.rows import Schema, read_schema
from octavo.kit.db.tables import TABLES
from octavo.kit.work import jobs
from octavo.operations.installation import load_packages

LANDED = (1, 10, 11, 20, 30, 35, 36, 40, 50, 52, 60, 62)
"""The migrations of the schema before the first release."""

OLD_SCHEMA = Path(__file__).with_name("schema_of_62.sql").read_text()

OLD_ROWS = """
INSERT INTO organizations (id, title, created_at) VALUES ('org', 'Home', 1);
INSERT INTO users (id, email, display_name, created_at) VALUES ('ann', 'ann@example.org', 'Ann', 1);
INSERT INTO members (organization_id, user_id, role, joined_at) VALUES ('org', 'ann', 'admin', 1);
INSERT INTO spaces (id, organization_id, rank, title, main_line, main_revision, created_at, updated_at) \
VALUES ('space', 'org', 'a', 'Guide', 'main', 'r1', 1, 1);
INSERT INTO lines (id, space_id, base_line, sequence, revision) VALUES ('main', 'space', NULL, 1, 'r1');
INSERT INTO lines (id, space_id, base_line, sequence, revision) VALUES ('other', 'space', 'main', 2, 'r2');
INSERT INTO revisions (id, line_id, sequence, parents, type, created_at) VALUES ('r1', 'main', 1, '[]', 'initial', 1);
INSERT INTO revisions (id, line_id, sequence, base_sequence, parents, type, created_at) VALUES ('r2', \
'other', 2, 1, '["r1"]', 'update', 2);
INSERT INTO page_versions (line_id, page_id, from_seq, to_seq, title, body, created_at, updated_at) VALUES \
('main', 'p', 1, 99, 'Hello', 'b', 1, 1);
INSERT INTO item_versions (line_id, item_id, from_seq, to_seq, kind, name, content, created_at) VALUES \
('main', 'i', 1, 99, 'file', 'a.png', 'f', 1);
INSERT INTO change_requests (id, space_id, number, line_id, created_by, created_at, updated_at, \
revision_initial) VALUES ('change', 'space', 1, 'other', 'ann', 1, 1, 'r1');
INSERT INTO leftovers (kind, hash, left_at) VALUES ('file', 'f', 7);
INSERT INTO jobs (id, kind, payload, run_at, created_at) VALUES ('waiting', 'makePrint', '{"print_id":"x"}', 5, 5);
INSERT INTO jobs (id, kind, payload, run_at, attempts, lease_owner, lease_until, created_at) VALUES \
('running', 'runImport', '{"run":"x"}', 5, 1, 'w', 6, 5);
INSERT INTO jobs (id, kind, payload, run_at, attempts, parked, error, created_at) VALUES ('parked', \
'runImport', '{"run":"y"}', 5, 4, 1, 'broken', 5);
INSERT INTO jobs (id, kind, payload, unique_key, run_at, created_at) VALUES ('renamed', \
'analyseConversations', '{}', 'analyseConversations:org', 5, 5);
"""


@pytest.fixture
def bare(bare_url) -> Iterator[Database]:
    opened = open_database(bare_url)
    yield opened
    opened.close()


@pytest.fixture
def fresh(bare, tmp_path, request) -> Iterator[Database]:
    """Return the database of a new installation, on the engine of ``bare``."""
    if bare.engine == "sqlite":
        opened = open_database(f"sqlite:///{tmp_path / 'fresh.db'}")
    else:
        opened = open_database(request.getfixturevalue("postgres_databases").create_bare("fresh"))
    migrate(opened, load_migrations("octavo.operations.migrations"))
    yield opened
    opened.close()


def _make_old(database: Database, numbers: tuple[int, ...] = LANDED) -> None:
    """Create a database as the migrations before the first release left it, with rows."""
    with database.write() as tx:
        tx.script(for_engine(OLD_SCHEMA, database.engine))
        tx.script("CREATE TABLE migrations (number BIGINT PRIMARY KEY, applied_at BIGINT NOT NULL);")
        tx.script(OLD_ROWS)
        tx.run_many(
            "INSERT INTO migrations (number, applied_at) VALUES (:n, 1)",
            [{"n": number} for number in numbers],
        )


def _schema(database: Database) -> dict[str, Any]:
    """Return tables, columns in order, keys, indexes, constraints, and triggers, by name."""
    read = _sqlite_schema if database.engine == "sqlite" else _postgres_schema
    with database.read() as tx:
        return read(tx)


def _sqlite_schema(tx: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, kind in tx.all(
        "SELECT name, type FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'"
    ):
        found[name] = (
            kind,
            tx.all('SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_info(:t)', t=name),
            sorted(
                tx.all('SELECT "from", "table", "to", on_delete FROM pragma_foreign_key_list(:t)', t=name)
            ),
        )
        for index, unique, origin, partial in tx.all(
            'SELECT name, "unique", origin, partial FROM pragma_index_list(:t)', t=name
        ):
            columns = tx.all('SELECT name, "desc", coll FROM pragma_index_xinfo(:i) WHERE key', i=index)
            key = index if origin == "c" else f"{name} {origin} {columns}"
            found[f"index {key}"] = (name, unique, origin, partial, columns)
    for name, sql in tx.all("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND type <> 'table'"):
        found[f"sql {name}"] = re.sub(r'["\s]+', " ", sql)
    return found


def _postgres_schema(tx: Any) -> dict[str, Any]:
    columns = """SELECT table_name, column_name, data_type, collation_name, is_nullable, column_default
                 FROM information_schema.columns WHERE table_schema = 'public' ORDER BY table_name, ordinal_position"""
    return {
        "columns": tx.all(columns),
        "indexes": tx.all(
            "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1"
        ),
        "constraints": tx.all(
            """SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
               WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2"""
        ),
        "triggers": tx.all(
            "SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1"
        ),
        "functions": tx.all(
            "SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1"
        ),
        "sequences": tx.all("SELECT sequencename FROM pg_sequences ORDER BY 1"),
    }


@pytest.mark.sqlite_first
def test_the_schema_before_the_first_release_is_migrated_to_the_current_one(bare, fresh) -> None:
    _make_old(bare)
    assert migrate(bare, load_migrations("octavo.operations.migrations"))
    assert _schema(bare) == _schema(fresh)
    with bare.read() as tx:
        assert tx.one("SELECT main_branch, title FROM spaces") == ("main", "Guide")
        assert tx.all("SELECT id, base_branch FROM branches ORDER BY id") == [
            ("main", None),
            ("other", "main"),
        ]
        assert tx.all("SELECT branch_id FROM revisions ORDER BY id") == [("main",), ("other",)]
        assert tx.one("SELECT branch_id, title, body FROM page_versions") == ("main", "Hello", "b")
        assert tx.one("SELECT branch_id, content FROM item_versions") == ("main", "f")
        assert tx.one("SELECT branch_id, created_by FROM change_requests") == ("other", "ann")
        assert tx.all("SELECT kind, unique_key FROM jobs WHERE id IN ('renamed', 'waiting') ORDER BY id") == [
            ("analyzeConversations", "analyzeConversations:org"),
            ("makePrint", None),
        ]
        recorded = tx.all("SELECT number, name, checksum FROM migrations ORDER BY number")
        with fresh.read() as other:
            assert recorded == other.all("SELECT number, name, checksum FROM migrations ORDER BY number")
    assert migrate(bare, load_migrations("octavo.operations.migrations")) == []


@pytest.mark.parametrize("numbers", [LANDED[:-1], (*LANDED, 71), (1,)])
def test_a_partial_old_schema_is_refused_with_the_version_to_install_first(bare, numbers) -> None:
    _make_old(bare, numbers)
    with pytest.raises(RefusedDatabase, match=r"Upgrade the database with Octavo 0\.1\.0 .* first"):
        migrate(bare, load_migrations("octavo.operations.migrations"))
    with bare.read() as tx:
        assert tx.one("SELECT main_line FROM spaces") == ("main",)


@pytest.mark.sqlite_first
def test_each_migration_accepts_rows_in_every_table(bare, fresh) -> None:
    """As it is upgraded from any of the schemas that there were."""
    load_packages()
    known = load_migrations("octavo.operations.migrations")
    filled: set[str] = set()
    for number in range(1, len(known) + 1):
        migrate(bare, known[:number])
        with bare.write() as tx:
            tables = read_schema(bare, tx)
            counts = " UNION ALL ".join(f"SELECT '{name}', (SELECT count(*) FROM {name})" for name in tables)
            empty = {name for name, count in tx.all(counts) if not count}
            # Derived data can be rebuilt.
            lost = {name for name in empty & filled if name in TABLES and not TABLES[name].derived}
            assert not lost, known[number - 1]
            for name in tables:
                if name in empty:
                    _fill(tx, tables[name])
        filled = set(tables)
    assert _schema(bare) == _schema(fresh)


def _fill(tx, table: Schema) -> None:
    """Insert a row into a table, with values that migrations can read."""
    declared = TABLES.get(table.name)
    row: dict[str, Any] = {}
    for column in table.columns:
        row[column] = 1 if column in table.numbers else b"1" if column in table.binary else "1"
        if declared is not None and column in declared.values:
            row[column] = declared.values[column][0]
        if declared is not None and column in declared.json:
            kind = str(declared.json[column])
            row[column] = '["1"]' if kind.startswith("list[str]") else "[]" if "list" in kind else "{}"
    values = ", ".join(f":{column}" for column in row)
    tx.run(f"INSERT INTO {table.name} ({', '.join(row)}) VALUES ({values})", **row)


# --- the order of time ----------------------------------------------------------------------------------

FIRST = Migration(202601010000, "first", "CREATE TABLE first (id TEXT PRIMARY KEY);\n")
SECOND = Migration(202602010000, "second", "CREATE TABLE second (id TEXT PRIMARY KEY);\n")
BETWEEN = Migration(202601150000, "between", "CREATE TABLE between_them (id TEXT PRIMARY KEY);\n")


def test_each_migration_is_applied_once_and_recorded(bare) -> None:
    assert migrate(bare, [FIRST]) == [FIRST]
    assert migrate(bare, [FIRST, SECOND]) == [SECOND]
    assert migrate(bare, [FIRST, SECOND]) == []
    with bare.read() as tx:
        assert tx.all("SELECT number, name FROM migrations ORDER BY number") == [
            (202601010000, "first"),
            (202602010000, "second"),
        ]


def test_a_changed_migration_is_refused_unless_only_comments_changed(bare) -> None:
    migrate(bare, [FIRST])
    assert migrate(bare, [replace(FIRST, sql="-- What comes first.\n" + FIRST.sql)]) == []
    with pytest.raises(RefusedDatabase, match="a different version of the migration 202601010000_first"):
        migrate(bare, [replace(FIRST, sql=FIRST.sql.replace("TEXT", "BIGINT")), SECOND])


def test_a_migration_added_out_of_order_is_refused(bare) -> None:
    migrate(bare, [FIRST, SECOND])
    with pytest.raises(
        RefusedDatabase, match="it has 202602010000_second but not the older migration 202601150000_between"
    ):
        migrate(bare, [FIRST, BETWEEN, SECOND])


def test_a_database_newer_than_the_program_is_refused(bare) -> None:
    migrate(bare, [FIRST, SECOND])
    with pytest.raises(RefusedDatabase, match="newer version of Octavo.*202602010000_second"):
        migrate(bare, [FIRST])


def test_a_failed_migration_leaves_no_changes(bare) -> None:
    broken = replace(SECOND, sql=SECOND.sql + "INSERT INTO nowhere VALUES (1);\n")
    with pytest.raises(Exception, match="nowhere"):
        migrate(bare, [FIRST, broken])
    with bare.read() as tx:
        assert tx.all("SELECT number FROM migrations") == [(FIRST.number,)]
    assert migrate(bare, [FIRST, SECOND]) == [SECOND]


def test_a_squashed_migration_runs_its_upgrade_on_older_databases(bare) -> None:
    with bare.write() as tx:
        tx.script("CREATE TABLE old_name (id BIGINT PRIMARY KEY);")
        tx.script("CREATE TABLE migrations (number BIGINT PRIMARY KEY, applied_at BIGINT NOT NULL);")
        tx.script("INSERT INTO migrations VALUES (1, 1);")
    upgrade = Upgrade("ALTER TABLE old_name RENAME TO first;\n", frozenset({1}), "Octavo 0")
    assert len(migrate(bare, [replace(FIRST, upgrade=upgrade), SECOND])) == 2
    with bare.read() as tx:
        assert tx.all("SELECT * FROM first") == []


def test_one_process_migrates_and_the_others_wait(bare_url) -> None:
    steps = [
        Migration(202601010000 + n, f"n{n}", f"CREATE TABLE t{n} (id BIGINT PRIMARY KEY);\n")
        for n in range(8)
    ]
    applied: list[Migration] = []
    failed: list[BaseException] = []

    def run() -> None:
        database = open_database(bare_url)
        try:
            applied.extend(migrate(database, steps))
        except BaseException as error:
            failed.append(error)
        finally:
            database.close()

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert sorted(applied, key=lambda migration: migration.number) == steps


def test_a_held_migration_lock_ends_with_a_message(postgres_databases, monkeypatch) -> None:
    url = postgres_databases.create_bare("locked")
    database = open_database(url)
    migrate(database, [FIRST])
    monkeypatch.setattr(runner, "_PAUSE", 0)
    monkeypatch.setattr(runner, "_TRIES", 2)
    monkeypatch.setattr("octavo.kit.db.postgres._LOCK_TIMEOUT", "50ms")
    change = Migration(202603010000, "change", "ALTER TABLE first ADD COLUMN n BIGINT;\n")
    with psycopg.connect(url) as other:
        other.execute("SELECT * FROM first")
        with pytest.raises(Unavailable, match="has locked it"):
            migrate(database, [FIRST, change])
    assert migrate(database, [FIRST, change]) == [change]
    database.close()


def test_migrations_are_named_by_time(tmp_path, monkeypatch) -> None:
    package = tmp_path / "some_migrations"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "202601010000_first.sql").write_text(FIRST.sql)
    monkeypatch.syspath_prepend(tmp_path)
    assert load_migrations("some_migrations") == [FIRST]
    (package / "0090_next.sql").write_text("")
    with pytest.raises(ValueError, match="must be named YYYYMMDDHHMM_name"):
        load_migrations("some_migrations")
    sys.modules.pop("some_migrations")


def test_jobs_that_older_versions_added_are_still_known() -> None:
    """During an upgrade, processes of the previous version add jobs. A renamed kind names its former name."""
    load_packages()
    known = {*jobs.kinds, *jobs.former_kinds}
    recorded = (Path(__file__).parent / "job_kinds.txt").read_text().split()
    assert set(recorded) <= known, "declare the former name: @job(..., formerly=...)"
    assert set(jobs.kinds) <= set(recorded), "add new kinds to job_kinds.txt"
