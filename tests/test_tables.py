"""Every table is declared by the package that owns it, and the declarations are true for the test world."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from octavo.content.revisions import deriving
from octavo.kit.db import turns
from octavo.kit.db.rows import Schema, read_rows, read_schema
from octavo.kit.db.tables import TABLES, Table, content_columns, declare, end_membership, person
from octavo.operations.admin.archive_checks import naming_columns
from octavo.operations.admin.backup import verify_installation
from octavo.organization.spaces import purging
from octavo.organization.spaces.purging import purge_spaces
from world import World

SRC = Path(__file__).parents[1] / "src" / "octavo"

HASH = re.compile(r"(^|_)(hash|hashes|body|content|file|checksum)$")
NO_CONTENT = {
    "bodies.hash": "the texts themselves",
    "unused.hash": "what nothing may name any more",
    "migrations.checksum": "of statements",
    "node_keys.body": "what it says of a text is worth nothing without it",
    "node_whereabouts.body": "what it says of a text is worth nothing without it",
    "comments.body": "the text of the comment",
    "search_sections.body": "derived: text to quote from",
    "openapi_sources.content": "derived: which file was read",
    "images.content": "derived: of which file",
    "image_variants.content": "derived: of which file",
    "git_blobs.content": "what Git calls a text or file is worth nothing without it",
}
"""Columns that look like the hash of a text or file, and are none that keeps it."""

PERSON = re.compile(r"(^|_)(user|user_id|by|author|reviewer|actor|actor_id|subject_id|owner_id|member)$")
NOBODY = {
    "node_keys.owner_id": "a page or reusable content",
    "node_whereabouts.owner_id": "a page",
    "content_references.owner_id": "a page or reusable content",
    "reference_questions.owner_id": "a page or reusable content",
    "derived_versions.owner_id": "a page or reusable content",
    "users.managed_by": "an organization",
}
"""Columns that look like the id of a person, and hold none."""

LOGGED = {
    "audit_events.target_id": "what an event was about, which it outlives",
    "audit_events.before_state": "as it was",
    "audit_events.after_state": "as it was",
    "jobs.payload": "until it ran",
    "events.payload": "until they are forgotten",
    "users.id": "the person",
    "scim_resources.id": "what the client calls it; who it is, user_id says",
    "one_time_secrets.payload": "for some minutes",
}
"""Where ids of people may be that nothing follows."""


@pytest.fixture
def schemas(world: World) -> dict[str, Schema]:
    with world.context.db.read() as tx:
        return read_schema(world.context.db, tx)


def test_every_table_is_declared_once(world: World, schemas) -> None:
    # Virtual tables are in no catalogue of rows; what belongs to them goes by their name.
    there = {name for name in world.tables() if not name.startswith("search_index_")}
    assert there == set(TABLES)
    with pytest.raises(ValueError, match="twice"):
        declare(Table(name="spaces", stays="again"))
    with pytest.raises(ValueError, match="which rows"):
        declare(Table(name="unheard_of"))


def test_a_package_declares_its_tables_in_one_place() -> None:
    wrong = []
    for path in SRC.rglob("*.py"):
        text = path.read_text()
        if "declare" not in text or path.name == "tables.py" or path.is_relative_to(SRC / "kit"):
            continue
        for node in ast.walk(ast.parse(text)):
            # Fields of pages are declared by another function of that name.
            if isinstance(node, ast.ImportFrom) and (node.module or "").endswith("tables"):
                if any(name.name == "declare" for name in node.names):
                    wrong.append(str(path))
    assert not wrong


def test_declared_tables_and_columns_exist(schemas) -> None:
    for name, table in TABLES.items():
        if name not in schemas:
            continue
        columns = set(schemas[name].columns)
        named = {column.name for column in table.columns} | {
            column.when[0] for column in table.columns if column.when
        }
        declared = named | {*table.values, *table.json, *table.long, *table.secrets}
        assert declared | ({table.membership} if table.membership else set()) <= columns, name
        for column in table.columns:
            for target in column.names:
                if target not in ("text", "file"):
                    other, _, key = target.partition(".")
                    assert key in schemas[other].columns, f"{name}.{column.name}"
        for count in table.counts:
            assert count.column in schemas[count.table].columns


def test_every_hash_column_declares_its_content(schemas) -> None:
    missing = []
    for name, schema in schemas.items():
        declared = {column.name for column in TABLES[name].columns} | set(TABLES[name].secrets)
        for column in schema.columns:
            if HASH.search(column) and column not in declared and f"{name}.{column}" not in NO_CONTENT:
                missing.append(f"{name}.{column}")
    assert not missing


def test_every_person_column_is_declared(schemas) -> None:
    missing = []
    for name, schema in schemas.items():
        people = {column.name for column in naming_columns(TABLES[name], schema) if column.is_person}
        for column in schema.columns:
            if PERSON.search(column) and column not in people and f"{name}.{column}" not in NOBODY:
                missing.append(f"{name}.{column}")
    assert not missing


def test_no_other_column_contains_a_hash_or_a_person(world: World, schemas) -> None:
    """Check the values in the rows of the furnished world, independent of column names."""
    found = defaultdict(set)
    with world.context.db.read() as tx:
        people = {row[0] for row in tx.all("SELECT id FROM users")}
        texts = {row[0] for row in tx.all("SELECT hash FROM bodies")}
        files = {
            row[0]
            for table, column in content_columns("file")
            for row in tx.all(f"SELECT {column.name} FROM {table.name} WHERE {column.condition}")
        }
        for name, schema in schemas.items():
            if TABLES[name].derived:
                continue
            columns = naming_columns(TABLES[name], schema)
            for row in read_rows(tx, schema):
                declared = defaultdict(set)
                for naming in columns:
                    declared[naming.name].update(naming.read(row))
                for column, value in row.items():
                    if not isinstance(value, str):
                        continue
                    at = f"{name}.{column}"
                    if value in texts | files and value not in declared[column] and at not in NO_CONTENT:
                        found[at].add("hash")
                    inside = {value, *re.findall(r"[0-9A-Za-z]{20}", value)} & people
                    if inside - declared[column] and at not in LOGGED:
                        found[at].add("person")
    assert not found


def test_columns_with_hashes_are_found_by_an_index(world: World) -> None:
    """Finding unused content queries each of these columns."""
    with world.context.db.read() as tx:
        for content in ("text", "file"):
            for table, column in content_columns(content):
                if tx.engine == "sqlite":
                    first = {
                        tx.value("SELECT name FROM pragma_index_info(:i) WHERE seqno = 0", i=index)
                        for (index,) in tx.all("SELECT name FROM pragma_index_list(:t)", t=table.name)
                    }
                else:
                    definitions = tx.all("SELECT indexdef FROM pg_indexes WHERE tablename = :t", t=table.name)
                    first = {re.split(r"[(,)]", definition)[1].strip() for (definition,) in definitions}
                assert column.name in first, f"{table.name}.{column.name}"


def test_every_row_belongs_to_an_organization_or_space_or_is_excepted(world: World, schemas) -> None:
    """Each row of an exported table belongs to exactly one organization, or of a table with spaces, to one
    space."""
    with world.context.db.read() as tx:
        organizations = [row[0] for row in tx.all("SELECT id FROM organizations")]
        spaces = [row[0] for row in tx.all("SELECT id FROM spaces")]
        for name, table in TABLES.items():
            if name not in schemas:
                continue
            count = tx.value(f"SELECT count(*) FROM {name}")
            if table.is_exported and name != "node_keys":
                query = f"SELECT count(*) FROM {name} WHERE {table.rows_of_organization}"
                assert sum(tx.value(query, org=id) for id in organizations) == count, name
            if table.of_space and name != "node_keys":
                query = f"SELECT count(*) FROM {name} WHERE {table.rows_of_space}"
                assert sum(tx.value(query, space=id) for id in spaces) == count, name


def test_a_purged_space_releases_everything_its_rows_reference(world: World) -> None:
    space, context = world.home["spaceId"], world.context
    with context.db.write() as tx:
        revision = tx.value("SELECT main_revision FROM spaces WHERE id = :id", id=space)
        tx.run(
            "INSERT INTO prints (id, space_id, revision_id, file, created_at) VALUES ('p', :space, :revision, 'f', 1)",
            space=space,
            revision=revision,
        )
        named = {
            (content, row[0])
            for content in ("text", "file")
            for table, column in content_columns(content)
            if table.of_space
            for row in tx.all(
                f"SELECT {column.name} FROM {table.name} WHERE ({table.rows_of_space}) AND {column.condition}",
                space=space,
            )
        }
        tx.run("DELETE FROM site_spaces")
        tx.run("UPDATE spaces SET deleted_at = 1 WHERE id = :id", id=space)
    purge_spaces(context)
    with context.db.read() as tx:
        assert tx.one("SELECT 1 FROM spaces WHERE id = :id", id=space) is None
        assert ("file", "f") in named
        assert named <= set(tx.all("SELECT kind, hash FROM unused"))


def test_a_space_is_purged_in_short_transactions(world: World, monkeypatch) -> None:
    """It can't be restored after the first one, and the next purge continues after any of them."""
    space, context = world.home["spaceId"], world.context
    monkeypatch.setattr(purging, "_BATCH", 3)
    many = [table for table in TABLES.values() if table.many]
    with context.db.write() as tx:
        tx.run("DELETE FROM site_spaces")

    def count_rows() -> int:
        with context.db.read() as tx:
            return sum(
                tx.value(f"SELECT count(*) FROM {table.name} WHERE {table.rows_of_space}", space=space)
                for table in many
            )

    class Died(Exception):
        pass

    def die(seconds: float) -> None:
        left.append(count_rows())
        if len(left) == 5:
            raise Died

    left = [count_rows()]
    world.call("admin", "DELETE", f"/spaces/{space}")
    with monkeypatch.context() as patched, pytest.raises(Died):
        patched.setattr(turns, "time", SimpleNamespace(sleep=die))
        purging.purge_space(context.db, space, 2**62)
    assert all(before - after <= 3 for before, after in zip(left, left[1:], strict=False))
    assert left[-1] < left[0]
    assert world.call("admin", "POST", f"/spaces/{space}/restore").status_code == 404
    assert verify_installation(context) == []
    purge_spaces(context)
    assert count_rows() == 0
    assert verify_installation(context) == []
    with context.db.read() as tx:
        assert tx.one("SELECT 1 FROM spaces WHERE id = :id", id=space) is None


