"""Present an invitation to the holder of its secret, and invite links to the people who manage them."""

from __future__ import annotations

from typing import cast

from msgspec import UNSET, UnsetType

from octavo.core.app_urls import AppAddresses
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Recipient
from octavo.organization.access.accounts import find_user
from octavo.organization.access.authorization import OrgAccess, collection_access, space_access
from octavo.organization.access.roles import Can, Role, at_least
from octavo.organization.orgs.store import get_organization
from octavo.organization.spaces.store import get_collection, get_space
from octavo.organization.spaces.wire import present_collection, present_space

from . import invite_links, inviting
from .store import LinkRow, find_organization_of_link
from .wire import InviteLink, InvitingOrganization, ShownInvitation


def present_by_secret(tx: Transaction, context: Context, secret: str) -> ShownInvitation:
    """Return the invitation or link with this secret. Raises NotFound, always with the same message, if the secret is
    unknown, used, expired, or invalid."""
    organization_id = find_organization_of_link(tx, secret)
    link = (
        invite_links.find_usable_link(tx, context, organization_id, secret)
        if organization_id is not None
        else None
    )
    if link is not None:
        url = _url(context.app, link)
        return _shown(tx, link.organization_id, link.created_by, url, content=_content(tx, link))
    invitation = inviting.get_invitation(tx, secret)
    url = context.app.organization(invitation.organization_id)
    return _shown(tx, invitation.organization_id, invitation.invited_by, url, email=invitation.email)


def _shown(
    tx: Transaction,
    organization_id: str,
    invited_by: str,
    url: str,
    *,
    email: str | UnsetType = UNSET,
    content: str | UnsetType = UNSET,
) -> ShownInvitation:
    inviter = find_user(tx, invited_by)
    organization = InvitingOrganization(organization_id, get_organization(tx, organization_id).title)
    return ShownInvitation(organization, inviter.display_name if inviter else "Someone", url, email, content)


def _url(app: AppAddresses, link: LinkRow) -> str:
    """Return the URL of the organization, space, or collection that a link grants access to."""
    if link.target_type == "organization":
        return app.organization(link.organization_id)
    return app.space(link.target_id) if link.target_type == "space" else app.collection(link.target_id)


def _content(tx: Transaction, link: LinkRow) -> str | UnsetType:
    if link.target_type == "organization":
        return UNSET
    find = get_space if link.target_type == "space" else get_collection
    return find(tx, link.target_id).title or UNSET


def present_link(to: Recipient, tx: Transaction, org: OrgAccess, link: LinkRow) -> InviteLink:
    id, role = link.secret, cast(Role | None, link.role)
    if link.target_type == "organization":
        return InviteLink(id=id, redundant=at_least(org.role, role), role=role)
    if link.target_type == "space":
        mine = space_access(tx, org.actor, Can.VIEW, link.target_id).role
        shown = present_space(to, tx, get_space(tx, link.target_id), mine)
        return InviteLink(id=id, redundant=at_least(mine, role), level=role, space=shown)
    mine = collection_access(tx, org.actor, Can.VIEW, link.target_id).role
    collection = present_collection(to, get_collection(tx, link.target_id), mine)
    return InviteLink(id=id, redundant=at_least(mine, role), level=role, collection=collection)
