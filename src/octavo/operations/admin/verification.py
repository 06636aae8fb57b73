"""The operator's word for what organizations say is theirs, email domains and host names, and for what all are offered."""

from __future__ import annotations

from octavo.extensions.integrations.publishing import offer
from octavo.kit.context import Context
from octavo.organization.orgs.domains import verify_domain_for_operator
from octavo.organization.orgs.store import get_organization, trust_organization


def prove_domain(context: Context, organization_id: str, domain: str) -> None:
    """Raises NotFound for a domain that the organization does not name, and for an organization that is not there."""
    with context.db.write() as tx:
        verify_domain_for_operator(tx, organization_id, domain.lower())


def trust(context: Context, organization_id: str) -> None:
    """Lets the host names and paths count that the organization's sites are given. Raises NotFound."""
    with context.db.write() as tx:
        get_organization(tx, organization_id)
        trust_organization(tx, organization_id)


def offer_integration(context: Context, name: str, *, offered: bool) -> None:
    """Offer an integration to every organization, or stop offering it. Raises BadRequest, NotFound."""
    with context.db.write() as tx:
        offer(tx, name, offered)
