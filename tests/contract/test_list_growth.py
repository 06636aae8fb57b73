"""The cost of a list depends on the items shown: a few items of every list are requested at two database
sizes.

The work of SQLite's virtual machine is counted, and the pages of tables and indexes that PostgreSQL reads.
The true total of each list can look at each row once, with an index.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pytest
from msgspec.structs import fields

from counting import counting_pages, tidy
from octavo.kit.db.rows import read_schema
from octavo.kit.http.operation import TABLE, Operation
from octavo.kit.ids import new_id
from octavo.operations.installation import load_packages
from world import World

from .samples import TOLD_ELSEWHERE, sample_of, send

load_packages()

ADDED = 300
"""Rows added to each table."""
LIMIT = 3
A_ROW = 17
"""Steps of the machine that a row which is only counted may take, with one look into another table."""

GROWS: dict[str, tuple[int, str]] = {
    "listUserPermissionsInSpace": (22, "of each is asked whether they are a member"),
    "listPermissionsAggregateInCollection": (25, "everybody's role there is found"),
    "listPermissionsAggregateInSite": (25, "everybody's role there is found"),
    "listPermissionsAggregateInSpace": (30, "everybody's role there is found"),
    "listPeopleWithPageAccess": (50, "everyone's role in the space is found"),
    "listSites": (65, "of each is asked what the caller may do there"),
    "listSitesForOrganizationMember": (65, "of each is asked what the caller may do there"),
    "adsListSites": (70, "of each is asked what the caller may do there"),
    "listFilesInChangeRequestById": (35, "files of main are listed where the change request has no others"),
    "getWayToPageInRevisionById": (50, "of a level all are counted, and those before the page"),
    "listSpaceReusableContentBacklinks": (40, "the places that show it are counted"),
    "listChangeRequestReusableContentBacklinks": (
        180,
        "the places that show it are counted, those in main where the change request has no others",
    ),
    "listCommentersInSpace": (35, "they are found among the comments"),
    "listCommentersInChangeRequest": (35, "they are found among the comments"),
}
"""Lists that take more for a row: how many steps, and why."""

PAGES_A_ROW = 5
"""Pages that PostgreSQL may look into for such a row: where it goes by an index, each statement looks at the index and
the row; often it reads many rows with a page."""

LISTS = [
    operation
    for operation in TABLE.values()
    if operation.method == "GET"
    and operation.id not in TOLD_ELSEWHERE
    and operation.query is not None
    and "limit" in {field.name for field in fields(operation.query)}
]

ASKED_OTHERWISE: dict[str, list[dict[str, str]]] = {
    "listAuditEvents": [
        {"actor": "{admin}"},
        {"action": "nothing.done"},
        {"actor": "{admin}", "action": "nothing.done"},
        {"targetType": "nothing"},
        {"target": "nothing"},
        {"from": "2100-01-01T00:00:00Z"},
    ],
    "listMembersInOrganizationById": [{"sort": "lastSeenAt"}, {"role": "guest"}],
    "listSpacesForOrganizationMember": [{"order": "asc"}],
    "listSpacesInOrganizationById": [{"orderBy": "rank"}],
    "listSpacesInCollectionById": [{"orderBy": "rank"}],
    "listCollectionsInOrganizationById": [{"orderBy": "rank"}, {"nested": "false"}],
}
"""Other queries than the sample's: other orders and filters go by other indexes."""


class Asked(NamedTuple):
    """One request for a list."""

    operation: Operation
    by: str
    query: Mapping[str, Any]

    def __str__(self) -> str:
        return f"{self.operation.id} {dict(self.query)} by {self.by}"


def asked(world: World) -> list[Asked]:
    """Return every list as an administrator requests it, and as a plain member if allowed."""
    found = []
    for operation in LISTS:
        sample = sample_of(operation)
        if sample.before is not None:
            sample.before(world, world.home)
        for otherwise in [{}, *ASKED_OTHERWISE.get(operation.id, [])]:
            given = {name: value.format(**world.users) for name, value in otherwise.items()}
            query = {**sample.query_for(world.home), **given, "limit": LIMIT}
            for by in ("admin", "creator"):
                if by == "admin" or send(world, by, operation, world.home, params=query).is_success:
                    found.append(Asked(operation, by, query))
    return found


