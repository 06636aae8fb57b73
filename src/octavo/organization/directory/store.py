"""Read and write members and teams in the database, as a directory sees them. Rows are returned as frozen
records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from octavo.kit.clock import now
from octavo.kit.db.database import Row, Transaction
from octavo.organization.access.teams import clear_team, join_teams, remove_team_members

Kind = Literal["user", "group"]


class ScimUserRow(Struct, frozen=True):
    """Person, as the directory sees them. ``user_id``: the account; None for an invited person who hasn't
    accepted yet. In that case, none of the data comes from the person's account. ``display_name``: the name,
    which is taken from the account only once the membership is accepted."""

    id: str
    user_id: str | None
    email: str
    display_name: str
    managed: bool
    active: bool
    external_id: str | None
    created_at: int
    updated_at: int


class ScimGroupRow(Struct, frozen=True):
    id: str
    title: str
    external_id: str | None
    created_at: int
    updated_at: int


_MEMBERS = """SELECT COALESCE(s.id, u.id) AS id, u.id AS user_id, u.email AS email,
    CASE WHEN m.accepted = 1 THEN u.display_name ELSE COALESCE(s.display_name, u.email) END AS display_name,
    CASE WHEN u.managed_by = :org THEN 1 ELSE 0 END AS managed,
    CASE WHEN m.disabled = 0 AND u.disabled = 0 THEN 1 ELSE 0 END AS active,
    s.external_id AS external_id, m.joined_at AS created_at, COALESCE(s.updated_at, m.joined_at) AS updated_at
  FROM members m JOIN users u ON u.id = m.user_id
  LEFT JOIN scim_resources s ON s.organization_id = m.organization_id AND s.kind = 'user' AND s.user_id = m.user_id
  WHERE m.organization_id = :org AND u.kind = 'person'"""
_INVITED = """SELECT s.id AS id, NULL AS user_id, s.user_name AS email, s.display_name AS display_name, 0 AS managed,
    CASE WHEN i.id IS NULL THEN 0 ELSE 1 END AS active, s.external_id AS external_id, s.created_at AS created_at,
    s.updated_at AS updated_at
  FROM scim_resources s LEFT JOIN invitations i ON i.organization_id = s.organization_id AND i.email = s.user_name
  WHERE s.organization_id = :org AND s.kind = 'user' AND s.user_id IS NULL"""
_USERS = f"({_MEMBERS} UNION ALL {_INVITED}) AS people"
_USER = ", ".join(ScimUserRow.__struct_fields__)
_GROUPS = """FROM teams t
  LEFT JOIN scim_resources s ON s.organization_id = t.organization_id AND s.kind = 'group' AND s.id = t.id
  WHERE t.organization_id = :org"""
_GROUP = "t.id, t.title, s.external_id, t.created_at, s.updated_at"

_HAS_MEMBER = """(EXISTS (SELECT 1 FROM team_members x LEFT JOIN scim_resources r
      ON r.organization_id = t.organization_id AND r.kind = 'user' AND r.user_id = x.user_id
      WHERE x.team_id = t.id AND COALESCE(r.id, x.user_id) = {0})
    OR EXISTS (SELECT 1 FROM scim_invited_members i WHERE i.team_id = t.id AND i.resource_id = {0}))"""
# Filter conditions by lowercase attribute name, with {0} for the value.
BY_EMAIL = "email = {0}"
BY_TITLE = "t.title = {0}"
USER_FILTERS = {
    "username": BY_EMAIL,
    "emails.value": BY_EMAIL,
    "emails": BY_EMAIL,
    "externalid": "external_id = {0}",
    "id": "id = {0}",
}
GROUP_FILTERS = {
    "displayname": BY_TITLE,
    "externalid": "s.external_id = {0}",
    "id": "t.id = {0}",
    "members": _HAS_MEMBER,
    "members.value": _HAS_MEMBER,
}
Filters = Sequence[tuple[str, str]]
"""Conditions from ``USER_FILTERS`` or ``GROUP_FILTERS`` that must all be met, each with its value."""


def _conditions(filters: Filters) -> tuple[list[str], dict[str, str]]:
    conditions = [condition.format(f":value{n}") for n, (condition, _) in enumerate(filters)]
    return conditions, {f"value{n}": value for n, (_, value) in enumerate(filters)}


def _user(row: Row) -> ScimUserRow:
    values = dict(zip(ScimUserRow.__struct_fields__, row, strict=True))
    return ScimUserRow(**values | {"managed": bool(values["managed"]), "active": bool(values["active"])})


def _group(row: Row) -> ScimGroupRow:
    id, title, external_id, created_at, updated_at = row
    return ScimGroupRow(id, title, external_id, created_at, updated_at or created_at)


def find_user(tx: Transaction, organization_id: str, resource_id: str) -> ScimUserRow | None:
    found = tx.one(
        "SELECT user_id FROM scim_resources WHERE organization_id = :org AND kind = 'user' AND id = :id",
        org=organization_id,
        id=resource_id,
    )
    if found is not None and found[0] is None:
        row = tx.one(f"{_INVITED} AND s.id = :id", org=organization_id, id=resource_id)
        return _user(row) if row else None
    return find_member(tx, organization_id, found[0] if found else resource_id)


def find_member(tx: Transaction, organization_id: str, user_id: str) -> ScimUserRow | None:
    """Return the member with this account."""
    row = tx.one(f"{_MEMBERS} AND m.user_id = :user", org=organization_id, user=user_id)
    return _user(row) if row else None


def find_invited(tx: Transaction, organization_id: str, email: str) -> ScimUserRow | None:
    """Return the invited person with this email address, if they haven't accepted yet."""
    row = tx.one(f"{_INVITED} AND s.user_name = :email", org=organization_id, email=email)
    return _user(row) if row else None


