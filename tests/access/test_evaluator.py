"""The evaluator of roles, its SQL form for lists, and the table for all members agree with a slow reference."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octavo.kit.db.database import Database, Transaction
from octavo.kit.http.operation import Person
from octavo.organization.access.authorization import OrgAccess
from octavo.organization.access.evaluation import (
    Kind,
    evaluate_steps,
    list_evaluated_roles,
    list_step_grants,
    list_steps,
    list_steps_of_sites,
    list_steps_of_spaces,
)
from octavo.organization.access.roles import role_from_height
from octavo.organization.access.visibility import (
    is_mostly_closed,
    select_visible_collections,
    select_visible_sites,
    select_visible_spaces,
)
from rights_worlds import RightsWorld, draw_world, evaluated, reference


def disagreements(world: RightsWorld) -> Iterator[str]:
    for user in [*world.members, "nobody"]:
        for thing in world.parents:
            wanted, got = reference(world, user, thing), evaluated(world, user, thing)
            if wanted != got:
                yield f"{user} at {thing}: expected {wanted}, got {got} in {world}"


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_the_evaluator_agrees_with_the_reference(data) -> None:
    world = draw_world(lambda n: data.draw(st.integers(0, n - 1)))
    assert not list(disagreements(world))


@pytest.mark.slow
def test_the_evaluator_agrees_with_the_reference_in_a_million_worlds() -> None:
    chance = random.Random(20260101)
    for _ in range(1_000_000):
        world = draw_world(
            lambda n: int(chance.random() * n),
            users=2,
            teams=2,
            collections=chance.randrange(4),
            spaces=2,
            sites=1,
        )
        for found in disagreements(world):
            raise AssertionError(found)


# --- the SQL forms --------------------------------------------------------------------------------------


KINDS: dict[str, Kind] = {"c": "collection", "s": "space", "p": "site"}


def write(tx: Transaction, world: RightsWorld) -> None:
    """Write a world to the database, next to another organization with the opposite of everything."""
    for table in ("grants", "spaces", "sites", "team_members", "teams", "members", "organizations", "users"):
        tx.run(f"DELETE FROM {table}")
    # Inner ones before outer ones, because they reference each other.
    for collection in sorted((i for i in world.parents if i[0] == "c"), key=lambda i: -int(i[1:])):
        tx.run("DELETE FROM collections WHERE id = :id", id=collection)
    tx.run("DELETE FROM collections")
    for organization in ("o", "other"):
        tx.run("INSERT INTO organizations (id, title, created_at) VALUES (:id, 'T', 0)", id=organization)
    for user in {*world.members, "nobody"}:
        tx.run("INSERT INTO users (id, email, display_name, created_at) VALUES (:id, :id, :id, 0)", id=user)
        tx.run(
            "INSERT INTO members (organization_id, user_id, role, joined_at) VALUES ('other', :u, 'admin', 0)",
            u=user,
        )
    tx.run_many(
        "INSERT INTO members (organization_id, user_id, role, joined_at) VALUES ('o', :user, :role, 0)",
        [{"user": user, "role": role} for user, role in world.members.items()],
    )
    tx.run_many(
        "INSERT INTO teams (id, organization_id, title, created_at) VALUES (:id, 'o', :id, 0)",
        [{"id": team} for team in world.teams],
    )
    tx.run_many(
        "INSERT INTO team_members (team_id, user_id, joined_at) VALUES (:team, :user, 0)",
        [{"team": team, "user": user} for team, users in world.teams.items() for user in users],
    )
    for thing, parent in world.parents.items():
        given = {"id": thing, "parent": parent, "level": world.levels[thing]}
        if thing[0] == "c":
            tx.run(
                """INSERT INTO collections (id, organization_id, parent_id, rank, title, default_level, created_at,
                     updated_at) VALUES (:id, 'o', :parent, 'a', 'C', :level, 0, 0)""",
                **given,
            )
        elif thing[0] == "p":
            tx.run(
                """INSERT INTO sites (id, organization_id, title, basename, visibility, type, default_level,
                     created_at, updated_at)
                   VALUES (:id, 'o', 'P', :id, 'public', 'basic', :level, 0, 0)""",
                id=thing,
                level=world.levels[thing],
            )
        else:
            tx.run(
                """INSERT INTO spaces (id, organization_id, collection_id, rank, title, default_level, main_branch,
                     main_revision, created_at, updated_at)
                   VALUES (:id, 'o', :parent, 'a', 'S', :level, 'l', 'r', 0, 0)""",
                **given,
            )
    tx.run_many(
        """INSERT INTO grants (object_type, object_id, subject_type, subject_id, role, created_at)
           VALUES (:kind, :id, :type, :subject, :role, 0)""",
        [
            {
                "kind": KINDS[at[0]],
                "id": at,
                "type": kind,
                "subject": who,
                "role": role,
            }
            for (at, kind, who), role in world.grants.items()
        ],
    )


def listed(tx: Transaction, world: RightsWorld, user: str) -> dict[str, str | None]:
    """Return what lists show to this member, each with the role there."""
    org = OrgAccess("o", Person(user, "token"), world.members[user])
    found: list[dict[str, str | None]] = []
    selected = (
        select_visible_spaces(org, "1 = 1"),
        select_visible_spaces(org, "1 = 1", True),
        select_visible_collections(org, "1 = 1"),
        select_visible_sites(org, "1 = 1"),
    )
    for seen in selected:
        rows = tx.all(
            f"{seen.prefix} SELECT v.id, v.height, {seen.total} FROM {seen.visible} v", **seen.parameters
        )
        assert all(row[2] == len(rows) for row in rows)
        found.append({id: role_from_height(height) for id, height, _ in rows})
    spaces, in_other_way, *others = found
    assert spaces == in_other_way
    return {id: role for each in (spaces, *others) for id, role in each.items()}


@pytest.mark.parametrize(
    "seed", [*range(10), *(pytest.param(n, marks=pytest.mark.slow) for n in range(10, 40))]
)
def test_lists_match_the_table_of_all_people(database: Database, seed: int) -> None:
    chance = random.Random(seed)
    world = draw_world(chance.randrange, users=6, teams=4, collections=8, spaces=12, sites=8)
    with database.write() as tx:
        write(tx, world)
    with database.read() as tx:
        for thing in world.parents:
            steps = list_steps(tx, KINDS[thing[0]], thing)
            standings = list_evaluated_roles(tx, "o", steps)
            assert {u: s.decision.role for u, s in standings.items()} == {
                user: reference(world, user, thing) for user in world.members
            }
            # Evaluating a single person gives the same result.
            ways = {thing: steps, **list_steps_of_spaces(tx, [thing]), **list_steps_of_sites(tx, [thing])}
            assert ways[thing] == steps
            for user, found in standings.items():
                said = list_step_grants(tx, user, steps)
                assert evaluate_steps(world.members[user], [said[step.id] for step in steps]) == found
            for user, (decision, teams) in standings.items():
                if decision.by == "team":
                    at = steps[decision.rung].id
                    assert teams
                    assert all(
                        world.grants[at, "team", t] == decision.role and user in world.teams[t] for t in teams
                    )
        for user in world.members:
            roles = {thing: reference(world, user, thing) for thing in world.parents}
            assert listed(tx, world, user) == {
                thing: role for thing, role in roles.items() if role is not None
            }


@pytest.mark.parametrize("level", [None, "inherit"])
def test_a_large_organization_is_checked_for_closed_collections(
    database: Database, monkeypatch, level: str | None
) -> None:
    world = draw_world(random.Random(1).randrange, users=2, teams=1, collections=3, spaces=4, sites=0)
    world.grants.clear()
    world.levels |= {thing: level for thing in world.parents if thing[0] == "c"}
    with database.write() as tx:
        write(tx, world)
    for most, role, expected in (
        (4, "read", level is None),
        (5, "read", False),
        (4, "admin", False),
        (4, None, False),
    ):
        monkeypatch.setattr("octavo.organization.access.visibility._MANY", most)
        database.caches.clear()
        with database.read() as tx:
            assert is_mostly_closed(tx, OrgAccess("o", Person("u0", "token"), role)) is expected
