"""What a list costs follows what it shows: every list is asked for a few items at two sizes of the installation.

Counted is the work of SQLite's machine; the true total that each list gives may look at each row once, by an index.
"""

from __future__ import annotations

import sqlite3

from msgspec.structs import fields

from octavo.installation import load_packages
from octavo.kit.ids import new_id
from octavo.kit.operation import TABLE, Operation
from world import World

from .samples import sample_of, send

load_packages()

ADDED = 300
"""Rows added to each table."""
LIMIT = 3
A_ROW = 45
"""Steps of the machine that a row which is only counted may take, with the look at whether it is seen."""

LISTS = [
    operation
    for operation in TABLE.values()
    if operation.method == "GET"
    and operation.query is not None
    and "limit" in {field.name for field in fields(operation.query)}
]

_EACH_REFERENCE = "its statistics are of all references"
_COMPARED = "each reference is compared with what the change request changes"
GROWS: dict[str, tuple[int, str]] = {
    "listSpacesForOrganizationMember": (150, "what a member sees is found for each space"),
    "listChangeRequestsForOrganization": (75, "what is seen is found for each space"),
    "listSpaceLinks": (250, _EACH_REFERENCE),
    "listSpaceFileBacklinks": (75, "all references that were added name this file"),
    "listChangeRequestLinks": (450, f"{_EACH_REFERENCE}, and {_COMPARED}"),
    "listChangeRequestFileBacklinks": (220, _COMPARED),
    "getRevisionSemanticChanges": (160, "what was changed back is left out of the count of changes"),
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
        for table, (where, differs) in copies(world).items():
            columns = [row[1] for row in tx.all(f"PRAGMA table_info({table})")]
            chosen = ", ".join(differs.get(column, column) for column in columns)
            before = tx.value(f"SELECT count(*) FROM {table}")
            tx.run_many(
                f"INSERT INTO {table} SELECT {chosen} FROM (SELECT * FROM {table} WHERE {where} LIMIT 1)",
                [{"n": n, "id": id} for n, id in enumerate(ids)],
            )
            assert tx.value(f"SELECT count(*) FROM {table}") == before + ADDED, table


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


def test_no_list_costs_more_as_there_is_more(sqlite_world: World) -> None:
    world = sqlite_world
    for operation in LISTS:
        if (before := sample_of(operation).before) is not None:
            before(world, world.home)
    small = {operation.id: count_steps(world, operation) for operation in LISTS}
    grow(world)
    large = {operation.id: count_steps(world, operation) for operation in LISTS}
    grown = {
        id: f"{steps} steps, with {ADDED} rows more {large[id]}"
        for id, steps in small.items()
        if large[id] > 1.5 * steps + GROWS.get(id, (A_ROW, ""))[0] * ADDED
    }
    assert not grown
    # Lists that no longer grow are taken out of the table.
    assert all(large[id] > 1.5 * small[id] + A_ROW * ADDED for id in GROWS)
