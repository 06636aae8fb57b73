"""Read and write teams and their members in the database, and call hooks for deleted teams. Rows are returned
as frozen records."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from msgspec import Struct

from octavo.errors import NotFound
from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.db.database import Transaction

TeamRole = Literal["owner", "member"]
Removed = Callable[[Transaction, str], None]
_on_team_removed: list[Removed] = []


def on_team_removed(hook: Removed) -> Removed:
    """Register ``hook(tx, team_id)``, which is called in the transaction that deletes a team."""
    _on_team_removed.append(hook)
    return hook


class TeamRow(Struct, frozen=True):
    """Team of an organization. ``spaces``: the number of spaces in which the team has a role. ``avatar_id``: the
    ID of the team's picture."""

    id: str
    organization_id: str
    title: str
    created_at: int
    members: int
    spaces: int
    avatar_id: str | None


TEAM = """t.id, t.organization_id, t.title, t.created_at,
  (SELECT count(*) FROM team_members x WHERE x.team_id = t.id),
  (SELECT count(*) FROM grants g JOIN spaces s ON s.id = g.object_id AND s.deleted_at IS NULL
   WHERE g.subject_type = 'team' AND g.subject_id = t.id AND g.object_type = 'space'),
  (SELECT a.id FROM team_avatars a WHERE a.team_id = t.id)"""
"""Columns of a TeamRow, from ``teams t``."""


def list_team_ids(tx: Transaction, organization_id: str, user_id: str) -> list[str]:
    """Return the teams of an organization that a person belongs to."""
    rows = tx.all(
        """SELECT x.team_id FROM team_members x JOIN teams t ON t.id = x.team_id
           WHERE x.user_id = :user AND t.organization_id = :org""",
        user=user_id,
        org=organization_id,
    )
    return [row[0] for row in rows]


def find_team(tx: Transaction, organization_id: str, team_id: str) -> TeamRow | None:
    row = tx.one(
        f"SELECT {TEAM} FROM teams t WHERE t.id = :id AND t.organization_id = :org",
        id=team_id,
        org=organization_id,
    )
    return TeamRow(*row) if row else None


def require_teams(tx: Transaction, organization_id: str, team_ids: list[str], place: str) -> None:
    """Raise NotFound unless all teams belong to the organization. ``place``: the name of the request field, for the
    error message."""
    wanted = set(team_ids)
    found = tx.all(
        "SELECT id FROM teams WHERE organization_id = :org AND id IN :teams",
        org=organization_id,
        teams=sorted(wanted),
    )
    if missing := wanted - {row[0] for row in found}:
        raise NotFound(f"{place}: there is no team with the ID {sorted(missing)[0]!r} in this organization")


def insert_team(tx: Transaction, organization_id: str, title: str) -> str:
    """Create a team without members, and return its ID."""
    team_id = ids.new_id()
    tx.insert("teams", id=team_id, organization_id=organization_id, title=title, created_at=now())
    return team_id


def rename_team(tx: Transaction, team_id: str, title: str) -> None:
    tx.run("UPDATE teams SET title = :title WHERE id = :id", title=title, id=team_id)


def delete_team(tx: Transaction, organization_id: str, team_id: str) -> bool:
    """Delete a team and its grants. Return False if the organization has no such team."""
    if not tx.run(
        "DELETE FROM teams WHERE id = :id AND organization_id = :org", id=team_id, org=organization_id
    ):
        return False
    tx.run("DELETE FROM grants WHERE subject_type = 'team' AND subject_id = :id", id=team_id)
    for hook in _on_team_removed:
        hook(tx, team_id)
    return True


def put_team_member(tx: Transaction, team_id: str, user_id: str, role: TeamRole | None = None) -> None:
    """Add a member to a team, or change the member's role. If the role is None, a new member gets the `member` role,
    and existing members keep their role."""
    keep = "team_members.role" if role is None else "excluded.role"
    tx.run(
        f"""INSERT INTO team_members (team_id, user_id, role, joined_at) VALUES (:team, :user, :role, :at)
            ON CONFLICT (team_id, user_id) DO UPDATE SET role = {keep}""",
        team=team_id,
        user=user_id,
        role=role or "member",
        at=now(),
    )


def join_teams(tx: Transaction, pairs: Iterable[tuple[str, str]]) -> None:
    """Add users to teams. ``pairs``: the team ID and the user ID of each new member. Existing members keep their
    role."""
    tx.run_many(
        """INSERT INTO team_members (team_id, user_id, joined_at) VALUES (:team, :user, :at)
           ON CONFLICT (team_id, user_id) DO NOTHING""",
        [{"team": team_id, "user": user_id, "at": now()} for team_id, user_id in pairs],
    )


def remove_team_members(tx: Transaction, team_id: str, user_ids: list[str]) -> int:
    return tx.run(
        "DELETE FROM team_members WHERE team_id = :team AND user_id IN :users", team=team_id, users=user_ids
    )


def clear_team(tx: Transaction, team_id: str) -> None:
    tx.run("DELETE FROM team_members WHERE team_id = :team", team=team_id)
