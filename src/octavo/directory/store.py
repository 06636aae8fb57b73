"""What a directory calls members and teams: rows in, frozen records out."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from ..kit import ids
from ..kit.clock import now
from ..kit.db import Transaction

Kind = Literal["user", "group"]


class UserRow(Struct, frozen=True):
    id: str
    email: str
    display_name: str
    managed: bool
    active: bool
    external_id: str | None
    joined_at: int
    updated_at: int


class GroupRow(Struct, frozen=True):
    id: str
    title: str
    external_id: str | None
    created_at: int
    updated_at: int


_USERS = """FROM members m JOIN users u ON u.id = m.user_id
  LEFT JOIN scim_resources s ON s.organization_id = m.organization_id AND s.kind = 'user' AND s.id = m.user_id
  WHERE m.organization_id = :org AND u.kind = 'person'"""
_USER = """u.id, u.email, u.display_name, u.managed_by, m.disabled, u.disabled, s.external_id, m.joined_at,
  s.updated_at"""
_GROUPS = """FROM teams t
  LEFT JOIN scim_resources s ON s.organization_id = t.organization_id AND s.kind = 'group' AND s.id = t.id
  WHERE t.organization_id = :org"""
_GROUP = "t.id, t.title, s.external_id, t.created_at, s.updated_at"

# What a filter may ask for, by the attribute's name in lower case.
USER_FILTERS = {"username": "u.email", "emails.value": "u.email", "emails": "u.email", "externalid": "s.external_id",
                "id": "u.id"}  # fmt: skip
GROUP_FILTERS = {"displayname": "t.title", "externalid": "s.external_id", "id": "t.id"}


def _user(organization_id: str, row: tuple[Any, ...]) -> UserRow:
    id, email, name, managed_by, member_disabled, disabled, external_id, joined_at, updated_at = row
    return UserRow(
        id,
        email,
        name,
        managed_by == organization_id,
        not member_disabled and not disabled,
        external_id,
        joined_at,
        updated_at or joined_at,
    )


def _group(row: tuple[Any, ...]) -> GroupRow:
    id, title, external_id, created_at, updated_at = row
    return GroupRow(id, title, external_id, created_at, updated_at or created_at)


def find_user(tx: Transaction, organization_id: str, user_id: str) -> UserRow | None:
    row = tx.one(f"SELECT {_USER} {_USERS} AND u.id = :id", org=organization_id, id=user_id)
    return _user(organization_id, row) if row else None


def list_users(
    tx: Transaction, organization_id: str, column: str | None, value: str, offset: int, limit: int
) -> tuple[list[UserRow], int]:
    """Members in the order they were made, and how many there are; ``column``: one of USER_FILTERS' values."""
    where = f"{_USERS} AND {column} = :value" if column else _USERS
    rows = tx.all(
        f"SELECT {_USER} {where} ORDER BY u.id LIMIT :limit OFFSET :offset",
        org=organization_id,
        value=value,
        limit=limit,
        offset=offset,
    )
    total = tx.value(f"SELECT count(*) {where}", org=organization_id, value=value)
    return [_user(organization_id, row) for row in rows], total


def find_group(tx: Transaction, organization_id: str, group_id: str) -> GroupRow | None:
    row = tx.one(f"SELECT {_GROUP} {_GROUPS} AND t.id = :id", org=organization_id, id=group_id)
    return _group(row) if row else None


def list_groups(
    tx: Transaction, organization_id: str, column: str | None, value: str, offset: int, limit: int
) -> tuple[list[GroupRow], int]:
    where = f"{_GROUPS} AND {column} = :value" if column else _GROUPS
    rows = tx.all(
        f"SELECT {_GROUP} {where} ORDER BY t.id LIMIT :limit OFFSET :offset",
        org=organization_id,
        value=value,
        limit=limit,
        offset=offset,
    )
    total = tx.value(f"SELECT count(*) {where}", org=organization_id, value=value)
    return [_group(row) for row in rows], total


