"""Evaluate roles on a space, collection, or site from the grants on it and on its ancestors.

The rule itself is ``roles.decide``. This module provides the input for the rule, for one person or for all members at
once. Lists of all objects that a person can see are filtered in SQL (see ``visibility``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from octavo.kit.db.database import Transaction

from .roles import RoleDecision, Rung, decide

Kind = Literal["space", "collection", "site"]
_MAX_DEPTH = 64


class Step(NamedTuple):
    """Object on the path from a space, collection, or site up to its organization."""

    kind: Kind
    id: str
    default_level: str | None


def list_steps(tx: Transaction, kind: Kind, object_id: str) -> list[Step]:
    """Return an object and the collections that contain it, innermost first. The result is empty if the object doesn't
    exist.

    A site isn't in any collection, and its spaces have their own permissions."""
    if kind == "collection":
        return list_collection_steps(tx, object_id)
    if kind == "site":
        found = list_steps_of_sites(tx, [object_id])
        return found.get(object_id, [])
    row = tx.one("SELECT default_level, collection_id FROM spaces WHERE id = :id", id=object_id)
    return [] if row is None else [Step("space", object_id, row[0]), *list_collection_steps(tx, row[1])]


def list_collection_steps(tx: Transaction, collection_id: str | None) -> list[Step]:
    """Return a collection and the collections that contain it, innermost first. If the collection is None (the top
    level of an organization), the result is empty."""
    steps: list[Step] = []
    while collection_id is not None and len(steps) < _MAX_DEPTH:
        row = tx.one("SELECT default_level, parent_id FROM collections WHERE id = :id", id=collection_id)
        if row is None:
            break
        steps.append(Step("collection", collection_id, row[0]))
        collection_id = row[1]
    return steps


class StepGrants(NamedTuple):
    """Grants to a person at one step. ``user``: the role granted to the person (one or none). ``teams``: the
    roles granted to their teams, by team."""

    step: Step
    user: Sequence[str | None]
    teams: Mapping[str, str | None]

    @property
    def rung(self) -> Rung:
        return Rung(self.user, list(self.teams.values()), self.step.default_level)


def list_step_grants(tx: Transaction, user_id: str, steps: Iterable[Step]) -> dict[str, StepGrants]:
    """Return the grants to a person at each of these steps, by object ID."""
    found: dict[str, tuple[Step, list[str | None], dict[str, str | None]]] = {
        step.id: (step, [], {}) for step in steps
    }
    rows = tx.all(
        """SELECT g.object_id, g.subject_type, g.subject_id, g.role FROM grants g
           WHERE g.object_id IN :objects AND (
             (g.subject_type = 'user' AND g.subject_id = :user)
             OR (g.subject_type = 'team' AND g.subject_id IN (SELECT team_id FROM team_members WHERE user_id = :user)))
           ORDER BY g.subject_id""",
        objects=list(found),
        user=user_id,
    )
    for object_id, subject, subject_id, role in rows:
        _, own, teams = found[object_id]
        if subject == "user":
            own.append(role)
        else:
            teams[subject_id] = role
    return {object_id: StepGrants(*one) for object_id, one in found.items()}


def list_steps_of_spaces(tx: Transaction, space_ids: Sequence[str]) -> dict[str, list[Step]]:
    """Return the result of ``list_steps`` for each of these spaces, by ID."""
    above = {
        row[0]: (Step("collection", row[0], row[1]), row[2])
        for row in tx.all(
            """WITH RECURSIVE above(id, level, parent) AS (
                 SELECT c.id, c.default_level, c.parent_id FROM collections c
                  WHERE c.id IN (SELECT collection_id FROM spaces WHERE id IN :spaces)
                 UNION SELECT c.id, c.default_level, c.parent_id
                   FROM collections c JOIN above a ON c.id = a.parent)
               SELECT id, level, parent FROM above""",
            spaces=space_ids,
        )
    }
    found: dict[str, list[Step]] = {}
    for id, level, parent in tx.all(
        "SELECT id, default_level, collection_id FROM spaces WHERE id IN :spaces", spaces=space_ids
    ):
        steps = [Step("space", id, level)]
        while parent in above and len(steps) <= _MAX_DEPTH:
            step, parent = above[parent]
            steps.append(step)
        found[id] = steps
    return found


