"""Benchmark the permission check of one object, and lists filtered by permission, on SQLite in one process. CPU time.

Lists of an administrator need no check; all others are compared with them.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
from figures import figure

from octavo.kit import ids
from octavo.kit.context import Context
from octavo.kit.http.operation import TABLE, Person
from octavo.operations.installation import close_context, load_packages, open_context
from octavo.organization.access.accounts import insert_user
from octavo.organization.access.authorization import (
    OrgAccess,
    enter_collection,
    enter_organization,
    enter_space,
)
from octavo.organization.access.members import upsert_member
from octavo.organization.access.roles import Can
from octavo.organization.orgs.creating import create_organization
from octavo.organization.spaces.store import list_spaces
from octavo.settings import load

SPACES, COLLECTIONS, VISIBLE = 10_000, 500, 100


def furnish(context: Context) -> dict[str, str]:
    """Create two organizations: one closed except for explicit grants, one where everyone can see everything.

    In each, spaces are in nested collections. Return the ids of people and organizations by name.
    """
    chance = random.Random(1)
    named: dict[str, str] = {}
    with context.db.write() as tx:
        admin = insert_user(tx, "admin@example.com", "Admin", verified=True).id
        for title, level in (("closed", None), ("open", "inherit")):
            org = create_organization(tx, admin, title).id
            for name, role in _ROLES.items():
                user = (
                    admin
                    if name == "admin"
                    else insert_user(tx, f"{name}@{title}.com", name, verified=True).id
                )
                upsert_member(tx, org, user, role)
                named[f"{name} {title}"] = user
            named[title] = org
            collections = [ids.new_id() for _ in range(COLLECTIONS)]
            for n, collection in enumerate(collections):
                tx.run(
                    """INSERT INTO collections (id, organization_id, parent_id, rank, title, default_level, created_at,
                         updated_at) VALUES (:id, :org, :parent, :rank, 'C', :level, 0, 0)""",
                    id=collection,
                    org=org,
                    parent=collections[n // 8] if n > 8 else None,
                    rank=f"{n:06}",
                    level="inherit" if n > 8 else level,
                )
            spaces = [ids.new_id() for _ in range(SPACES)]
            for n, space in enumerate(spaces):
                tx.run(
                    """INSERT INTO spaces (id, organization_id, collection_id, rank, title, default_level, main_branch,
                         main_revision, created_at, updated_at)
                       VALUES (:id, :org, :collection, :rank, 'S', 'inherit', 'l', 'r', 0, 0)""",
                    id=space,
                    org=org,
                    collection=collections[n % COLLECTIONS],
                    rank=f"{n:06}",
                )
            named[f"collection {title}"] = collections[-1]
            team = ids.new_id()
            tx.run(
                "INSERT INTO teams (id, organization_id, title, created_at) VALUES (:t, :o, 'T', 0)",
                t=team,
                o=org,
            )
            # A member through a team at two collections and at spaces, a guest at spaces alone.
            through = named[f"member {title}"]
            tx.run(
                "INSERT INTO team_members (team_id, user_id, joined_at) VALUES (:t, :u, 0)", t=team, u=through
            )
            grants = [("collection", c, "team", team) for c in collections[-2:]]
            grants += [("space", s, "user", through) for s in chance.sample(spaces, VISIBLE // 2)]
            grants += [("space", s, "team", team) for s in chance.sample(spaces, VISIBLE // 2)]
            grants += [("space", s, "user", named[f"guest {title}"]) for s in chance.sample(spaces, VISIBLE)]
            tx.run_many(
                """INSERT INTO grants (object_type, object_id, subject_type, subject_id, role, created_at)
                   VALUES (:kind, :id, :type, :subject, 'read', 0) ON CONFLICT DO NOTHING""",
                [dict(zip(("kind", "id", "type", "subject"), grant, strict=True)) for grant in grants],
            )
    return named


def cpu(run: Callable[..., Any], times: int, *arguments: Any) -> float:
    """Return the lowest CPU seconds of one run, out of five rounds."""
    run(*arguments)
    rounds = []
    for _ in range(5):
        before = time.process_time()
        for _ in range(times):
            run(*arguments)
        rounds.append((time.process_time() - before) / times)
    return min(rounds)


_ROLES: dict[str, str | None] = {"admin": "admin", "member": "read", "guest": None}


def page(context: Context, org: OrgAccess) -> int:
    with context.db.read() as tx:
        found = list_spaces(tx, org, VISIBLE, None)
    if len(found.rows) != VISIBLE:
        raise RuntimeError(f"{len(found.rows)} of {found.count}")
    return found.count


def listing(call: Any) -> bytes:
    """Return the complete response as it is sent."""
    with call.db.read():
        org = enter_organization(call, Can.VIEW, call.organization)
        operation = TABLE["listSpacesInOrganizationById"]
        assert operation.query is not None
        return msgspec.json.encode(operation.handler(call, org, operation.query(limit=VISIBLE)))


def enter_cold(call: Any, space: str) -> None:
    fresh = call.context.fresh
    fresh._values.clear()
    enter_space(call, Can.VIEW, space)


def main() -> None:
    load_packages()
    with tempfile.TemporaryDirectory() as folder:
        context = open_context(load({"data": str(Path(folder) / "data")}, environ={}))
        named = furnish(context)
        unchecked: dict[str, tuple[float, float]] = {}
        for title, name in product(("closed", "open"), _ROLES):
            org = OrgAccess(named[title], Person(named[f"{name} {title}"], "bench"), _ROLES[name])
            call: Any = SimpleNamespace(
                context=context,
                db=context.db,
                settings=context.settings,
                app=context.app,
                actor=org.actor,
                authenticated=None,
                operation=TABLE["listSpacesInOrganizationById"],
                organization=org.organization_id,
                url=lambda path: path,
            )
            with context.db.read() as tx:
                space = list_spaces(tx, org, 1, None).rows[0][0].id
            # As in a request: inside the read transaction that the dispatcher holds open.
            with context.db.read():
                took = [cpu(enter_organization, 2000, call, Can.VIEW, org.organization_id)]
                took.append(cpu(enter_space, 2000, call, Can.VIEW, space))
                if name != "guest":
                    collection = named[f"collection {title}"]
                    took.append(cpu(enter_collection, 2000, call, Can.VIEW, collection))
                cold = cpu(enter_cold, 500, call, space)
            warm = ", ".join(f"{seconds * 1e6:.1f}" for seconds in took)
            print(f"{title}, {name}: organization, space, collection {warm} us")
            who = f"spaces {title} by default, {name}"
            figure(f"{who}: first request for a space", cold * 1e6, "µs")
            rows, answer = cpu(page, 20, context, org), cpu(listing, 20, call)
            without = unchecked.setdefault(title, (rows, answer))
            what = f"{VISIBLE} of {page(context, org):,} visible spaces, compared with an admin, who needs no checks"
            figure(f"{who}: query for {what}", rows * 1000, "ms", beside=without[0] * 1000)
            figure(f"{who}: response with {what}", answer * 1000, "ms", beside=without[1] * 1000)
        close_context(context)


if __name__ == "__main__":
    main()
