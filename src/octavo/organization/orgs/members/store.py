"""Read and write members in the database. Rows are returned as frozen records."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from octavo.errors import require_found
from octavo.kit.db.database import Row, Transaction
from octavo.kit.db.pagination import Slice, decode_token, slice_rows
from octavo.organization.access.accounts import PEOPLE_LIKE, UserRow, like_part

Sort = Literal["joinedAt", "lastSeenAt", "name"]


class MemberRow(Struct, frozen=True):
    """Member of an organization. ``spaces``, ``sites``: how many spaces and sites the member has been granted
    access to. ``teams``: the number of their teams."""

    user: UserRow
    role: str | None
    disabled: bool
    sso: bool
    joined_at: int
    last_seen_at: int | None
    teams: int
    spaces: int
    sites: int


_MEMBER = """u.id, u.email, u.display_name, u.photo_url, u.disabled, u.created_at,
  m.role, m.disabled, m.sso, m.joined_at, m.last_seen_at,
  (SELECT count(*) FROM team_members x CROSS JOIN teams t
   WHERE x.user_id = u.id AND t.id = x.team_id AND t.organization_id = m.organization_id),
  (SELECT count(*) FROM grants g CROSS JOIN spaces s
   WHERE g.subject_type = 'user' AND g.subject_id = u.id AND g.object_type = 'space'
     AND s.id = g.object_id AND s.deleted_at IS NULL AND s.organization_id = m.organization_id),
  (SELECT count(*) FROM grants g CROSS JOIN sites s
   WHERE g.subject_type = 'user' AND g.subject_id = u.id AND g.object_type = 'site'
     AND s.id = g.object_id AND s.organization_id = m.organization_id)"""
# CROSS JOIN makes SQLite start with a person's grants instead of all spaces.
_MEMBERS = "FROM members m JOIN users u ON u.id = m.user_id WHERE m.organization_id = :org"
_FROM = f"{_MEMBERS} AND u.kind = 'person'"
_SORTS = {
    "joinedAt": "m.joined_at",
    "lastSeenAt": "COALESCE(m.last_seen_at, 0)",
    "name": "lower(u.display_name)",
}


def _member(row: Row) -> MemberRow:
    user = UserRow(*row[:6])
    role, disabled, sso, joined_at, last_seen_at, teams, spaces, sites = row[6:14]
    return MemberRow(
        user, role, bool(disabled or user.disabled), bool(sso), joined_at, last_seen_at, teams, spaces, sites
    )


def find_member(tx: Transaction, organization_id: str, user_id: str) -> MemberRow | None:
    row = tx.one(f"SELECT {_MEMBER} {_FROM} AND u.id = :user", org=organization_id, user=user_id)
    return _member(row) if row else None


def get_member(tx: Transaction, organization_id: str, user_id: str) -> MemberRow:
    return require_found(
        find_member(tx, organization_id, user_id),
        f"There is no member with the ID {user_id!r} in this organization.",
    )


def list_members_by_id(tx: Transaction, organization_id: str, user_ids: list[str]) -> dict[str, MemberRow]:
    """Return the members with these IDs, by ID, including service accounts."""
    rows = tx.all(f"SELECT {_MEMBER} {_MEMBERS} AND u.id IN :users", org=organization_id, users=user_ids)
    return {row[0]: _member(row) for row in rows}


def list_members(
    tx: Transaction,
    organization_id: str,
    limit: int,
    page: str | None,
    *,
    sort: Sort = "joinedAt",
    ascending: bool = False,
    role: str | None = None,
    search: str | None = None,
) -> Slice[MemberRow]:
    """Return the members who are people, not service accounts. ``role``: the role to filter by; `guest` for
    people without a role. ``search``: part of a name or email address."""
    after = decode_token(page, str if sort == "name" else int, str)
    where, parameters = _FROM, {"org": organization_id, "role": role}
    if role == "guest":
        where += " AND m.role IS NULL"
    elif role is not None:
        where += " AND m.role = :role"
    if search:
        where += f" AND {PEOPLE_LIKE}"
        parameters["like"] = like_part(search)
    count = tx.value(f"SELECT count(*) {where}", **parameters)
    column, sign, order = _SORTS[sort], (">" if ascending else "<"), ("ASC" if ascending else "DESC")
    if after is not None:
        where += f" AND ({column}, m.user_id) {sign} (:value, :id)"
        parameters |= {"value": after[0], "id": after[1]}
    # Count teams and spaces only for the members on this page.
    rows = tx.all(
        f"""SELECT {_MEMBER}, m.sorted FROM (
              SELECT m.*, {column} AS sorted {where}
              ORDER BY {column} {order}, m.user_id {order} LIMIT :limit) AS m JOIN users u ON u.id = m.user_id
            ORDER BY m.sorted {order}, m.user_id {order}""",
        limit=limit + 1,
        **parameters,
    )
    found = slice_rows(rows, limit, count, lambda row: (row[-1], row[0]))
    return Slice([_member(row) for row in found.rows], found.count, found.next_token)