def ask(world: World, call: Asked) -> None:
    answer = send(world, call.by, call.operation, world.home, params=call.query)
    assert answer.is_success, answer.text


def read_on(world: World, call: Asked, limit: int) -> bool:
    """Return whether a list of ``limit`` items has a next page without items of the first one, and with the
    same total."""
    query = {**call.query, "limit": limit}
    first = send(world, call.by, call.operation, world.home, params=query).json()
    if "next" not in first or "items" not in first:
        return False
    query["page"] = first["next"]["page"]
    second = send(world, call.by, call.operation, world.home, params=query).json()
    assert second["count"] == first["count"], call
    if len(first["items"]) == limit:  # one item may stand for several places that are next to each other
        ids = [item["id"] for item in first["items"] + second["items"] if "id" in item]
        assert second["items"] and len(set(ids)) == len(ids), call
    return True


def copies(world: World) -> dict[str, tuple[str, dict[str, str]]]:
    """Return by table the row to copy, and the columns that differ in each copy, as SQL of ``:n`` and
    ``:id``."""
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
        "content_references": (
            f"{space} AND kind = 'reusable-content'",
            {"owner_id": ":id", "target_key": "target_key || :n"},
        ),
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


def connections(world: World) -> list[sqlite3.Connection]:
    return list(world.context.db._all)  # type: ignore[attr-defined]


def count_steps(world: World, call: Asked) -> int:
    """Return the steps of SQLite's virtual machine for one call, in tens."""
    steps = [0]

    def count() -> None:
        steps[0] += 10

    for _ in range(2):  # The first call fills caches and opens connections.
        for connection in connections(world):
            connection.set_progress_handler(None, 0)
        steps[0] = 0
        for connection in connections(world):
            connection.set_progress_handler(count, 10)
        ask(world, call)
    for connection in connections(world):
        connection.set_progress_handler(None, 0)
    return steps[0]


def require_flat(
    world: World, count: Callable[[Asked], int], a_row: float, grows: Mapping[str, tuple[float, str]]
) -> None:
    """Require that every list costs the same as before, plus ``a_row`` for each added row; lists in ``grows``
    can cost the listed amount."""
    calls = asked(world)
    tidy(world)
    small = [count(call) for call in calls]
    grow(world)
    tidy(world)
    large = [count(call) for call in calls]
    assert sum(read_on(world, call, LIMIT) for call in calls) > 20
    taken = [(after - 1.5 * before) / ADDED for before, after in zip(small, large, strict=True)]
    grown = [
        f"{call}: {steps:.1f} for each row that was added"
        for call, steps in zip(calls, taken, strict=True)
        if steps > grows.get(call.operation.id, (a_row, ""))[0]
    ]
    assert not grown
    # Lists that no longer grow must be removed from the table.
    assert grows.keys() <= {
        call.operation.id for call, steps in zip(calls, taken, strict=True) if steps > a_row
    }


def test_no_list_gets_slower_with_more_data(sqlite_world: World) -> None:
    require_flat(sqlite_world, lambda call: count_steps(sqlite_world, call), A_ROW, GROWS)


def test_every_list_is_measured_on_postgresql(_postgresql_once: World) -> None:
    world = _postgresql_once.renew()
    assert sum(read_on(world, call, 1) for call in asked(world)) > 20


@pytest.mark.slow
def test_no_list_gets_slower_on_postgresql_with_more_data(
    _postgresql_once: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = _postgresql_once.renew()

    def count_pages(call: Asked) -> int:
        """Return the number of pages that PostgreSQL reads for one call, counting repeated reads."""
        ask(world, call)  # This fills caches.
        with world.context.db.write():
            pass  # Rows are cached until someone commits.
        with counting_pages(monkeypatch) as looked:
            ask(world, call)
        assert looked[0], f"{call} looked at nothing"
        return looked[0]

    require_flat(world, count_pages, PAGES_A_ROW, {})
