"""Create tokens. They never have more access than the caller."""

from __future__ import annotations

from octavo.errors import BadRequest, Forbidden
from octavo.kit.clock import parse_iso
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor
from octavo.organization.access.reach import require_person
from octavo.organization.access.scopes import is_within_scopes
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
    """Create a token for ``owner_id``, and return it with its secret. ``organization_id``: the only organization that
    the token gives access to.

    Raises BadRequest if a value is invalid, and Forbidden if the new token would have more scopes, a wider reach, or a
    later expiration than the caller's token or session."""
    person = require_person(actor)
    if not is_within_scopes(scopes, person.scopes):
        raise Forbidden("scopes: must not include scopes that the token you're using doesn't have")
    if person.organization_id is not None and organization_id != person.organization_id:
        raise Forbidden(
            "A token for one organization can only be used to create tokens for that organization."
        )
    expires = None
    if expires_at is not None:
        try:
            expires = parse_iso(expires_at)
        except ValueError:
            raise BadRequest("expiresAt: must be an ISO 8601 time, such as 2030-01-31T00:00:00Z") from None
    if person.expires_at is not None and (expires is None or expires > person.expires_at):
        raise Forbidden("expiresAt: must not be later than the expiration time of the token you're using")
    secret = create_token(
        tx, owner_id, name=name.strip(), scopes=scopes, expires_at=expires, organization_id=organization_id
    )
    row = find_token_by_secret(tx, hash_token(secret))
    assert row is not None, "the token was just created"
    return row, secret
