"""Links between accounts and their identities at providers."""

from __future__ import annotations

from octavo.kit.clock import now
from octavo.kit.db.database import Transaction


def find_user_id(tx: Transaction, provider: str, subject: str) -> str | None:
    """Return the user with this subject at a provider (a SAML provider's ID or an OpenID Connect issuer)."""
    found = tx.value(
        "SELECT user_id FROM external_identities WHERE provider = :provider AND subject = :subject",
        provider=provider,
        subject=subject,
    )
    return None if found is None else str(found)


def link(tx: Transaction, provider: str, subject: str, user_id: str) -> None:
    tx.insert("external_identities", provider=provider, subject=subject, user_id=user_id, created_at=now())


def can_sign_in(tx: Transaction, user_id: str) -> bool:
    """Return whether a user is a person whose account isn't deactivated."""
    return (
        tx.one("SELECT 1 FROM users WHERE id = :id AND disabled = 0 AND kind = 'person'", id=user_id)
        is not None
    )


def is_created_by(tx: Transaction, user_id: str, organization_id: str) -> bool:
    """Return whether the organization created this account and the email address is still unverified."""
    return (
        tx.one(
            "SELECT 1 FROM users WHERE id = :id AND managed_by = :org AND email_verified = 0",
            id=user_id,
            org=organization_id,
        )
        is not None
    )