def list_users(
    tx: Transaction, organization_id: str, filters: Filters, offset: int, limit: int
) -> tuple[list[ScimUserRow], int]:
    """Return members and invited people, oldest first, and their total number."""
    conditions, values = _conditions(filters)
    where = f"FROM {_USERS}" + (f" WHERE {' AND '.join(conditions)}" if conditions else "")
    rows = tx.all(
        f"SELECT {_USER} {where} ORDER BY id LIMIT :limit OFFSET :offset",
        org=organization_id,
        limit=limit,
        offset=offset,
        **values,
    )
    total = tx.value(f"SELECT count(*) {where}", org=organization_id, **values)
    return [_user(row) for row in rows], total


def find_group(tx: Transaction, organization_id: str, group_id: str) -> ScimGroupRow | None:
    row = tx.one(f"SELECT {_GROUP} {_GROUPS} AND t.id = :id", org=organization_id, id=group_id)
    return _group(row) if row else None


def list_groups(
    tx: Transaction, organization_id: str, filters: Filters, offset: int, limit: int
) -> tuple[list[ScimGroupRow], int]:
    conditions, values = _conditions(filters)
    where = " AND ".join([_GROUPS, *conditions])
    rows = tx.all(
        f"SELECT {_GROUP} {where} ORDER BY t.id LIMIT :limit OFFSET :offset",
        org=organization_id,
        limit=limit,
        offset=offset,
        **values,
    )
    total = tx.value(f"SELECT count(*) {where}", org=organization_id, **values)
    return [_group(row) for row in rows], total


def group_members(tx: Transaction, group_ids: list[str]) -> dict[str, list[tuple[str, str]]]:
    """Return the IDs and names of the members of teams, including invited people who haven't accepted yet, by team."""
    rows = tx.all(
        """SELECT t.team_id, COALESCE(s.id, u.id) AS id,
             CASE WHEN m.accepted = 1 THEN u.display_name ELSE COALESCE(s.display_name, u.email) END
           FROM team_members t JOIN users u ON u.id = t.user_id JOIN teams o ON o.id = t.team_id
             JOIN members m ON m.organization_id = o.organization_id AND m.user_id = t.user_id
             LEFT JOIN scim_resources s
               ON s.organization_id = o.organization_id AND s.kind = 'user' AND s.user_id = t.user_id
           WHERE t.team_id IN :ids
           UNION ALL
           SELECT i.team_id, s.id, s.display_name FROM scim_invited_members i JOIN teams o ON o.id = i.team_id
             JOIN scim_resources s
               ON s.organization_id = o.organization_id AND s.kind = 'user' AND s.id = i.resource_id
           WHERE i.team_id IN :ids
           ORDER BY 2""",
        ids=group_ids,
    )
    found: dict[str, list[tuple[str, str]]] = {id: [] for id in group_ids}
    for team_id, resource_id, name in rows:
        found[team_id].append((resource_id, name))
    return found


def save_user(
    tx: Transaction,
    organization_id: str,
    resource_id: str,
    user_id: str | None,
    external_id: str | None,
    *,
    email: str | None = None,
    display_name: str | None = None,
) -> None:
    """Store the data that the directory sent about a user, with the current time."""
    tx.run(
        """INSERT INTO scim_resources (organization_id, kind, id, user_id, external_id, user_name, display_name,
             created_at, updated_at)
           VALUES (:org, 'user', :id, :user, :external, :email, :name, :at, :at)
           ON CONFLICT (organization_id, kind, id)
           DO UPDATE SET external_id = excluded.external_id, updated_at = excluded.updated_at,
             display_name = COALESCE(excluded.display_name, scim_resources.display_name)""",
        org=organization_id,
        id=resource_id,
        user=user_id,
        external=external_id,
        email=email,
        name=display_name,
        at=now(),
    )


