"""Read and write tokens, sessions, and integration accounts in the database."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from octavo.kit import ids
from octavo.kit.clock import now
from octavo.kit.db.database import Transaction
from octavo.kit.work.hub import check_streams


class TokenOwner(Struct, frozen=True):
    """Token or session and its user. ``organization_id``: the only organization where the token or session works; None
    if it works wherever the user is a member. ``proved_at``: the time when the user last confirmed their identity in
    the session; 0 for a token."""

    token_id: str
    user_id: str
    organization_id: str | None
    scopes: str | None
    expires_at: int | None
    last_used_at: int | None
    proved_at: int


# A token that isn't revoked and whose user is active. If the token is bound to an organization, the user must
# be a member of it.
_STILL_GOOD = """JOIN users u ON u.id = t.user_id AND u.disabled = 0
  WHERE (t.organization_id IS NULL OR EXISTS (
    SELECT 1 FROM members m
    WHERE m.organization_id = t.organization_id AND m.user_id = t.user_id AND m.disabled = 0))"""


_TOKEN = f"""SELECT t.id, t.user_id, t.organization_id, t.scopes, t.expires_at, t.last_used_at, 0
              FROM tokens t {_STILL_GOOD} AND t.revoked_at IS NULL AND t."""
_SESSION = f"""SELECT t.id, t.user_id, t.organization_id, NULL, t.expires_at, t.last_used_at, t.proved_at
                FROM sessions t {_STILL_GOOD} AND t."""


def find_token_owner(tx: Transaction, token_hash: str) -> TokenOwner | None:
    """Return the owner of a token by its hash, unless the token was revoked or the user was deactivated."""
    row = tx.one(f"{_TOKEN}hash = :hash", hash=token_hash)
    return TokenOwner(*row) if row else None


def find_session_owner(tx: Transaction, session_hash: str) -> TokenOwner | None:
    """Return the owner of a session by its hash, unless the session ended or the user was deactivated."""
    row = tx.one(f"{_SESSION}hash = :hash", hash=session_hash)
    return TokenOwner(*row) if row else None


def find_owner(tx: Transaction, token_id: str, session: bool) -> TokenOwner | None:
    """Return the owner of a token or session by its ID, unless it was revoked or the user was deactivated."""
    row = tx.one(f"{_SESSION if session else _TOKEN}id = :id", id=token_id)
    return TokenOwner(*row) if row else None


class InstallationOwner(Struct, frozen=True):
    """Account that an installation of an integration uses. ``agreed``: the scopes that the organization approved.
    ``asked``: the scopes that the integration currently requests."""

    user_id: str
    organization_id: str
    agreed: frozenset[str]
    asked: frozenset[str]


class _Asked(Struct):
    scopes: frozenset[str] = frozenset()


def find_installation_owner(
    tx: Transaction, integration_id: str, installation_id: str
) -> InstallationOwner | None:
    """Return the account of an installation; None if the integration was uninstalled."""
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
    """Return an installation's role on a site of its organization, or None if the integration isn't installed on
    the site. The installation's scopes also limit its permissions."""
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
    tx.insert(
        "tokens",
        id=token_id,
        user_id=user_id,
        organization_id=organization_id,
        name=name,
        hash=hash,
        hint=hint,
        scopes=scopes,
        created_at=now(),
        expires_at=expires_at,
    )
    return token_id


def record_last_use(tx: Transaction, table: str, used: dict[str, int]) -> None:
    """Record when ``tokens`` or ``sessions`` were last used. ``used``: the times in milliseconds, by the ID of
    the token or session."""
    for id, at in used.items():
        tx.run(f"UPDATE {table} SET last_used_at = :at WHERE id = :id", at=at, id=id)


def revoke_tokens(tx: Transaction, user_id: str, *, only: str | None = None) -> int:
    """Revoke all tokens of a user, and return their number. ``only``: an organization, to revoke only tokens
    bound to it."""
    bound = "" if only is None else " AND organization_id = :only"
    ended = tx.run(
        f"UPDATE tokens SET revoked_at = :at WHERE user_id = :user AND revoked_at IS NULL{bound}",
        at=now(),
        user=user_id,
        only=only,
    )
    return check_streams(tx, user_id, ended)


def revoke_token(tx: Transaction, user_id: str, token_id: str, *, only: str | None = None) -> bool:
    """Revoke one of a user's tokens. Return False if it doesn't exist or isn't active."""
    bound = "" if only is None else " AND organization_id = :only"
    ended = tx.run(
        f"""UPDATE tokens SET revoked_at = :at
            WHERE id = :id AND user_id = :user AND revoked_at IS NULL{bound}""",
        at=now(),
        id=token_id,
        user=user_id,
        only=only,
    )
    return check_streams(tx, user_id, ended) > 0
