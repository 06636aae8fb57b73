"""Spaces and sites in which integrations are active.

An integration is active in the spaces and sites where it is installed individually. If it is installed on all
spaces, it is active in the spaces that its account can see, and therefore in a private space only if someone added
it to that space."""

from __future__ import annotations

from octavo.kit.db.database import Transaction
from octavo.organization.access.authorization import role_of_person

from . import store
from .invoking import Subject
from .store import IntegrationRow


def sees(tx: Transaction, organization_id: str, space_id: str, user_id: str) -> bool:
    """Return whether an installation with the account ``user_id`` can see a space."""
    return role_of_person(tx, organization_id, "space", space_id, user_id) is not None


def list_active_in_space(
    tx: Transaction, organization_id: str, space_id: str, search: str | None = None
) -> list[IntegrationRow]:
    """Return the integrations that are active in a space, sorted by name."""
    rows = store.list_integrations_at(tx, organization_id, "space", space_id, search)
    return [row for row, user_id in rows if user_id is None or sees(tx, organization_id, space_id, user_id)]


def find_active(
    tx: Transaction, integration: IntegrationRow, organization_id: str, space_id: str
) -> Subject | None:
    """Return an integration as installed in a space; None if it isn't active in the space."""
    installation = store.find_installation_in(tx, integration.id, organization_id)
    if installation is None or installation.status != "active":
        return None
    place = store.find_place(tx, installation.id, "space", space_id)
    if place is not None and place.status == "active":
        return Subject(integration, installation, place)
    if installation.space_selection != "all" or not sees(tx, organization_id, space_id, installation.user_id):
        return None
    return Subject(integration, installation, place)