def save_group(tx: Transaction, organization_id: str, group_id: str, external_id: str | None) -> None:
    """Store the directory's ID for a group, with the current time."""
    tx.run(
        """INSERT INTO scim_resources (organization_id, kind, id, external_id, updated_at)
           VALUES (:org, 'group', :id, :external, :at)
           ON CONFLICT (organization_id, kind, id)
           DO UPDATE SET external_id = excluded.external_id, updated_at = excluded.updated_at""",
        org=organization_id,
        id=group_id,
        external=external_id,
        at=now(),
    )


def delete_resource(tx: Transaction, organization_id: str, kind: Kind, id: str) -> None:
    tx.run(
        "DELETE FROM scim_resources WHERE organization_id = :org AND kind = :kind AND id = :id",
        org=organization_id,
        kind=kind,
        id=id,
    )


class People(Struct, frozen=True):
    """People to add to a group. The lists contain the account IDs of members and the resource IDs of invited
    people."""

    users: list[str]
    invited: list[str]


def find_people(tx: Transaction, organization_id: str, resource_ids: list[str]) -> People | None:
    """Return the people with these resource IDs, or None if one of them isn't in the organization."""
    wanted = set(resource_ids)
    rows = tx.all(
        "SELECT id, user_id FROM scim_resources WHERE organization_id = :org AND kind = 'user' AND id IN :ids",
        org=organization_id,
        ids=sorted(wanted),
    )
    invited = [id for id, user_id in rows if user_id is None]
    users = {id: user_id for id, user_id in rows if user_id is not None}
    others = wanted - {id for id, _ in rows}
    users |= {id: id for id in others}
    found = tx.value(
        "SELECT count(*) FROM members WHERE organization_id = :org AND user_id IN :users",
        org=organization_id,
        users=sorted(set(users.values())),
    )
    if found != len(set(users.values())):
        return None
    return People(sorted(set(users.values())), sorted(invited))


def add_to_group(tx: Transaction, group_id: str, people: People) -> None:
    join_teams(tx, [(group_id, user_id) for user_id in people.users])
    tx.run_many(
        """INSERT INTO scim_invited_members (team_id, resource_id) VALUES (:team, :id)
           ON CONFLICT (team_id, resource_id) DO NOTHING""",
        [{"team": group_id, "id": id} for id in people.invited],
    )


def remove_from_group(tx: Transaction, organization_id: str, group_id: str, resource_ids: list[str]) -> None:
    accounts = tx.all(
        """SELECT user_id FROM scim_resources
           WHERE organization_id = :org AND kind = 'user' AND id IN :ids AND user_id IS NOT NULL""",
        org=organization_id,
        ids=resource_ids,
    )
    remove_team_members(tx, group_id, sorted({*resource_ids, *(id for (id,) in accounts)}))
    tx.run(
        "DELETE FROM scim_invited_members WHERE team_id = :team AND resource_id IN :ids",
        team=group_id,
        ids=resource_ids,
    )


def clear_group(tx: Transaction, group_id: str) -> None:
    clear_team(tx, group_id)
    tx.run("DELETE FROM scim_invited_members WHERE team_id = :team", team=group_id)


def delete_group_resource(tx: Transaction, group_id: str) -> None:
    tx.run("DELETE FROM scim_resources WHERE kind = 'group' AND id = :id", id=group_id)


def adopt_member(tx: Transaction, organization_id: str, user_id: str, *, vouched: bool) -> str | None:
    """Link a new member to the user that the directory sent, add the member to that user's groups, and return the email
    address that the directory sent.

    The member isn't linked if the email address is unverified, unless the organization itself vouches for the account,
    because the directory refers to the owner of that address.
    """
    proved = "" if vouched else " AND u.email_verified = 1"
    row = tx.one(
        f"""SELECT s.id, u.email FROM users u JOIN scim_resources s
              ON s.organization_id = :org AND s.kind = 'user' AND s.user_id IS NULL AND s.user_name = u.email
            WHERE u.id = :user{proved}""",
        org=organization_id,
        user=user_id,
    )
    if row is None:
        return None
    resource_id, email = row
    tx.run(
        "UPDATE scim_resources SET user_id = :user WHERE organization_id = :org AND kind = 'user' AND id = :id",
        user=user_id,
        org=organization_id,
        id=resource_id,
    )
    teams = tx.all("SELECT team_id FROM scim_invited_members WHERE resource_id = :id", id=resource_id)
    join_teams(tx, [(team_id, user_id) for (team_id,) in teams])
    tx.run("DELETE FROM scim_invited_members WHERE resource_id = :id", id=resource_id)
    return str(email)


def delete_invited(tx: Transaction, organization_id: str, resource_id: str) -> None:
    """Delete all records about a person who never accepted."""
    tx.run("DELETE FROM scim_invited_members WHERE resource_id = :id", id=resource_id)
    delete_resource(tx, organization_id, "user", resource_id)
