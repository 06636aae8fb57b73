"""What a list costs follows what it shows: every list is asked for a few items at two sizes of the installation.

Counted is the work of SQLite's machine, and the pages of tables and indexes that PostgreSQL looks into. The true total
that each list gives may look at each row once, by an index.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from msgspec.structs import fields

from octavo.installation import load_packages
from octavo.kit.ids import new_id
from octavo.kit.operation import TABLE, Operation
from octavo.kit.postgres import _PostgresTransaction
from octavo.kit.rows import read_schema
from world import World

from .samples import sample_of, send

load_packages()

ADDED = 300
"""Rows added to each table."""
LIMIT = 3
A_ROW = 45
"""Steps of the machine that a row which is only counted may take, with the look at whether it is seen."""

PAGES_A_ROW = 5
"""Pages that PostgreSQL may look into for such a row: where it goes by an index, each statement looks at the index and
the row; often it reads many rows with a page."""

LISTS = [
    operation
    for operation in TABLE.values()
    if operation.method == "GET"
    and operation.query is not None
    and "limit" in {field.name for field in fields(operation.query)}
]

GROWS: dict[str, tuple[int, str]] = {
    "listSpacesForOrganizationMember": (150, "what a member sees is found for each space"),
    "listChangeRequestsForOrganization": (75, "what is seen is found for each space"),
}
"""Lists that cost more for a row: how many steps, and why."""


def copies(world: World) -> dict[str, tuple[str, dict[str, str]]]:
    """By table: which row is copied, and the columns that differ in each copy, as SQL of ``:n`` and ``:id``."""
    home, admin = world.home, world.users["admin"]
    branch = f"(SELECT main_branch FROM spaces WHERE id = '{home['spaceId']}')"
    space = f"space_id = '{home['spaceId']}'"
    org = f"organization_id = '{home['organizationId']}'"
    return {
        "users": (f"id = '{world.users['reader']}'", {"id": ":id", "email": "'n' || :n || '@example.com'"}),
        "members": (f"user_id = '{world.users['reader']}' AND {org}", {"user_id": ":id"}),
        "tokens": (f"user_id = '{admin}'", {"id": ":id", "hash": "'h' || :n"}),
        "audit_events": (org, {"id": ":id", "action": "'some.done'", "target_id": "'t' || :n"}),
        "collections": (f"id = '{home['collectionId']}'", {"id": ":id"}),
        "spaces": (f"id = '{home['spaceId']}'", {"id": ":id"}),
        "teams": (f"id = '{home['teamId']}'", {"id": ":id"}),
        "team_members": (f"team_id = '{home['teamId']}'", {"user_id": ":id"}),
        "grants": ("subject_type = 'user'", {"object_id": f"'{home['spaceId']}'", "subject_id": ":id"}),
        "revisions": (f"branch_id = {branch}", {"id": ":id", "sequence": "sequence + 1000 + :n"}),
        "page_versions": (f"branch_id = {branch}", {"page_id": ":id", "slug": "slug || :n"}),
        "item_versions": (
            f"branch_id = {branch} AND kind = 'file'",
            {"item_id": ":id", "path": "path || :n"},
        ),
        "content_references": (space, {"owner_id": ":id", "target_key": "target_key || :n"}),
        "reference_targets": (space, {"target_key": "target_key || :n"}),
        "change_requests": (space, {"id": ":id", "number": "number + 1000 + :n"}),
        "comments": (f"place_id = '{home['spaceId']}' AND parent_id IS NULL", {"id": ":id"}),
        "sites": (
            org,
            {"id": ":id", "basename": "basename || :n", "hostname": "NULL"},
        ),
    }


def grow(world: World) -> None:
    ids = [new_id() for _ in range(ADDED)]
    with world.context.db.write() as tx:
        tx.run(
            "INSERT INTO team_members (team_id, user_id, joined_at) VALUES (:team, :user, 1)",
            team=world.home["teamId"],
            user=world.users["reader"],
        )
        tx.run(
            """INSERT INTO grants (object_type, object_id, subject_type, subject_id, role, created_at)
               VALUES ('space', :space, 'user', :user, 'edit', 1) ON CONFLICT DO NOTHING""",
            space=world.home["spaceId"],
            user=world.users["reader"],
        )
        schema = read_schema(world.context.db, tx)
        for table, (where, differs) in copies(world).items():
            columns = schema[table].columns
            chosen = ", ".join(differs.get(column, column) for column in columns)
            before = tx.value(f"SELECT count(*) FROM {table}")
            tx.run_many(
                f"INSERT INTO {table} SELECT {chosen} FROM (SELECT * FROM {table} WHERE {where} LIMIT 1) AS copied",
                [{"n": n, "id": id} for n, id in enumerate(ids)],
            )
            assert tx.value(f"SELECT count(*) FROM {table}") == before + ADDED, table


def tidy(world: World) -> None:
    """Takes away what earlier tests left in PostgreSQL's tables, and has its planner know them."""
    if world.context.db.engine == "postgresql":
        with psycopg.connect(world.context.settings.database, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")


def connections(world: World) -> list[sqlite3.Connection]:
    return list(world.context.db._all)  # type: ignore[attr-defined]


def count_steps(world: World, operation: Operation) -> int:
    """Steps of SQLite's machine for one call, in tens."""
    steps = [0]

    def count() -> None:
        steps[0] += 10

    sample = sample_of(operation)
    params = {**sample.query, "limit": LIMIT}
    for _ in range(2):  # the first one fills what is kept, and opens connections
        for connection in connections(world):
            connection.set_progress_handler(None, 0)
        steps[0] = 0
        for connection in connections(world):
            connection.set_progress_handler(count, 10)
        answer = send(world, "admin", operation, world.home, params=params)
        assert answer.is_success, answer.text
    for connection in connections(world):
        connection.set_progress_handler(None, 0)
    return steps[0]


def require_flat(
    world: World,
    count: Callable[[Operation], int],
    a_row: float,
    grows: dict[str, tuple[float, str]],
) -> None:
    """Every list costs what it did, and ``a_row`` for each row that was added; those that ``grows`` names what it
    says."""
    for operation in LISTS:
        if (before := sample_of(operation).before) is not None:
            before(world, world.home)
    tidy(world)
    small = {operation.id: count(operation) for operation in LISTS}
    grow(world)
    tidy(world)
    large = {operation.id: count(operation) for operation in LISTS}
    grown = {
        id: f"{cost}, with {ADDED} rows more {large[id]}"
        for id, cost in small.items()
        if large[id] > 1.5 * cost + grows.get(id, (a_row, ""))[0] * ADDED
    }
    assert not grown
    # Lists that no longer grow are taken out of the table.
    assert {id for id in grows if large[id] <= 1.5 * small[id] + a_row * ADDED} == set()


def test_no_list_costs_more_as_there_is_more(sqlite_world: World) -> None:
    require_flat(sqlite_world, lambda operation: count_steps(sqlite_world, operation), A_ROW, GROWS)


def test_no_list_costs_postgresql_more_as_there_is_more(
    _postgresql_once: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = _postgresql_once.renew()
    looked = [0]
    execute = _PostgresTransaction._execute

    def count(tx: Any, sql: str, parameters: dict[str, Any]) -> Any:
        plan = execute(tx, f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {sql}", parameters).fetchone()[0][0][
            "Plan"
        ]
        looked[0] += plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
        return execute(tx, sql, parameters)

    def count_pages(operation: Operation) -> int:
        """Pages that PostgreSQL looks into for one call, each time it does."""
        params = {**sample_of(operation).query, "limit": LIMIT}
        send(world, "admin", operation, world.home, params=params)  # fills what is kept
        looked[0] = 0
        with monkeypatch.context() as counting:
            counting.setattr(_PostgresTransaction, "_execute", count)
            answer = send(world, "admin", operation, world.home, params=params)
        assert answer.is_success, answer.text
        return looked[0]

    require_flat(world, count_pages, PAGES_A_ROW, {})
