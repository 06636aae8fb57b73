"""Read and write tokens and service accounts in the database. Rows are returned as frozen records."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from octavo.core.free_mail import is_free_mail
from octavo.kit.db.database import Row, Transaction
from octavo.kit.db.pagination import Slice, list_page
from octavo.organization.access.accounts import disable_account, insert_managed
from octavo.organization.access.members import delete_membership, upsert_member


class TokenRow(Struct, frozen=True):
    id: str
    organization_id: str | None
    name: str
    hint: str
    scopes: list[str] | None
    created_at: int
    expires_at: int | None
    last_used_at: int | None


class ServiceAccountRow(Struct, frozen=True):
    id: str
    name: str
    role: str | None
    created_at: int


_TOKEN = "id, organization_id, name, hint, scopes, created_at, expires_at, last_used_at"  # noqa: S105
_SERVICE = """FROM users u JOIN members m ON m.user_id = u.id AND m.organization_id = u.managed_by
              WHERE u.managed_by = :org AND u.kind = 'service'"""


def _token(row: Row) -> TokenRow:
    id, organization_id, name, hint, scopes, *times = row
    return TokenRow(id, organization_id, name, hint, msgspec.json.decode(scopes) if scopes else None, *times)


def list_tokens(
    tx: Transaction, user_id: str, limit: int, page: str | None, *, only: str | None = None
) -> Slice[TokenRow]:
    """Return the active tokens of a user, newest first. ``only``: an organization to limit the list to."""
    alive = "FROM tokens WHERE user_id = :user AND revoked_at IS NULL"
    if only is not None:
        alive += " AND organization_id = :only"
    return list_page(tx, limit, page, _TOKEN, alive, _token, descending=True, user=user_id, only=only)


def find_token_by_secret(tx: Transaction, hashed: str) -> TokenRow | None:
    row = tx.one(f"SELECT {_TOKEN} FROM tokens WHERE hash = :hash", hash=hashed)
    return _token(row) if row else None


def insert_service_account(tx: Transaction, organization_id: str, name: str, role: str) -> ServiceAccountRow:
    """Create a user that isn't a person, as a member of the organization. No one can sign in as this user."""
    user = insert_managed(tx, organization_id, "service", name)
    upsert_member(tx, organization_id, user.id, role)
    return ServiceAccountRow(user.id, name, role, user.created_at)


def list_service_accounts(
    tx: Transaction, organization_id: str, limit: int, page: str | None
) -> Slice[ServiceAccountRow]:
    return list_page(
        tx,
        limit,
        page,
        "u.id, u.display_name, m.role, u.created_at",
        _SERVICE,
        lambda row: ServiceAccountRow(*row),
        by="u.id",
        descending=True,
        org=organization_id,
    )


def is_service_account(tx: Transaction, organization_id: str, account_id: str) -> bool:
    return tx.one(f"SELECT 1 {_SERVICE} AND u.id = :id", org=organization_id, id=account_id) is not None


def disable_service_account(tx: Transaction, organization_id: str, account_id: str) -> None:
    """Deactivate a service account, and end its membership. The account is kept as the author of its content."""
    disable_account(tx, account_id)
    delete_membership(tx, organization_id, account_id)


def list_domain_organizations(tx: Transaction, domain: str) -> list[str]:
    """Return the IDs of organizations that verified this email domain.

    A public email provider's domain doesn't belong to any organization, even if it was once recorded."""
    if is_free_mail(domain):
        return []
    rows = tx.all(
        """SELECT organization_id FROM proved_domains WHERE domain = :domain AND proof IN ('dns', 'operator')
           ORDER BY organization_id""",
        domain=domain,
    )
    return [id for (id,) in rows]