def test_tables_with_many_rows_are_deleted_in_batches(world: World, schemas) -> None:
    """Each table that has a row for each page, or more."""
    many = {name for name, table in TABLES.items() if table.many}
    assert all(TABLES[name].of_space and schemas[name].key for name in many)
    assert {"page_versions", "item_versions"} <= many
    assert {
        table for derived in deriving._derived if (how := derived.versioned) for table, _ in [how.owners]
    } <= many


def test_everything_of_a_membership_ends_with_it(world: World, schemas) -> None:
    org, user = world.home["organizationId"], world.users["reader"]
    context = world.context
    with context.db.write() as tx:
        for table, columns in (
            (
                "agent_conversations",
                {
                    "organization_id": org,
                    "user_id": user,
                    "id": "chat",
                    "questions": "[]",
                    "created_at": 1,
                    "updated_at": 1,
                },
            ),
            ("team_members", {"team_id": world.home["teamId"], "user_id": user, "joined_at": 1}),
            (
                "grants",
                {
                    "object_type": "space",
                    "object_id": world.home["spaceId"],
                    "subject_type": "user",
                    "subject_id": user,
                    "role": "edit",
                    "created_at": 1,
                },
            ),
            (
                "grants",
                {
                    "object_type": "space",
                    "object_id": world.away["spaceId"],
                    "subject_type": "user",
                    "subject_id": user,
                    "role": "edit",
                    "created_at": 1,
                },
            ),
            ("scim_resources", {"organization_id": org, "kind": "user", "id": user, "updated_at": 1}),
        ):
            names = ", ".join(columns)
            values = ", ".join(f":{name}" for name in columns)
            tx.run(f"INSERT INTO {table} ({names}) VALUES ({values}) ON CONFLICT DO NOTHING", **columns)
        end_membership(tx, org, user)
        ending = {name for name, table in TABLES.items() if table.membership}
        assert ending == {
            "agents",
            "agent_codes",
            "agent_conversations",
            "members",
            "team_members",
            "grants",
            "scim_resources",
            "external_identities",
            "set_aside",
            "notifications",
            "notification_counts",
            "watches",
            "favorites",
            "change_seen",
        }
        for name in ending:
            column, rows = TABLES[name].membership, TABLES[name].rows_of_organization
            query = f"SELECT count(*) FROM {name} WHERE {column} = :user AND ({rows})"
            assert tx.value(query, user=user, org=org) == 0
        assert tx.value("SELECT count(*) FROM grants WHERE subject_id = :user", user=user) == 1


def test_ids_in_json_are_read_and_replaced() -> None:
    column = person("rules", path=("rules", "users"))
    row = {"rules": '{"rules":[{"users":["a","b"]},{"other":1},{"users":null}],"type":"x"}'}
    assert column.read(row) == ["a", "b"]
    column.rename(row, lambda old: old.upper())
    assert msgspec.json.decode(row["rules"])["rules"][0] == {"users": ["A", "B"]}
    assert column.read({"rules": None}) == []
    listed = person("all", path=())
    assert listed.read({"all": '["a",["b"]]'}) == ["a", "b"]
    for wrong in ("no json", '[{"users":7}]', '{"rules":[{"users":[1]}]}'):
        if wrong.startswith("["):
            assert column.read({"rules": wrong}) == []
            continue
        with pytest.raises(ValueError, match="JSON|string"):
            column.read({"rules": wrong})