def group_members(tx: Transaction, group_ids: list[str]) -> dict[str, list[tuple[str, str]]]:
    """Ids and names of the people in teams, by team."""
    rows = tx.all(
        """SELECT t.team_id, u.id, u.display_name FROM team_members t JOIN users u ON u.id = t.user_id
           WHERE t.team_id IN :ids ORDER BY u.id""",
        ids=group_ids,
    )
    found: dict[str, list[tuple[str, str]]] = {id: [] for id in group_ids}
    for team_id, user_id, name in rows:
        found[team_id].append((user_id, name))
    return found


def note(tx: Transaction, organization_id: str, kind: Kind, id: str, external_id: str | None) -> None:
    """Keeps what the directory calls it, and that it changed."""
    tx.run(
        """INSERT INTO scim_resources (organization_id, kind, id, external_id, updated_at)
           VALUES (:org, :kind, :id, :external, :at)
           ON CONFLICT (organization_id, kind, id)
           DO UPDATE SET external_id = excluded.external_id, updated_at = excluded.updated_at""",
        org=organization_id,
        kind=kind,
        id=id,
        external=external_id,
        at=now(),
    )


def forget(tx: Transaction, organization_id: str, kind: Kind, id: str) -> None:
    tx.run(
        "DELETE FROM scim_resources WHERE organization_id = :org AND kind = :kind AND id = :id",
        org=organization_id,
        kind=kind,
        id=id,
    )


def enable_member(tx: Transaction, organization_id: str, user_id: str) -> None:
    tx.run(
        "UPDATE members SET disabled = 0 WHERE organization_id = :org AND user_id = :user",
        org=organization_id,
        user=user_id,
    )


def rename_user(tx: Transaction, user_id: str, name: str) -> None:
    tx.run("UPDATE users SET display_name = :name WHERE id = :id", name=name, id=user_id)


def set_manager(tx: Transaction, user_id: str, organization_id: str) -> None:
    tx.run("UPDATE users SET managed_by = :org WHERE id = :id", org=organization_id, id=user_id)


def insert_group(tx: Transaction, organization_id: str, title: str) -> str:
    group_id = ids.new_id()
    tx.run(
        "INSERT INTO teams (id, organization_id, title, created_at) VALUES (:id, :org, :title, :at)",
        id=group_id,
        org=organization_id,
        title=title,
        at=now(),
    )
    return group_id


def rename_group(tx: Transaction, group_id: str, title: str) -> None:
    tx.run("UPDATE teams SET title = :title WHERE id = :id", title=title, id=group_id)


def delete_group(tx: Transaction, group_id: str) -> None:
    tx.run("DELETE FROM grants WHERE subject_type = 'team' AND subject_id = :id", id=group_id)
    tx.run("DELETE FROM teams WHERE id = :id", id=group_id)


def add_to_group(tx: Transaction, group_id: str, user_ids: list[str]) -> None:
    tx.run_many(
        """INSERT INTO team_members (team_id, user_id, joined_at) VALUES (:team, :user, :at)
           ON CONFLICT (team_id, user_id) DO NOTHING""",
        [{"team": group_id, "user": user_id, "at": now()} for user_id in user_ids],
    )


def remove_from_group(tx: Transaction, group_id: str, user_ids: list[str]) -> None:
    tx.run(
        "DELETE FROM team_members WHERE team_id = :team AND user_id IN :users", team=group_id, users=user_ids
    )


def clear_group(tx: Transaction, group_id: str) -> None:
    tx.run("DELETE FROM team_members WHERE team_id = :team", team=group_id)


def are_members(tx: Transaction, organization_id: str, user_ids: list[str]) -> bool:
    found = tx.value(
        "SELECT count(*) FROM members WHERE organization_id = :org AND user_id IN :users",
        org=organization_id,
        users=user_ids,
    )
    return bool(found == len(set(user_ids)))
