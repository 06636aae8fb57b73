"""Read and write teams in the database. Rows are returned as frozen records."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from octavo.kit.db.database import Transaction, json_list
from octavo.kit.db.pagination import Slice, list_page
from octavo.organization.access.teams import TEAM, TeamRow


def _like(text: str) -> str:
    return "%" + text.lower().replace("!", "!!").replace("%", "!%").replace("_", "!_") + "%"


def list_teams(
    tx: Transaction,
    organization_id: str,
    limit: int,
    page: str | None,
    *,
    owner: str | None = None,
    title: str | None = None,
) -> Slice[TeamRow]:
    """Return the teams, newest first. ``owner``: the member who must be able to manage the teams. ``title``:
    part of the title."""
    where, parameters = "FROM teams t WHERE t.organization_id = :org", dict[str, Any](org=organization_id)
    if title:
        where += " AND lower(t.title) LIKE :title ESCAPE '!'"
        parameters["title"] = _like(title)
    if owner:
        where += """ AND (EXISTS (SELECT 1 FROM team_members x WHERE x.team_id = t.id AND x.user_id = :owner
                       AND x.role = 'owner')
                     OR EXISTS (SELECT 1 FROM members m WHERE m.organization_id = t.organization_id
                       AND m.user_id = :owner AND m.role = 'admin' AND m.disabled = 0))"""
        parameters["owner"] = owner
    return list_page(
        tx, limit, page, TEAM, where, lambda row: TeamRow(*row), by="t.id", descending=True, **parameters
    )


def list_teams_of_member(
    tx: Transaction, organization_id: str, user_id: str, limit: int, page: str | None, *, title: str | None
) -> Slice[tuple[TeamRow, str]]:
    """Return the teams of a member, newest first, each with the member's role in it."""
    where = """FROM teams t JOIN team_members x ON x.team_id = t.id AND x.user_id = :user
               WHERE t.organization_id = :org"""
    parameters = dict[str, Any](org=organization_id, user=user_id)
    if title:
        where += " AND lower(t.title) LIKE :title ESCAPE '!'"
        parameters["title"] = _like(title)
    return list_page(
        tx,
        limit,
        page,
        f"{TEAM}, x.role",
        where,
        lambda row: (TeamRow(*row[:-1]), row[-1]),
        by="t.id",
        descending=True,
        **parameters,
    )


class TeamMemberRow(Struct, frozen=True):
    user_id: str
    role: str


def list_team_members(tx: Transaction, team_id: str, limit: int, page: str | None) -> Slice[TeamMemberRow]:
    """Return the people in a team, sorted by user ID, without service accounts."""
    where = """FROM team_members x JOIN users u ON u.id = x.user_id AND u.kind = 'person'
               WHERE x.team_id = :team"""
    return list_page(
        tx,
        limit,
        page,
        "x.user_id, x.role",
        where,
        lambda row: TeamMemberRow(*row),
        by="x.user_id",
        team=team_id,
    )


def list_member_ids(tx: Transaction, team_ids: Iterable[str]) -> list[str]:
    """Return the IDs of all people in any of these teams."""
    rows = tx.all(
        f"SELECT DISTINCT user_id FROM team_members WHERE team_id {tx.among('teams')}",
        teams=json_list(team_ids),
    )
    return [user_id for (user_id,) in rows]


def is_team_owner(tx: Transaction, team_id: str, user_id: str) -> bool:
    return (
        tx.one(
            "SELECT 1 FROM team_members WHERE team_id = :team AND user_id = :user AND role = 'owner'",
            team=team_id,
            user=user_id,
        )
        is not None
    )


def find_member_ids(tx: Transaction, organization_id: str, named: list[str]) -> dict[str, str]:
    """Return the IDs of members, keyed by the given IDs or email addresses."""
    rows = tx.all(
        """SELECT u.id, u.email FROM members m JOIN users u ON u.id = m.user_id
           WHERE m.organization_id = :org AND (u.id IN :named OR u.email IN :lower)""",
        org=organization_id,
        named=named,
        lower=[name.lower() for name in named],
    )
    known = {id: id for id, _ in rows} | {email: id for id, email in rows}
    return {
        name: known.get(name) or known[name.lower()] for name in named if {name, name.lower()} & set(known)
    }
