"""Start, list, and end sessions."""

from __future__ import annotations

import secrets
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from octavo.errors import Unauthorized
from octavo.kit import ids
from octavo.kit.clock import DAY, HOUR, now
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Slice, list_page
from octavo.kit.http.operation import Actor
from octavo.kit.work.hub import check_streams
from octavo.organization.access.auditing import audit_person
from octavo.organization.access.members import note_seen
from octavo.organization.access.reach import is_session
from octavo.organization.access.tokens import SESSION_IDLE, SESSION_PREFIX, hash_token

Method = Literal["password", "link", "oidc", "saml", "ldap", "passkey"]

LIFETIME = 30 * DAY
PROVIDER_LIFETIME = 12 * HOUR
"""Lifetime in milliseconds of sessions from an identity provider. The provider must confirm them twice a day."""


class SessionRow(Struct, frozen=True):
    id: str
    organization_id: str | None
    method: str
    client: str
    agent: str
    created_at: int
    expires_at: int
    last_used_at: int


class NewSession(Struct, frozen=True):
    id: str
    secret: str
    expires_at: int


_COLUMNS = "id, organization_id, method, client, agent, created_at, expires_at, last_used_at"


class Browser(NamedTuple):
    """IP address and user agent of a sign-in."""

    client: str
    agent: str


def begin(
    tx: Transaction,
    user_id: str,
    method: Method,
    *,
    client: str,
    agent: str,
    organization_id: str | None = None,
) -> NewSession:
    """Start a session, and return it with its secret, which can't be retrieved later. ``organization_id``: the
    only organization that the session gives access to."""
    moment = now()
    lifetime = PROVIDER_LIFETIME if method in ("saml", "oidc") else LIFETIME
    new = NewSession(ids.new_id(), SESSION_PREFIX + secrets.token_urlsafe(32), moment + lifetime)
    tx.run(
        f"""INSERT INTO sessions (user_id, hash, {_COLUMNS}, proved_at)
            VALUES (:user, :hash, :id, :org, :method, :client, :agent, :at, :expires, :at, :at)""",
        user=user_id,
        hash=hash_token(new.secret),
        id=new.id,
        org=organization_id,
        method=method,
        client=client[:64],
        agent=agent[:256],
        at=moment,
        expires=new.expires_at,
    )
    tx.run("DELETE FROM first_sign_ins WHERE user_id = :user", user=user_id)
    note_seen(tx, user_id, organization_id)
    audit_person(
        tx,
        "session.begun",
        user_id,
        client=client or None,
        token=new.id,
        only=organization_id,
        after={"method": method},
    )
    return new


def mark_never_signed_in(tx: Transaction, user_id: str) -> None:
    """Mark a user as never having signed in. The user's first session removes the mark."""
    tx.run(
        "INSERT INTO first_sign_ins (user_id) VALUES (:user) ON CONFLICT (user_id) DO NOTHING", user=user_id
    )


def has_never_signed_in(tx: Transaction, user_id: str) -> bool:
    return tx.one("SELECT 1 FROM first_sign_ins WHERE user_id = :user", user=user_id) is not None


def require_still_signed_in(tx: Transaction, actor: Actor) -> None:
    """Raise Unauthorized if the session or token that authorized a request has since ended or been revoked.

    Check this in the transaction that changes how a user signs in. Otherwise, a person who loses access at that
    moment could keep a sign-in method.
    """
    table, alive = ("sessions", "") if is_session(actor) else ("tokens", " AND revoked_at IS NULL")
    if tx.one(f"SELECT 1 FROM {table} WHERE id = :id{alive}{tx.for_update}", id=actor.token_id) is None:
        raise Unauthorized("Your session or token is no longer valid. Sign in again.")


def list_sessions(
    tx: Transaction, user_id: str, limit: int, page: str | None, *, only: str | None = None
) -> Slice[SessionRow]:
    """Return the active sessions of a user, newest first. ``only``: an organization to limit the list to."""
    alive = "FROM sessions WHERE user_id = :user AND expires_at > :now AND last_used_at > :used"
    if only is not None:
        alive += " AND organization_id = :only"
    parameters = dict[str, Any](user=user_id, now=now(), used=now() - SESSION_IDLE, only=only)
    return list_page(
        tx, limit, page, _COLUMNS, alive, lambda row: SessionRow(*row), descending=True, **parameters
    )


def set_proved(tx: Transaction, session_id: str) -> int:
    """Record that the user of a session has just confirmed their identity. Return the time of the confirmation."""
    moment = now()
    tx.run("UPDATE sessions SET proved_at = :at WHERE id = :id", at=moment, id=session_id)
    return moment


def find_session(tx: Transaction, user_id: str, session_id: str) -> SessionRow | None:
    row = tx.one(
        f"SELECT {_COLUMNS} FROM sessions WHERE id = :id AND user_id = :user", id=session_id, user=user_id
    )
    return SessionRow(*row) if row else None


def end(tx: Transaction, user_id: str, session_id: str) -> bool:
    """End a session of the user. Return False if it doesn't exist."""
    ended = tx.run("DELETE FROM sessions WHERE id = :id AND user_id = :user", id=session_id, user=user_id)
    return check_streams(tx, user_id, ended) > 0


def end_others(tx: Transaction, user_id: str, kept: str | None) -> int:
    """End all sessions of the user except ``kept``. Return their number."""
    others = "DELETE FROM sessions WHERE user_id = :user AND id <> :kept"
    return check_streams(tx, user_id, tx.run(others, user=user_id, kept=kept or ""))
