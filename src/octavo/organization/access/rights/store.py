"""Read and write grants in the database. Rows are returned as plain values."""

from __future__ import annotations

from typing import Literal, NamedTuple

from octavo.kit.clock import now
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Slice, list_page

from ..accounts import PEOPLE_LIKE, UserRow, like_part
from ..evaluation import Kind
from ..teams import TEAM, TeamRow, require_teams

SubjectType = Literal["user", "team"]


class Grantee(NamedTuple):
    """Person or team that a role is granted to."""

    type: SubjectType
    id: str


def list_user_grants(
    tx: Transaction, kind: Kind, object_id: str, limit: int, page: str | None
) -> Slice[tuple[UserRow, str | None]]:
    """Return the people with a role granted directly on this object, each with the role."""
    where = """FROM grants g JOIN users u ON u.id = g.subject_id
               WHERE g.object_type = :kind AND g.object_id = :id AND g.subject_type = 'user'"""
    return list_page(
        tx,
        limit,
        page,
        "u.id, u.email, u.display_name, u.photo_url, u.disabled, u.created_at, g.role",
        where,
        lambda row: (UserRow(*row[:-1]), row[-1]),
        by="u.id",
        kind=kind,
        id=object_id,
    )


def list_team_grants(
    tx: Transaction, kind: Kind, object_id: str, limit: int, page: str | None
) -> Slice[tuple[TeamRow, str | None]]:
    """Return the teams with a role granted directly on this object, each with the role."""
    where = """FROM grants g JOIN teams t ON t.id = g.subject_id
               WHERE g.object_type = :kind AND g.object_id = :id AND g.subject_type = 'team'"""
    return list_page(
        tx,
        limit,
        page,
        f"{TEAM}, g.role",
        where,
        lambda row: (TeamRow(*row[:-1]), row[-1]),
        by="t.id",
        kind=kind,
        id=object_id,
    )


def find_grant(tx: Transaction, kind: Kind, object_id: str, subject: Grantee) -> tuple[str | None] | None:
    """Return a one-element tuple with the role of a grant, or with None for a guest. Return None if there is no
    grant."""
    row = tx.one(
        """SELECT role FROM grants WHERE object_type = :kind AND object_id = :id
           AND subject_type = :type AND subject_id = :subject""",
        kind=kind,
        id=object_id,
        type=subject.type,
        subject=subject.id,
    )
    return (row[0],) if row else None


def put_grant(tx: Transaction, kind: Kind, object_id: str, subject: Grantee, role: str | None) -> None:
    tx.run(
        """INSERT INTO grants (object_type, object_id, subject_type, subject_id, role, created_at)
           VALUES (:kind, :id, :type, :subject, :role, :at)
           ON CONFLICT (object_type, object_id, subject_type, subject_id) DO UPDATE SET role = excluded.role""",
        kind=kind,
        id=object_id,
        type=subject.type,
        subject=subject.id,
        role=role,
        at=now(),
    )


def delete_grant(tx: Transaction, kind: Kind, object_id: str, subject: Grantee) -> None:
    tx.run(
        """DELETE FROM grants WHERE object_type = :kind AND object_id = :id
           AND subject_type = :type AND subject_id = :subject""",
        kind=kind,
        id=object_id,
        type=subject.type,
        subject=subject.id,
    )


Sort = Literal["joinedAt", "lastSeenAt", "name"]
_KEYS = {
    "joinedAt": "m.joined_at",
    "lastSeenAt": "COALESCE(m.last_seen_at, 0)",
    "name": "lower(u.display_name)",
}


def list_people_keys(
    tx: Transaction, organization_id: str, *, search: str | None, team: str | None, sort: Sort | None
) -> dict[str, str]:
    """Return the matching members, each with the text to sort by. ``search``: part of a name or email address. Raises
    NotFound if the team belongs to another organization."""
    where, given = "m.organization_id = :org", {"org": organization_id}
    if search:
        where += f" AND {PEOPLE_LIKE}"
        given["like"] = like_part(search)
    if team is not None:
        require_teams(tx, organization_id, [team], "team")
        where += " AND m.user_id IN (SELECT x.user_id FROM team_members x WHERE x.team_id = :team)"
        given["team"] = team
    rows = tx.all(
        f"SELECT m.user_id, {_KEYS[sort or 'joinedAt']} FROM members m JOIN users u ON u.id = m.user_id WHERE {where}",
        **given,
    )
    return {
        user_id: f"{value:020d} {user_id}" if isinstance(value, int) else f"{value}\x1f{user_id}"
        for user_id, value in rows
    }


def list_last_seen(tx: Transaction, organization_id: str, user_ids: list[str]) -> dict[str, int]:
    """Return the times when members were last active in the organization, by user ID. Members who have never been
    active are left out."""
    rows = tx.all(
        "SELECT user_id, last_seen_at FROM members WHERE organization_id = :org AND user_id IN :users"
        " AND last_seen_at IS NOT NULL",
        org=organization_id,
        users=user_ids,
    )
    return {row[0]: row[1] for row in rows}


def list_owned_team_ids(tx: Transaction, organization_id: str, user_id: str) -> set[str]:
    """Return the IDs of the organization's teams that this person owns."""
    rows = tx.all(
        """SELECT x.team_id FROM team_members x JOIN teams t ON t.id = x.team_id AND t.organization_id = :org
           WHERE x.user_id = :user AND x.role = 'owner'""",
        org=organization_id,
        user=user_id,
    )
    return {row[0] for row in rows}


def copy_grants(tx: Transaction, kind: str, source_id: str, copy_id: str) -> None:
    """Copy the grants of an object to another object of the same kind."""
    tx.run(
        """INSERT INTO grants (object_type, object_id, subject_type, subject_id, role, created_at)
           SELECT object_type, :copy, subject_type, subject_id, role, :at FROM grants
           WHERE object_type = :kind AND object_id = :source""",
        kind=kind,
        copy=copy_id,
        at=now(),
        source=source_id,
    )


def delete_grants(tx: Transaction, kind: str, object_ids: list[str], *, but: str | None = None) -> None:
    """Delete the grants on objects. ``but``: the organization whose members keep their grants."""
    kept = (
        ""
        if but is None
        else """ AND (subject_type = 'team'
                 OR subject_id NOT IN (SELECT user_id FROM members WHERE organization_id = :but))"""
    )
    tx.run(
        f"DELETE FROM grants WHERE object_type = :kind AND object_id IN :ids{kept}",
        kind=kind,
        ids=object_ids,
        but=but,
    )
