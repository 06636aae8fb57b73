"""Verify email domains and site domains on the server administrator's authority, and offer integrations to all
organizations."""

from __future__ import annotations

from octavo.extensions.integrations.publishing import offer
from octavo.kit.context import Context
from octavo.organization.orgs.domains import verify_domain_for_operator
from octavo.organization.orgs.store import get_organization, trust_organization


def verify_domain(context: Context, organization_id: str, domain: str) -> None:
    """Verify an organization's email domain. Raises NotFound if the organization doesn't exist or doesn't list the
    domain."""
    with context.db.write() as tx:
        verify_domain_for_operator(tx, organization_id, domain.lower())


def trust(context: Context, organization_id: str) -> None:
    """Allow an organization to use any domains and paths for its sites without verifying them. Raises NotFound if
    the organization doesn't exist."""
    with context.db.write() as tx:
        get_organization(tx, organization_id)
        trust_organization(tx, organization_id)


def offer_integration(context: Context, name: str, *, offered: bool) -> None:
    """Offer an integration to every organization, or stop offering it. Raises BadRequest if the integration
    isn't public, and NotFound if it doesn't exist."""
    with context.db.write() as tx:
        offer(tx, name, offered)
