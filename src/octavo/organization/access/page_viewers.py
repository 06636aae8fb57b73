"""List all people and integrations that can see a space, for evaluating the rules of its pages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from octavo.kit.db.database import Transaction

from .evaluation import list_evaluated_roles, list_steps
from .page_rules import PageViewer, Rule, read_entry


def list_viewers(
    tx: Transaction, organization_id: str, space_id: str, rules: Iterable[Rule]
) -> dict[str, PageViewer]:
    """Return all people and integrations that can see a space, by ID, each with their role in the space and the teams
    they belong to, including only teams that the rules mention."""
    entries = (read_entry(text) for rule in rules for text in rule)
    named = {entry.id for entry in entries if entry is not None and entry.subject == "team"}
    teams: dict[str, set[str]] = defaultdict(set)
    for team_id, user_id in tx.all(
        """SELECT x.team_id, x.user_id FROM team_members x JOIN teams t ON t.id = x.team_id
           WHERE t.id IN :teams AND t.organization_id = :org""",
        teams=sorted(named),
        org=organization_id,
    ):
        teams[user_id].add(team_id)
    integrations = {
        id
        for (id,) in tx.all(
            """SELECT u.id FROM users u WHERE u.kind = 'integration' AND EXISTS (
                 SELECT 1 FROM members m WHERE m.organization_id = :org AND m.user_id = u.id)""",
            org=organization_id,
        )
    }
    steps = list_steps(tx, "space", space_id)
    return {
        user_id: PageViewer(
            user_id, frozenset(teams.get(user_id, ())), found.decision.role, user_id in integrations
        )
        for user_id, found in list_evaluated_roles(tx, organization_id, steps).items()
        if found.decision.role is not None
    }
