"""Tokens, sessions, and whom integrations act as: rows in, frozen records out."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.db.database import Transaction


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
  WHERE (t.organization_id IS NULL OR EXISTS (
    SELECT 1 FROM members m
    WHERE m.organization_id = t.organization_id AND m.user_id = t.user_id AND m.disabled = 0))"""


_TOKEN = f"""SELECT t.id, t.user_id, t.organization_id, t.scopes, t.expires_at, t.last_used_at, 0
              FROM tokens t {_STILL_GOOD} AND t.revoked_at IS NULL AND t."""
_SESSION = f"""SELECT t.id, t.user_id, t.organization_id, NULL, t.expires_at, t.last_used_at, t.proved_at
                FROM sessions t {_STILL_GOOD} AND t."""


def find_token_owner(tx: Transaction, token_hash: str) -> TokenOwner | None:
    """Whose token this is, when neither was taken back."""
    row = tx.one(f"{_TOKEN}hash = :hash", hash=token_hash)
    return TokenOwner(*row) if row else None


def find_session_owner(tx: Transaction, session_hash: str) -> TokenOwner | None:
    """Whose session this is, when neither was ended."""
    row = tx.one(f"{_SESSION}hash = :hash", hash=session_hash)
    return TokenOwner(*row) if row else None


def find_owner(tx: Transaction, token_id: str, session: bool) -> TokenOwner | None:
    """Whose token or session it is that has this id, when neither was taken back."""
    row = tx.one(f"{_SESSION if session else _TOKEN}id = :id", id=token_id)
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


def find_organization_of_installation(tx: Transaction, installation_id: str) -> str | None:
    found = tx.value(
        "SELECT organization_id FROM integration_installations WHERE id = :id", id=installation_id
    )
    return None if found is None else str(found)


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


def revoke_tokens(tx: Transaction, user_id: str, *, only: str | None = None) -> int:
    """Takes back all tokens of somebody, ``only`` those that are bound to this organization; how many."""
    bound = "" if only is None else " AND organization_id = :only"
    return tx.run(
        f"UPDATE tokens SET revoked_at = :at WHERE user_id = :user AND revoked_at IS NULL{bound}",
        at=now(),
        user=user_id,
        only=only,
    )


def revoke_token(tx: Transaction, user_id: str, token_id: str, *, only: str | None = None) -> bool:
    """Takes back a token of the user; False when there was none that was good."""
    bound = "" if only is None else " AND organization_id = :only"
    return (
        tx.run(
            f"""UPDATE tokens SET revoked_at = :at
                WHERE id = :id AND user_id = :user AND revoked_at IS NULL{bound}""",
            at=now(),
            id=token_id,
            user=user_id,
            only=only,
        )
        > 0
    )
