"""People, tokens, memberships: rows in, frozen records out."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from ..errors import NotFound
from ..kit import ids
from ..kit.clock import now
from ..kit.db import Transaction


class UserRow(Struct, frozen=True):
    id: str
    email: str
    display_name: str
    photo_url: str | None
    disabled: int
    created_at: int


_USER = "u.id, u.email, u.display_name, u.photo_url, u.disabled, u.created_at"


def find_user(tx: Transaction, user_id: str) -> UserRow | None:
    row = tx.one(f"SELECT {_USER} FROM users u WHERE u.id = :id", id=user_id)
    return UserRow(*row) if row else None


def find_user_by_email(tx: Transaction, email: str) -> UserRow | None:
    row = tx.one(f"SELECT {_USER} FROM users u WHERE u.email = :email", email=email.strip().lower())
    return UserRow(*row) if row else None


def list_users_by_id(tx: Transaction, user_ids: list[str]) -> dict[str, UserRow]:
    """The users of these ids that exist, by id."""
    rows = tx.all(f"SELECT {_USER} FROM users u WHERE u.id IN :ids", ids=sorted(set(user_ids)))
    return {row[0]: UserRow(*row) for row in rows}


def insert_user(tx: Transaction, email: str, display_name: str, *, verified: bool) -> UserRow:
    user = UserRow(ids.new_id(), email.strip().lower(), display_name, None, 0, now())
    tx.run(
        """INSERT INTO users (id, email, display_name, disabled, email_verified, created_at)
           VALUES (:id, :email, :name, 0, :verified, :at)""",
        id=user.id,
        email=user.email,
        name=display_name,
        verified=int(verified),
        at=user.created_at,
    )
    return user


def has_verified_email(tx: Transaction, user_id: str) -> bool:
    return bool(tx.value("SELECT email_verified FROM users WHERE id = :id", id=user_id))


def update_user(tx: Transaction, user_id: str, *, display_name: str | None, photo_url: str | None) -> None:
    """Changes what is given."""
    tx.run(
        """UPDATE users SET display_name = COALESCE(:name, display_name), photo_url = COALESCE(:photo, photo_url)
           WHERE id = :id""",
        id=user_id,
        name=display_name,
        photo=photo_url,
    )


def is_member_of_any(tx: Transaction, user_id: str, organization_ids: list[str]) -> bool:
    """Whether somebody is a member of one of these organizations, disabled or not."""
    return (
        tx.one(
            "SELECT 1 FROM members WHERE user_id = :user AND organization_id IN :organizations",
            user=user_id,
            organizations=organization_ids,
        )
        is not None
    )


class TokenOwner(Struct, frozen=True):
    """Whose token or session this is. ``organization_id`` None: good wherever its user is a member. ``proved_at``:
    when its user last proved in a session who they are; 0 for a token."""

    token_id: str
    user_id: str
    organization_id: str | None
    scopes: str | None
    expires_at: int | None
    last_used_at: int | None
    proved_at: int


# Neither taken back nor its user disabled; bound to an organization, only while its user is a member there.
_STILL_GOOD = """JOIN users u ON u.id = t.user_id AND u.disabled = 0
  WHERE t.hash = :hash AND (t.organization_id IS NULL OR EXISTS (
    SELECT 1 FROM members m
    WHERE m.organization_id = t.organization_id AND m.user_id = t.user_id AND m.disabled = 0))"""


def find_token_owner(tx: Transaction, token_hash: str) -> TokenOwner | None:
    """Whose token this is, when neither was taken back."""
    row = tx.one(
        f"""SELECT t.id, t.user_id, t.organization_id, t.scopes, t.expires_at, t.last_used_at, 0
            FROM tokens t {_STILL_GOOD} AND t.revoked_at IS NULL""",
        hash=token_hash,
    )
    return TokenOwner(*row) if row else None


def find_session_owner(tx: Transaction, session_hash: str) -> TokenOwner | None:
    """Whose session this is, when neither was ended."""
    row = tx.one(
        f"""SELECT t.id, t.user_id, t.organization_id, NULL, t.expires_at, t.last_used_at, t.proved_at
            FROM sessions t {_STILL_GOOD}""",
        hash=session_hash,
    )
    return TokenOwner(*row) if row else None


class InstallationOwner(Struct, frozen=True):
    """Whom an installation of an integration acts as; ``agreed``: the scopes that the organization agreed to, and
    ``asked`` those that the integration asks for today."""

    user_id: str
    organization_id: str
    agreed: frozenset[str]
    asked: frozenset[str]


class _Asked(Struct):
    scopes: frozenset[str] = frozenset()


def find_installation_owner(
    tx: Transaction, integration_id: str, installation_id: str
) -> InstallationOwner | None:
    """None when it was uninstalled."""
    row = tx.one(
        """SELECT n.user_id, n.organization_id, n.scopes, i.manifest
             FROM integration_installations n JOIN integrations i ON i.id = n.integration_id
             JOIN users u ON u.id = n.user_id AND u.disabled = 0
           WHERE n.id = :id AND n.integration_id = :integration""",
        id=installation_id,
        integration=integration_id,
    )
    if row is None:
        return None
    asked = msgspec.json.decode(row[3], type=_Asked).scopes
    return InstallationOwner(row[0], row[1], msgspec.json.decode(row[2], type=frozenset[str]), asked)


def is_integration(tx: Transaction, integration_id: str) -> bool:
    return tx.one("SELECT 1 FROM integrations WHERE id = :id", id=integration_id) is not None


def role_at_site(tx: Transaction, installation_id: str, site_id: str) -> str | None:
    """The role an installation of an integration has at a site of its organization: what it may do there, its scopes
    say. None where it is not installed."""
    row = tx.one(
        """SELECT n.site_selection, (SELECT 1 FROM integration_places p WHERE p.installation_id = n.id
             AND p.kind = 'site' AND p.place_id = :site)
           FROM integration_installations n WHERE n.id = :id""",
        id=installation_id,
        site=site_id,
    )
    return "create" if row is not None and (row[0] == "all" or row[1] is not None) else None


def insert_token(
    tx: Transaction,
    user_id: str,
    *,
    name: str,
    hash: str,
    hint: str,
    scopes: str | None,
    expires_at: int | None,
    organization_id: str | None = None,
) -> str:
    token_id = ids.new_id()
    tx.run(
        """INSERT INTO tokens (id, user_id, organization_id, name, hash, hint, scopes, created_at, expires_at)
           VALUES (:id, :user, :org, :name, :hash, :hint, :scopes, :at, :expires)""",
        id=token_id,
        user=user_id,
        org=organization_id,
        name=name,
        hash=hash,
        hint=hint,
        scopes=scopes,
        at=now(),
        expires=expires_at,
    )
    return token_id


def touch(tx: Transaction, table: str, used: dict[str, int]) -> None:
    """Records when ``tokens`` or ``sessions`` were last used, by id."""
    for id, at in used.items():
        tx.run(f"UPDATE {table} SET last_used_at = :at WHERE id = :id", at=at, id=id)


class Membership(Struct, frozen=True):
    """``accepted``: whether the person joined by themselves, or under an account that the organization made. Only
    then may the organization's identity provider vouch for them."""

    role: str | None
    disabled: int
    accepted: int


