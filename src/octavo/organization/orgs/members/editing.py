"""Change the roles of members, and remove members."""

from __future__ import annotations

from octavo.errors import PreconditionFailed
from octavo.kit.db.database import Transaction
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import OrgAccess
from octavo.organization.access.members import set_member_role, set_sso
from octavo.organization.identity.removal import remove_member as end_membership
from octavo.organization.identity.removal import require_another_admin
from octavo.organization.identity.saml.store import list_active_providers

from . import store


def set_role(tx: Transaction, org: OrgAccess, user_id: str, role: str | None) -> None:
    """Set the role of a member; None makes the member a guest. Raises Conflict if the member is the last
    administrator."""
    before = store.get_member(tx, org.organization_id, user_id)
    if role == before.role:
        return
    if before.role == "admin":
        require_another_admin(tx, org.organization_id, user_id)
    set_member_role(tx, org.organization_id, user_id, role)
    was, is_now = {"role": before.role}, {"role": role}
    target = ("user", user_id)
    audit(tx, org.actor, "member.updated", org.organization_id, target, before=was, after=is_now)


def remove_member(tx: Transaction, org: OrgAccess, user_id: str) -> bool:
    """Remove a member. Return False if the user isn't a member. Raises Conflict if the user is the last
    administrator."""
    before = store.find_member(tx, org.organization_id, user_id)
    if before is None:
        return False
    end_membership(tx, org.organization_id, user_id)
    state = {"role": before.role, "email": before.user.email}
    audit(tx, org.actor, "member.removed", org.organization_id, ("user", user_id), before=state)
    return True


def mark_sso(tx: Transaction, org: OrgAccess, user_id: str) -> None:
    """Record that a member signs in through the identity provider. Raises PreconditionFailed if there is no
    active provider."""
    store.get_member(tx, org.organization_id, user_id)
    if not list_active_providers(tx, org.organization_id):
        raise PreconditionFailed("This organization has no active SAML provider. Set one up first.")
    if set_sso(tx, org.organization_id, user_id):
        was, is_now = {"sso": False}, {"sso": True}
        target = ("user", user_id)
        audit(tx, org.actor, "member.updated", org.organization_id, target, before=was, after=is_now)
