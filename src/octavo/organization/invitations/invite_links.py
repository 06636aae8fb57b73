"""Create and list invite links, and join with them. A link's ID is its secret."""

from __future__ import annotations

import secrets

from octavo.errors import BadRequest, Forbidden, NotFound
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import (
    CollectionAccess,
    OrgAccess,
    SpaceAccess,
    collection_access,
    role_of_member,
    role_of_person,
    space_access,
)
from octavo.organization.access.evaluation import list_steps, role_along
from octavo.organization.access.members import (
    accept_membership,
    find_membership,
    notify_joined,
    upsert_member,
)
from octavo.organization.access.rights.granting import grant_by_link
from octavo.organization.access.roles import COLLECTION, SPACE, Can, at_least
from octavo.organization.orgs.store import get_organization

from . import store
from .store import LinkRow, Target

Place = SpaceAccess | CollectionAccess | None
"""Target of a link; None for the organization itself."""


def enter_target(tx: Transaction, org: OrgAccess, target: tuple[Target, str]) -> Place:
    """Return the target of a link if the caller can invite people to it. Raises NotFound if the caller can't see the
    target, and Forbidden if the caller can't invite people to it."""
    kind, id = target
    if kind == "organization":
        if org.role != "admin":
            raise Forbidden("Only administrators can manage the organization's invite links.")
        return None
    enter = space_access if kind == "space" else collection_access
    found = enter(tx, org.actor, Can.VIEW_INVITE_LINKS, id)
    if found.organization_id != org.organization_id:
        raise NotFound(f"{kind}: there is no {kind} with the ID {id!r} in this organization")
    return found


def _require_own(place: Place, role: str | None) -> None:
    """Raise Forbidden if a role is above the caller's own, and BadRequest if it doesn't grant access."""
    if place is None:
        return
    if role is None:
        raise BadRequest("level: is required. Set it to the role that people get when they join.")
    if not at_least(place.role, role):
        raise Forbidden(f"level: `{role}` is higher than your own role, `{place.role}`")


def create(
    tx: Transaction, context: Context, org: OrgAccess, target: tuple[Target, str], role: str | None
) -> LinkRow:
    """Create a link that grants a role in the organization, a space, or a collection.

    Raises NotFound if the space or collection belongs to another organization, and Forbidden if the
    organization has turned off invite links or the role is above the caller's own."""
    place = enter_target(tx, org, target)
    require_links(tx, org.organization_id)
    _require_own(place, role)
    secret = secrets.token_urlsafe(24)
    link = store.insert_link(tx, context.sealer, org.organization_id, target, role, org.user_id, secret)
    # Readers of the audit log must not be able to join with the link, so its secret isn't recorded.
    audit(tx, org.actor, "invite-link.created", org.organization_id, target, after={"role": role})
    return link


def require_links(tx: Transaction, organization_id: str) -> None:
    if not get_organization(tx, organization_id).settings.invite_links:
        raise Forbidden(
            "Invite links are turned off in this organization. Ask an administrator to turn them on (`inviteLinks`)."
        )


def get(tx: Transaction, context: Context, org: OrgAccess, link_id: str) -> LinkRow:
    """Return a link that the caller can manage. Raises NotFound if it doesn't exist, and Forbidden if the
    caller can't manage it."""
    link = store.find_link(tx, context.sealer, org.organization_id, link_id)
    if link is None:
        raise NotFound("There is no invite link with this ID in this organization.")
    enter_target(tx, org, (link.target_type, link.target_id))
    return link


def update(tx: Transaction, context: Context, org: OrgAccess, link: LinkRow, given: str | None) -> LinkRow:
    """Change the role of a link. Raises the same errors as ``create``."""
    if given != link.role:
        target = (link.target_type, link.target_id)
        place = enter_target(tx, org, target)
        _require_own(place, given)
        # No one can lower a role above their own.
        _require_own(place, link.role)
        store.set_link_role(tx, link.secret, given, org.user_id)
        before, after = {"role": link.role}, {"role": given}
        audit(tx, org.actor, "invite-link.updated", org.organization_id, target, before=before, after=after)
    return get(tx, context, org, link.secret)


def delete(tx: Transaction, context: Context, org: OrgAccess, link_id: str) -> bool:
    link = store.find_link(tx, context.sealer, org.organization_id, link_id)
    if link is None:
        return False
    target = (link.target_type, link.target_id)
    enter_target(tx, org, target)
    store.delete_link(tx, link_id)
    audit(tx, org.actor, "invite-link.deleted", org.organization_id, target, before={"role": link.role})
    return True


def join(
    tx: Transaction, context: Context, actor: Actor, organization_id: str, link_id: str, user_id: str
) -> bool:
    """Grant the role of the link to the caller, unless the caller already has a higher one. Return False if the caller
    can't use the link."""
    link = find_usable_link(tx, context, organization_id, link_id)
    if link is None:
        return False
    membership = find_membership(tx, organization_id, user_id)
    if membership is not None and membership.disabled:
        return False  # a link must not reactivate a disabled member
    target = (link.target_type, link.target_id)
    wanted = link.role if link.target_type == "organization" else None
    role = membership.role if membership else None
    if membership is None or not at_least(role, wanted):
        upsert_member(tx, organization_id, user_id, wanted)
        notify_joined(tx, organization_id, user_id)
        was = {"role": role} if membership else None
        action = "member.updated" if membership else "member.joined"
        state = {"role": wanted, "by": "invite-link"}
        audit(tx, actor, action, organization_id, ("user", user_id), before=was, after=state)
    accept_membership(tx, organization_id, user_id)
    if link.target_type != "organization":
        has = role_along(tx, user_id, role, list_steps(tx, *target))  # type: ignore[arg-type]
        if has is None or not at_least(has, link.role):
            grant_by_link(tx, actor, *target, organization_id, user_id, link.role)  # type: ignore[arg-type]
    return True


def find_usable_link(tx: Transaction, context: Context, organization_id: str, link_id: str) -> LinkRow | None:
    """Return the link if people can currently join with it."""
    link = store.find_link(tx, context.sealer, organization_id, link_id)
    if link is None or not get_organization(tx, organization_id).settings.invite_links:
        return None
    return link if _can_still_grant(tx, link) else None


def _can_still_grant(tx: Transaction, link: LinkRow) -> bool:
    """Return whether the creator of a link could still grant its role."""
    kind = link.target_type
    if kind == "organization":
        return role_of_member(tx, link.organization_id, link.created_by)[1] == "admin"
    role = role_of_person(tx, link.organization_id, kind, link.target_id, link.created_by)
    abilities = SPACE if kind == "space" else COLLECTION
    return (
        link.role is not None
        and at_least(role, abilities[Can.VIEW_INVITE_LINKS])
        and at_least(role, link.role)
    )