def find_membership(tx: Transaction, organization_id: str, user_id: str) -> Membership | None:
    """Whether enabled or not."""
    row = tx.one(
        "SELECT role, disabled, accepted FROM members WHERE organization_id = :org AND user_id = :user",
        org=organization_id,
        user=user_id,
    )
    return Membership(*row) if row else None


def upsert_member(
    tx: Transaction, organization_id: str, user_id: str, role: str | None, *, accepted: bool = False
) -> None:
    """Makes somebody a member, or changes their role. What was accepted stays so."""
    tx.run(
        """INSERT INTO members (organization_id, user_id, role, accepted, joined_at)
           VALUES (:org, :user, :role, :accepted, :at)
           ON CONFLICT (organization_id, user_id) DO UPDATE SET role = excluded.role,
             accepted = CASE WHEN excluded.accepted = 1 THEN 1 ELSE members.accepted END""",
        org=organization_id,
        user=user_id,
        role=role,
        accepted=int(accepted),
        at=now(),
    )


def accept_membership(tx: Transaction, organization_id: str, user_id: str) -> None:
    """The member says that they want to be one."""
    tx.run(
        "UPDATE members SET accepted = 1 WHERE organization_id = :org AND user_id = :user",
        org=organization_id,
        user=user_id,
    )


# --- teams and members ----------------------------------------------------------------------------------


class TeamRow(Struct, frozen=True):
    """``spaces``: how many spaces were granted to it."""

    id: str
    organization_id: str
    title: str
    created_at: int
    members: int
    spaces: int


TEAM = """t.id, t.organization_id, t.title, t.created_at,
  (SELECT count(*) FROM team_members x WHERE x.team_id = t.id),
  (SELECT count(*) FROM grants g JOIN spaces s ON s.id = g.object_id AND s.deleted_at IS NULL
   WHERE g.subject_type = 'team' AND g.subject_id = t.id AND g.object_type = 'space')"""
"""The columns of a TeamRow, of ``teams t``."""


def find_team(tx: Transaction, organization_id: str, team_id: str) -> TeamRow | None:
    row = tx.one(
        f"SELECT {TEAM} FROM teams t WHERE t.id = :id AND t.organization_id = :org",
        id=team_id,
        org=organization_id,
    )
    return TeamRow(*row) if row else None


def list_teams_by_id(tx: Transaction, team_ids: list[str]) -> dict[str, TeamRow]:
    rows = tx.all(f"SELECT {TEAM} FROM teams t WHERE t.id IN :ids", ids=sorted(set(team_ids)))
    return {row[0]: TeamRow(*row) for row in rows}


def require_members(tx: Transaction, organization_id: str, user_ids: list[str], place: str) -> None:
    """Raises NotFound naming ``place`` unless all of them are members of the organization."""
    wanted = set(user_ids)
    found = tx.all(
        "SELECT user_id FROM members WHERE organization_id = :org AND user_id IN :users",
        org=organization_id,
        users=sorted(wanted),
    )
    if missing := wanted - {row[0] for row in found}:
        raise NotFound(f"{place}: {sorted(missing)[0]!r} is no member of this organization.")


def require_teams(tx: Transaction, organization_id: str, team_ids: list[str], place: str) -> None:
    """Raises NotFound naming ``place`` unless all of them are teams of the organization."""
    wanted = set(team_ids)
    found = tx.all(
        "SELECT id FROM teams WHERE organization_id = :org AND id IN :teams",
        org=organization_id,
        teams=sorted(wanted),
    )
    if missing := wanted - {row[0] for row in found}:
        raise NotFound(f"{place}: there is no team {sorted(missing)[0]!r} in this organization.")
