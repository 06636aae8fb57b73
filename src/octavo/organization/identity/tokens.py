"""Making tokens: never with more reach than what asks for them has."""

from __future__ import annotations

from octavo.errors import BadRequest, Forbidden
from octavo.kit.clock import parse_iso
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor
from octavo.organization.access.reach import require_person
from octavo.organization.access.scopes import narrower
from octavo.organization.access.tokens import create_token, hash_token

from .store import TokenRow, find_token_by_secret


def issue_token(
    tx: Transaction,
    actor: Actor,
    owner_id: str,
    *,
    name: str,
    scopes: list[str] | None,
    expires_at: str | None,
    organization_id: str | None,
) -> tuple[TokenRow, str]:
    """A token of ``owner_id`` and its secret. ``organization_id``: the only organization it is good for.

    Raises BadRequest, and Forbidden for one that would do more, reach further or be good for longer than the token
    or session that asks.
    """
    person = require_person(actor)
    if not narrower(scopes, person.scopes):
        raise Forbidden("scopes: a token cannot make one that may do more than itself.")
    if person.organization_id is not None and organization_id != person.organization_id:
        raise Forbidden("A token of one organization cannot make one that reaches further.")
    expires = None
    if expires_at is not None:
        try:
            expires = parse_iso(expires_at)
        except ValueError:
            raise BadRequest(
                "expiresAt: expected a moment as ISO 8601, such as 2030-01-31T00:00:00Z"
            ) from None
    if person.expires_at is not None and (expires is None or expires > person.expires_at):
        raise Forbidden("expiresAt: a token cannot make one that is good for longer than itself.")
    secret = create_token(
        tx, owner_id, name=name.strip(), scopes=scopes, expires_at=expires, organization_id=organization_id
    )
    row = find_token_by_secret(tx, hash_token(secret))
    assert row is not None, "the token was just made"
    return row, secret
