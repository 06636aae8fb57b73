"""List, revoke, and change people's tokens, sessions, and accounts, for the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from octavo.errors import NotFound
from octavo.kit.clock import iso
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import MAX_LIMIT, Slice
from octavo.organization.access.accounts import find_user_by_email
from octavo.organization.access.auditing import Stranger, audit_person
from octavo.organization.access.limits import RESOURCES, Resource, measure, read_limits
from octavo.organization.access.store import revoke_token
from octavo.organization.access.tokens import revoke_tokens as revoke_all_tokens
from octavo.organization.identity.sessions import end as end_session
from octavo.organization.identity.sessions import list_sessions
from octavo.organization.identity.store import list_tokens

from . import account_deletion, account_merging, accounts, store
from .limit_warnings import set_limits_by

_TIMES = ("created_at", "expires_at", "last_used_at")
CLIENT = "command line"
_BY = Stranger(CLIENT)


def _user_id(tx: Transaction, email: str) -> str:
    user = find_user_by_email(tx, email)
    if user is None:
        raise NotFound(f"email: there is no account with the email address {email!r}")
    return user.id


def _all(read: Callable[[str | None], Slice[Any]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    page: str | None = None
    while True:
        rows = read(page)
        found += [_shown(row) for row in rows.rows]
        page = rows.next_token
        if page is None:
            return found


def _shown(row: Struct) -> dict[str, object]:
    values = msgspec.structs.asdict(row)
    return {n: iso(v) if n in _TIMES and v is not None else v for n, v in values.items()}


def is_known(context: Context, email: str) -> bool:
    with context.db.read() as tx:
        return find_user_by_email(tx, email) is not None


def tokens_of(context: Context, email: str) -> list[dict[str, Any]]:
    """Return a person's tokens, newest first, without the tokens' secrets. Raises NotFound if the person doesn't
    exist."""
    with context.db.read() as tx:
        user_id = _user_id(tx, email)
        return _all(lambda page: list_tokens(tx, user_id, MAX_LIMIT, page))


def sign_in_link(context: Context, email: str) -> str:
    """Create a sign-in link that can be used once. It expires after 15 minutes. Raises NotFound if the person doesn't
    exist, and Conflict if the account is deactivated."""
    with context.db.write() as tx:
        return accounts.create_sign_in_link(tx, context, _BY, _user_id(tx, email))


def sessions_of(context: Context, email: str) -> list[dict[str, Any]]:
    """Return a person's active sessions, newest first. Raises NotFound if the person doesn't exist."""
    with context.db.read() as tx:
        user_id = _user_id(tx, email)
        return _all(lambda page: list_sessions(tx, user_id, MAX_LIMIT, page))


def revoke_tokens(context: Context, email: str, token_id: str | None) -> int:
    """Revoke one of a person's tokens or, if ``token_id`` is None, all of their tokens and agents, and return how many
    were revoked. Raises NotFound if the person or token doesn't exist."""
    with context.db.write() as tx:
        user_id = _user_id(tx, email)
        known = _all(lambda page: list_tokens(tx, user_id, MAX_LIMIT, page))
        ids = [row["id"] for row in known if token_id in (None, row["id"])]
        ended = _end(tx, user_id, "token", ids, revoke_token)
        # Revoking all tokens also revokes the agents that the person connected, and pending authorizations.
        return ended if token_id is not None else ended + revoke_all_tokens(tx, user_id)


def end_sessions(context: Context, email: str, session_id: str | None) -> int:
    """End one of a person's sessions or, if ``session_id`` is None, all of them, and return how many were ended. Raises
    NotFound if the person or session doesn't exist."""
    with context.db.write() as tx:
        user_id = _user_id(tx, email)
        known = _all(lambda page: list_sessions(tx, user_id, MAX_LIMIT, page))
        ids = [row["id"] for row in known if session_id in (None, row["id"])]
        return _end(tx, user_id, "session", ids, end_session)


