"""The operator's word for an organization's e-mail domains."""

from __future__ import annotations

from ..kit.context import Context
from ..orgs import vouch


def prove_domain(context: Context, organization_id: str, domain: str) -> None:
    """Raises NotFound for a domain that the organization does not name, and for an organization that is not there."""
    with context.db.write() as tx:
        vouch(tx, organization_id, domain.lower())
