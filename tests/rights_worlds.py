"""Random worlds of permissions, and a slow reference implementation that evaluates them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from octavo.organization.access.roles import ORDER, Rung, effective_role

ROLES: tuple[str | None, ...] = (None, *ORDER)
LEVELS: tuple[str | None, ...] = (*ROLES, "inherit")
STRENGTH = {role: number for number, role in enumerate(ROLES)}


@dataclass
class RightsWorld:
    """An organization in small. Objects are named by number: spaces ``s0``…, collections ``c0``…,
    sites ``p0``…

    ``parents`` of a collection come before it; ``grants`` are (object, "user" or "team", subject) to role.
    """

    members: dict[str, str | None] = field(default_factory=dict)
    teams: dict[str, set[str]] = field(default_factory=dict)
    parents: dict[str, str | None] = field(default_factory=dict)
    levels: dict[str, str | None] = field(default_factory=dict)
    grants: dict[tuple[str, str, str], str | None] = field(default_factory=dict)


def reference(world: RightsWorld, user: str, thing: str) -> str | None:
    """Compute permissions as docs/access/permissions.md defines them: slow, and independent of the evaluator."""
    if user not in world.members:
        return None
    if world.members[user] == "admin":
        return "admin"
    personal = [
        role for (at, kind, who), role in world.grants.items() if (at, kind, who) == (thing, "user", user)
    ]
    if personal:
        return personal[0]
    by_team = {
        STRENGTH[role]
        for (at, kind, who), role in world.grants.items()
        if at == thing and kind == "team" and user in world.teams[who]
    }
    if by_team:
        return ROLES[max(by_team)]
    level = world.levels[thing]
    if level != "inherit":
        return None if world.members[user] is None else level
    above = world.parents[thing]
    return world.members[user] if above is None else reference(world, user, above)


def evaluated(world: RightsWorld, user: str, thing: str) -> str | None:
    """Return the same, as the evaluator computes it."""
    rungs, at = [], thing
    while at is not None:
        rungs.append(
            Rung(
                [world.grants[at, "user", user]] if (at, "user", user) in world.grants else (),
                [
                    world.grants[at, "team", team]
                    for team, people in world.teams.items()
                    if user in people and (at, "team", team) in world.grants
                ],
                world.levels[at],
            )
        )
        at = world.parents[at]
    return effective_role(world.members[user], rungs) if user in world.members else None


def draw_world(
    number: Callable[[int], int],
    *,
    users: int = 4,
    teams: int = 3,
    collections: int = 4,
    spaces: int = 5,
    sites: int = 2,
) -> RightsWorld:
    """Generate a world from ``number(n)``, which returns any of 0 to n-1."""
    world = RightsWorld()
    for u in range(users):
        if number(8):
            world.members[f"u{u}"] = ROLES[number(len(ROLES))]
    for t in range(teams):
        world.teams[f"t{t}"] = {user for user in world.members if number(2)}
    for c in range(collections):
        above = number(c + 1)
        world.parents[f"c{c}"] = f"c{above - 1}" if above else None
    for s in range(spaces):
        above = number(collections + 1)
        world.parents[f"s{s}"] = f"c{above - 1}" if above else None
    for p in range(sites):
        # A site is in no collection.
        world.parents[f"p{p}"] = None
    for thing in world.parents:
        # Half of them inherit: so that the way up is walked.
        world.levels[thing] = "inherit" if number(2) else LEVELS[number(len(LEVELS))]
        for kind, subjects in (("user", world.members), ("team", world.teams)):
            for subject in subjects:
                if not number(6):
                    world.grants[thing, kind, subject] = ROLES[number(len(ROLES))]
    return world
