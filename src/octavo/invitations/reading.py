"""What an invitation says to whoever has its secret."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from ..access import find_user
from ..kit.context import Context
from ..kit.db import Transaction
from ..orgs import get_organization
from ..spaces import get_collection, get_space
from . import invite_links, inviting
from .store import LinkRow, find_organization_of_link
from .wire import InvitingOrganization, ShownInvitation


def read(tx: Transaction, context: Context, secret: str) -> ShownInvitation:
    """Raises NotFound alike for what is not there, used, expired or void."""
    organization_id = find_organization_of_link(tx, secret)
    link = (
        invite_links.find_good(tx, context, organization_id, secret) if organization_id is not None else None
    )
    if link is not None:
        return _shown(tx, link.organization_id, link.created_by, content=_content(tx, link))
    invitation = inviting.get_invitation(tx, secret)
    return _shown(tx, invitation.organization_id, invitation.invited_by, email=invitation.email)


def _shown(
    tx: Transaction,
    organization_id: str,
    invited_by: str,
    *,
    email: str | UnsetType = UNSET,
    content: str | UnsetType = UNSET,
) -> ShownInvitation:
    inviter = find_user(tx, invited_by)
    organization = InvitingOrganization(organization_id, get_organization(tx, organization_id).title)
    return ShownInvitation(organization, inviter.display_name if inviter else "Somebody", email, content)


def _content(tx: Transaction, link: LinkRow) -> str | UnsetType:
    if link.target_type == "organization":
        return UNSET
    find = get_space if link.target_type == "space" else get_collection
    return find(tx, link.target_id).title or UNSET