def list_steps_of_sites(tx: Transaction, site_ids: Sequence[str]) -> dict[str, list[Step]]:
    """Return the result of ``list_steps`` for each of these sites, by ID."""
    rows = tx.all("SELECT id, default_level FROM sites WHERE id IN :sites", sites=site_ids)
    return {id: [Step("site", id, level)] for id, level in rows}


class EvaluatedRole(NamedTuple):
    """Role of a member on an object, and the reason for it. ``teams``: the teams whose grants determine the role."""

    decision: RoleDecision
    teams: tuple[str, ...] = ()


def evaluate_steps(member_role: str | None, said: Sequence[StepGrants]) -> EvaluatedRole:
    """Evaluate a member's role from ``said``, the member's grants at each step from the object outward."""
    decision = decide(member_role, [one.rung for one in said])
    if decision.by != "team" or decision.rung is None:
        return EvaluatedRole(decision)
    given = said[decision.rung].teams
    return EvaluatedRole(decision, tuple(team for team, role in given.items() if role == decision.role))


def role_along(tx: Transaction, user_id: str, member_role: str | None, steps: Sequence[Step]) -> str | None:
    """Return a member's role on the first of ``steps``."""
    if member_role == "admin":
        return "admin"
    said = list_step_grants(tx, user_id, steps)
    return evaluate_steps(member_role, [said[step.id] for step in steps]).decision.role


def list_evaluated_roles(
    tx: Transaction, organization_id: str, steps: Sequence[Step]
) -> dict[str, EvaluatedRole]:
    """Return every enabled member's role on ``steps[0]``, by user ID. Members without access are included."""
    rung_of = {step.id: index for index, step in enumerate(steps)}
    users: dict[str, dict[int, list[str | None]]] = defaultdict(lambda: defaultdict(list))
    teams: dict[str, dict[int, str | None]] = defaultdict(dict)
    for object_id, subject, subject_id, role in tx.all(
        "SELECT object_id, subject_type, subject_id, role FROM grants WHERE object_id IN :objects",
        objects=list(rung_of),
    ):
        if subject == "user":
            users[subject_id][rung_of[object_id]].append(role)
        else:
            teams[subject_id][rung_of[object_id]] = role
    teams_of: dict[str, list[str]] = defaultdict(list)
    for team_id, user_id in tx.all(
        "SELECT team_id, user_id FROM team_members WHERE team_id IN :teams ORDER BY team_id",
        teams=sorted(teams),
    ):
        teams_of[user_id].append(team_id)
    # Most members have no grant here, so they have the same access as everyone else with their role.
    plain: dict[str | None, EvaluatedRole] = {}
    bare = [StepGrants(step, (), {}) for step in steps]
    found: dict[str, EvaluatedRole] = {}
    for user_id, member_role in tx.all(
        """SELECT m.user_id, m.role FROM members m JOIN users u ON u.id = m.user_id AND u.disabled = 0
           WHERE m.organization_id = :org AND m.disabled = 0 ORDER BY m.user_id""",
        org=organization_id,
    ):
        own, through = users.get(user_id), teams_of.get(user_id)
        if own is None and through is None:
            if member_role not in plain:
                plain[member_role] = evaluate_steps(member_role, bare)
            found[user_id] = plain[member_role]
            continue
        said = [
            StepGrants(
                step,
                own.get(index, ()) if own else (),
                {team: teams[team][index] for team in through or () if index in teams[team]},
            )
            for index, step in enumerate(steps)
        ]
        found[user_id] = evaluate_steps(member_role, said)
    return found