def end_sessions_of_everyone(context: Context) -> int:
    """End everyone's sessions, and return the number of sessions. Each person's sessions are ended in a separate
    transaction."""
    with context.db.read() as tx:
        people = [row[0] for row in tx.all("SELECT DISTINCT user_id FROM sessions ORDER BY user_id")]
    ended = 0
    for user_id in people:
        with context.db.write() as tx:
            ended += accounts.end_sessions(tx, _BY, user_id)
    return ended


def list_accounts(context: Context, search: str | None) -> list[store.PersonRow]:
    """Return everyone with an account, newest first."""
    with context.db.read() as tx:
        found: list[store.PersonRow] = []
        page: str | None = None
        while True:
            rows = store.list_people(tx, MAX_LIMIT, page, search=search)
            found += rows.rows
            page = rows.next_token
            if page is None:
                return found


def set_activation(context: Context, email: str, *, active: bool) -> None:
    """Activate or deactivate a person's account. Raises NotFound if the person doesn't exist, and Conflict if the
    account can't be deactivated."""
    with context.db.write() as tx:
        accounts.set_activation(tx, context.settings, _BY, _user_id(tx, email), active=active)


def change_email(context: Context, email: str, new: str) -> None:
    """Change the email address of a person's account. Raises NotFound if the person doesn't exist, and Conflict if the
    address can't be changed."""
    with context.db.write() as tx:
        accounts.change_email(tx, context.settings, _BY, _user_id(tx, email), new)


def merge_accounts(context: Context, email: str, into: str) -> None:
    """Merge a person's account into another account. Raises NotFound if an account doesn't exist, BadRequest if the two
    are the same account, and Conflict if the accounts can't be merged."""
    with context.db.write() as tx:
        account_merging.merge_accounts(tx, context, _BY, _user_id(tx, email), _user_id(tx, into))


def make_administrator(context: Context, email: str, organization_id: str) -> None:
    """Make a person an administrator of an organization. Raises NotFound if the organization or person doesn't exist,
    and Conflict if the account is deactivated."""
    with context.db.write() as tx:
        accounts.make_administrator(tx, _BY, organization_id, _user_id(tx, email))


def show_limits(context: Context, organization_id: str) -> list[tuple[Resource, int | None, int | None]]:
    """Return an organization's usage and limit for each resource. For requests, the usage is None."""
    with context.db.read() as tx:
        used, limits = measure(tx, organization_id), read_limits(tx, organization_id)
    return [(name, getattr(used, name, None), getattr(limits, name)) for name in RESOURCES]


def change_limits(context: Context, organization_id: str, given: dict[str, int | None]) -> None:
    """Change some of an organization's limits. None removes a limit."""
    with context.db.write() as tx:
        set_limits_by(tx, _BY, organization_id, replace(read_limits(tx, organization_id), **given))


def reset_second_factor(context: Context, email: str) -> bool:
    """Turn off a person's two-factor authentication. Return False if it was already off. Raises NotFound if the
    person doesn't exist."""
    with context.db.write() as tx:
        return accounts.reset_second_factor(tx, _BY, _user_id(tx, email))


def preview_deletion(context: Context, email: str) -> account_deletion.DeletionPreview:
    """Return the effects that deleting a person's account would have. Raises NotFound if the person doesn't exist."""
    with context.db.read() as tx:
        return account_deletion.preview_account_deletion(tx, context.settings, _user_id(tx, email))


def delete_account(context: Context, email: str) -> None:
    """Delete a person's account permanently. Raises NotFound if the person doesn't exist, and Conflict if the account
    can't be deleted."""
    with context.db.write() as tx:
        account_deletion.delete_account(tx, context.settings, _BY, _user_id(tx, email))


def _end(
    tx: Transaction, user_id: str, kind: str, ids: list[str], end: Callable[[Transaction, str, str], bool]
) -> int:
    action = {"token": "token.revoked", "session": "session.ended"}[kind]
    for id in ids:
        end(tx, user_id, id)
        audit_person(tx, action, user_id, client=CLIENT, actor="", source="script", before={kind: id})
    return len(ids)
