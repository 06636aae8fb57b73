"""Authorization: code can access an organization, collection, site, or space only through one of these functions.

Each function takes an actor, fetches the object, checks that the actor's token or session can reach it
(``reach``), finds the actor's role on it, and checks whether the role includes the required ability. If the
object is out of reach or not visible to the actor, the function raises NotFound, as if the object didn't exist.
If the object is visible but the ability is missing, the function raises Forbidden. The result is a proof, which
contains the actor and is passed to all other functions that the operation uses. Proofs are created only in files
named ``authorization.py``; a test enforces this.

The dispatcher calls ``enter_*`` functions for IDs in a path. ``*_access`` functions do the same within a
transaction, for IDs in a query, a body, or a job.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeVar, assert_never

import msgspec
from msgspec import Struct

from octavo.errors import Forbidden, NotFound
from octavo.kit.clock import DAY, now
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor, Call, Person, Script, Visitor, enters

from .auditing import Stranger
from .evaluation import Kind, Step, list_collection_steps, role_along
from .reach import actor_for_job, forces_sso, is_bound_elsewhere, require_account, require_single_sign_on
from .roles import COLLECTION, ORGANIZATION, SITE, SPACE, Abilities, Can, at_least
from .scopes import require_scope
from .store import role_at_site

T = TypeVar("T")

RESTORE_DAYS = 7
_VISITOR_ROLE = "read"
"""Role of site visitors on the site and in its spaces, for operations that visitors can call."""


class SignedIn(Struct, frozen=True):
    """Caller who is authenticated by a token or session."""

    actor: Actor

    @property
    def user_id(self) -> str:
        return self.actor.user_id


class Visiting(Struct, frozen=True):
    """Site visitor who is authenticated by a token. Visitors get separate proofs, without a role or a person, so code
    that ignores visitors can't grant access to them."""

    visitor: Visitor


class OrgAccess(Struct, frozen=True):
    """Caller with access to an organization. ``role``: the caller's role; None for a guest."""

    organization_id: str
    actor: Actor
    role: str | None

    @property
    def user_id(self) -> str:
        return self.actor.user_id


class SiteAccess(Struct, frozen=True):
    """Caller with access to a site. ``role``: the caller's role on the site, which is independent of its
    spaces. ``member_role``: the caller's role in the organization."""

    site_id: str
    organization_id: str
    actor: Actor
    role: str
    member_role: str | None

    @property
    def user_id(self) -> str:
        return self.actor.user_id

    @property
    def organization(self) -> OrgAccess:
        """Return the caller's access to the site's organization, with the caller's role in the organization."""
        return OrgAccess(self.organization_id, self.actor, self.member_role)


class VisitedSite(Visiting, frozen=True):
    """Visitor who has access to the site they are visiting."""

    @property
    def site_id(self) -> str:
        return self.visitor.site_id

    @property
    def organization_id(self) -> str:
        return self.visitor.organization_id


class _ContentAccess(Struct, frozen=True):
    """Caller with access to a space or collection. ``member_role``: the caller's role in the organization."""

    organization_id: str
    actor: Actor
    role: str
    member_role: str | None

    @property
    def user_id(self) -> str:
        return self.actor.user_id

    @property
    def agent(self) -> str | None:
        """Return the name of the agent that acts for the caller, if any."""
        return self.actor.agent

    @property
    def organization(self) -> OrgAccess:
        """Return the caller's access to the organization that the space or collection belongs to."""
        return OrgAccess(self.organization_id, self.actor, self.member_role)


class CollectionAccess(_ContentAccess, frozen=True, kw_only=True):
    collection_id: str


class SpaceAccess(_ContentAccess, frozen=True, kw_only=True):
    """Caller with access to a space. ``deleted``: whether the space is in the trash. Only operations that are declared
    for spaces in the trash can access it."""

    space_id: str
    locked: bool
    deleted: bool


class InSpace(Struct, frozen=True):
    """Caller with access to an object inside a space, with the caller's permissions in the space."""

    space: SpaceAccess

    @property
    def organization_id(self) -> str:
        return self.space.organization_id

    @property
    def space_id(self) -> str:
        return self.space.space_id

    @property
    def actor(self) -> Actor:
        return self.space.actor

    @property
    def user_id(self) -> str:
        return self.space.user_id

    @property
    def agent(self) -> str | None:
        """Return the name of the agent that acts for the caller, if any."""
        return self.space.agent

    @property
    def role(self) -> str:
        return self.space.role


class VisitedSpace(Visiting, frozen=True):
    """Visitor with access to a space on the site that they visit."""

    space_id: str

    @property
    def organization_id(self) -> str:
        return self.visitor.organization_id


class KeptSpaceAccess(SpaceAccess, frozen=True):
    """Caller with access to a space that may be in the trash and can still be restored."""


def require_actor(call: Call) -> Actor:
    """Return the actor whose permissions apply. Raises Unauthorized if there is no actor, Forbidden if the
    token's scopes don't allow the operation, and NotFound for visitors."""
    actor = call.actor
    require_scope(actor, call.operation)
    return actor


def actor_or_stranger(call: Call) -> Actor | Stranger:
    """Return the actor to record in the audit log for a public operation. Visitors are recorded as anonymous."""
    match call.authenticated:
        case Person() | Script() as actor:
            return actor
        case Visitor() | None:
            return Stranger(call.client)
        case other:
            assert_never(other)


def require_visitor(call: Call) -> Visitor:
    """Return the visitor who made the request. Call this only if the caller is known to be a visitor."""
    caller = call.caller
    assert isinstance(caller, Visitor)
    return caller


def _check(abilities: Abilities, role: str | None, needs: Can, missing: str) -> None:
    """Raise NotFound if the role can't see the object, and Forbidden if it doesn't include the ability ``needs``."""
    if not at_least(role, abilities[Can.VIEW]):
        raise NotFound(missing)
    least = abilities[needs]
    if not at_least(role, least):
        raise Forbidden(
            f"This operation requires the `{least}` role or higher, but your role is `{role or 'guest'}`."
            " Ask an administrator for access."
        )


def _read_cached(call: Call, key: tuple[str, ...], find: Callable[[Transaction], T]) -> T:
    """Return the result of ``find``, cached until the next commit. The result must not depend on the actor's
    reach."""

    def read() -> T:
        with call.db.read() as tx:
            return find(tx)

    found: T = call.context.fresh.get(key, read)
    return found


@enters(Visiting, visitors=True)
def enter_as_visitor(call: Call, needs: Can) -> Visiting:
    return Visiting(require_visitor(call))


@enters(SignedIn)
def enter_account(call: Call, needs: Can) -> SignedIn:
    actor = require_actor(call)
    require_account(actor, needs)
    return SignedIn(actor)


# --- organizations and sites --------------------------------------------------------------------------


class _EnabledMember(Struct, frozen=True):
    """Enabled member with an active account. ``forced``: whether the organization requires single sign-on."""

    role: str | None
    forced: bool


def _find_enabled_member(tx: Transaction, user_id: str, organization_id: str) -> _EnabledMember | None:
    row = tx.one(
        """SELECT m.role, o.settings FROM members m JOIN organizations o ON o.id = m.organization_id
             JOIN users u ON u.id = m.user_id AND u.disabled = 0
           WHERE m.organization_id = :org AND m.user_id = :user AND m.disabled = 0""",
        org=organization_id,
        user=user_id,
    )
    return _EnabledMember(row[0], forces_sso(row[1])) if row else None


def _organization_access(
    actor: Actor, membership: _EnabledMember | None, needs: Can, organization_id: str
) -> OrgAccess:
    missing = f"There is no organization with the ID {organization_id!r}."
    if membership is None or is_bound_elsewhere(actor, organization_id):
        raise NotFound(missing)
    require_single_sign_on(actor, membership.role, membership.forced)
    _check(ORGANIZATION, membership.role, needs, missing)
    return OrgAccess(organization_id, actor, membership.role)


@enters(OrgAccess, "organizationId")
def enter_organization(call: Call, needs: Can, organization_id: str) -> OrgAccess:
    actor = require_actor(call)
    key = ("member", actor.user_id, organization_id)
    membership = _read_cached(call, key, lambda tx: _find_enabled_member(tx, actor.user_id, organization_id))
    return _organization_access(actor, membership, needs, organization_id)


def organization_access(tx: Transaction, actor: Actor, needs: Can, organization_id: str) -> OrgAccess:
    membership = _find_enabled_member(tx, actor.user_id, organization_id)
    return _organization_access(actor, membership, needs, organization_id)


@enters(SiteAccess, "organizationId", "siteId")
def enter_site(call: Call, needs: Can, organization_id: str, site_id: str) -> SiteAccess:
    missing = f"There is no site with the ID {site_id!r} in this organization."
    require_actor(call)
    try:
        org = enter_organization(call, Can.VIEW, organization_id)
    except NotFound:
        raise NotFound(missing) from None
    with call.db.read() as tx:
        return _site_access(tx, org, needs, site_id)


@enters(VisitedSite, "organizationId", "siteId", visitors=True)
def visit_site(call: Call, needs: Can, organization_id: str, site_id: str) -> VisitedSite:
    missing, visitor = (
        f"There is no site with the ID {site_id!r} in this organization.",
        require_visitor(call),
    )
    if (visitor.organization_id, visitor.site_id) != (organization_id, site_id):
        raise NotFound(missing)
    _check(SITE, _VISITOR_ROLE, needs, missing)
    return VisitedSite(visitor)


def site_access(tx: Transaction, actor: Actor, needs: Can, organization_id: str, site_id: str) -> SiteAccess:
    """Return the access of a member or script to a site. Raises NotFound if the site isn't visible to the member or
    script, and Forbidden if the ability is missing."""
    try:
        org = organization_access(tx, actor, Can.VIEW, organization_id)
    except NotFound:
        raise NotFound(f"There is no site with the ID {site_id!r} in this organization.") from None
    return _site_access(tx, org, needs, site_id)


def named_site_access(tx: Transaction, actor: Actor, needs: Can, site_id: str) -> SiteAccess:
    """Return the actor's access to a site that a request specifies without its organization. Raises
    NotFound if the actor can't see it, and Forbidden if the actor doesn't have the required permission."""
    organization_id = tx.value("SELECT organization_id FROM sites WHERE id = :id", id=site_id)
    if organization_id is None:
        raise NotFound(f"There is no site with the ID {site_id!r}.")
    try:
        return site_access(tx, actor, needs, organization_id, site_id)
    except NotFound:
        raise NotFound(f"There is no site with the ID {site_id!r}.") from None


def find_site_access(
    tx: Transaction, actor: Actor, needs: Can, organization_id: str, site_id: str
) -> SiteAccess | None:
    """Return the actor's access to a site; None if the actor can't see it or doesn't have the permission."""
    try:
        return site_access(tx, actor, needs, organization_id, site_id)
    except (NotFound, Forbidden):
        return None


def _site_access(tx: Transaction, org: OrgAccess, needs: Can, site_id: str) -> SiteAccess:
    missing = f"There is no site with the ID {site_id!r} in this organization."
    row = tx.one("SELECT organization_id, default_level FROM sites WHERE id = :id", id=site_id)
    if row is None or row[0] != org.organization_id:
        raise NotFound(missing)
    if isinstance(org.actor, Script) and org.actor.installation_id is not None:
        # An installation has the same role on all sites where it is installed, and its scopes limit the role.
        org = msgspec.structs.replace(org, role=role_at_site(tx, org.actor.installation_id, site_id))
        role = org.role
    else:
        role = role_along(tx, org.user_id, org.role, [Step("site", site_id, row[1])])
    _check(SITE, role, needs, missing)
    assert role is not None
    return SiteAccess(site_id, org.organization_id, org.actor, role, org.role)


# --- collections --------------------------------------------------------------------------------------


class _FoundObject(Struct, frozen=True):
    """Space or collection with a person's role on it, regardless of the reach of the person's token. ``role``: the
    role; None if the person can't see the object."""

    organization_id: str
    role: str | None
    member_role: str | None
    forced: bool
    locked: bool = False
    deleted_at: int | None = None


def _find_collection(tx: Transaction, user_id: str, collection_id: str) -> _FoundObject | None:
    """Return a collection with the user's role; None if it doesn't exist or the user isn't a member of its
    organization."""
    organization_id = tx.value(
        "SELECT organization_id FROM collections WHERE id = :id AND deleted_at IS NULL", id=collection_id
    )
    if organization_id is None:
        return None
    membership = _find_enabled_member(tx, user_id, organization_id)
    if membership is None:
        return None
    role = role_along(tx, user_id, membership.role, list_collection_steps(tx, collection_id))
    return _FoundObject(organization_id, role, membership.role, membership.forced)


def _require(
    actor: Actor, found: _FoundObject | None, abilities: Abilities, needs: Can, kind: Kind, object_id: str
) -> _FoundObject:
    """Raise NotFound unless the actor can reach the object, and Forbidden unless the actor has the ability."""
    missing = f"There is no {kind} with the ID {object_id!r}."
    if found is None or is_bound_elsewhere(actor, found.organization_id):
        raise NotFound(missing)
    _check(abilities, found.role, Can.VIEW, missing)
    require_single_sign_on(actor, found.member_role, found.forced)
    _check(abilities, found.role, needs, missing)
    return found


def _collection_access(
    actor: Actor, found: _FoundObject | None, needs: Can, collection_id: str
) -> CollectionAccess:
    found = _require(actor, found, COLLECTION, needs, "collection", collection_id)
    assert found.role is not None
    return CollectionAccess(
        found.organization_id, actor, found.role, found.member_role, collection_id=collection_id
    )


@enters(CollectionAccess, "collectionId")
def enter_collection(call: Call, needs: Can, collection_id: str) -> CollectionAccess:
    actor = require_actor(call)
    key = ("collection", actor.user_id, collection_id)
    found = _read_cached(call, key, lambda tx: _find_collection(tx, actor.user_id, collection_id))
    return _collection_access(actor, found, needs, collection_id)


def collection_access(tx: Transaction, actor: Actor, needs: Can, collection_id: str) -> CollectionAccess:
    return _collection_access(actor, _find_collection(tx, actor.user_id, collection_id), needs, collection_id)


def find_collection_access(
    tx: Transaction, actor: Actor, needs: Can, collection_id: str
) -> CollectionAccess | None:
    """Return the actor's access to a collection; None if the actor can't see it or doesn't have the permission."""
    try:
        return collection_access(tx, actor, needs, collection_id)
    except (NotFound, Forbidden):
        return None


# --- spaces -------------------------------------------------------------------------------------------

_SPACE = """SELECT s.organization_id, s.collection_id, s.default_level, s.edit_mode, s.deleted_at, m.role, o.settings
            FROM spaces s JOIN organizations o ON o.id = s.organization_id
              JOIN members m ON m.organization_id = s.organization_id AND m.user_id = :user AND m.disabled = 0
              JOIN users u ON u.id = m.user_id AND u.disabled = 0
            WHERE s.id = :id"""


def _find_space(tx: Transaction, user_id: str, space_id: str) -> _FoundObject | None:
    """Return a space with the user's role; None if it doesn't exist or the user isn't a member of its
    organization."""
    row = tx.one(_SPACE, id=space_id, user=user_id)
    if row is None:
        return None
    organization_id, collection_id, level, edit_mode, deleted_at, member, settings = row
    steps = [Step("space", space_id, level)]
    if member != "admin":
        steps += list_collection_steps(tx, collection_id)
    role = role_along(tx, user_id, member, steps)
    return _FoundObject(
        organization_id, role, member, forces_sso(settings), edit_mode == "locked", deleted_at
    )


def _space_access(
    actor: Actor, found: _FoundObject | None, needs: Can, space_id: str, made: type[SpaceAccess] = SpaceAccess
) -> SpaceAccess:
    found = _require(actor, found, SPACE, needs, "space", space_id)
    assert found.role is not None
    return made(
        found.organization_id,
        actor,
        found.role,
        found.member_role,
        space_id=space_id,
        locked=found.locked,
        deleted=found.deleted_at is not None,
    )


def _unless_deleted(found: _FoundObject | None) -> _FoundObject | None:
    return found if found is not None and found.deleted_at is None else None


def _unless_expired(found: _FoundObject | None) -> _FoundObject | None:
    if found is None or found.deleted_at is None:
        return found
    return found if found.deleted_at >= now() - RESTORE_DAYS * DAY else None


@enters(SpaceAccess, "spaceId")
def enter_space(call: Call, needs: Can, space_id: str) -> SpaceAccess:
    actor = require_actor(call)
    key = ("space", actor.user_id, space_id)
    found = _read_cached(call, key, lambda tx: _find_space(tx, actor.user_id, space_id))
    return _space_access(actor, _unless_deleted(found), needs, space_id)


@enters(VisitedSpace, "spaceId", visitors=True)
def visit_space(call: Call, needs: Can, space_id: str) -> VisitedSpace:
    missing, visitor = f"There is no space with the ID {space_id!r}.", require_visitor(call)
    if space_id not in visitor.spaces:
        raise NotFound(missing)
    _check(SPACE, _VISITOR_ROLE, needs, missing)
    return VisitedSpace(visitor, space_id)


@enters(KeptSpaceAccess, "spaceId")
def enter_kept_space(call: Call, needs: Can, space_id: str) -> SpaceAccess:
    actor = require_actor(call)
    with call.db.read() as tx:
        found = _find_space(tx, actor.user_id, space_id)
    return _space_access(actor, _unless_expired(found), needs, space_id, KeptSpaceAccess)


def space_access(tx: Transaction, actor: Actor, needs: Can, space_id: str) -> SpaceAccess:
    return _space_access(actor, _unless_deleted(_find_space(tx, actor.user_id, space_id)), needs, space_id)


def find_space_access(tx: Transaction, actor: Actor, needs: Can, space_id: str) -> SpaceAccess | None:
    """Return the actor's access to a space; None if the actor can't see it or doesn't have the permission."""
    try:
        return space_access(tx, actor, needs, space_id)
    except (NotFound, Forbidden):
        return None


def find_kept_space_access(
    tx: Transaction, actor: Actor, needs: Can, space_id: str
) -> KeptSpaceAccess | None:
    """Return the actor's access to a space, which may be in the trash; see ``find_space_access``. Changes to the
    permissions of a space in the trash take effect when it is restored."""
    try:
        access = _space_access(
            actor, _find_space(tx, actor.user_id, space_id), needs, space_id, KeptSpaceAccess
        )
    except (NotFound, Forbidden):
        return None
    assert isinstance(access, KeptSpaceAccess)
    return access


def other_space_access(tx: Transaction, space: SpaceAccess, user_id: str) -> SpaceAccess:
    """Return another person's access to a space that the caller administers, so that the caller can view the space as
    that person. Raises NotFound unless the person can see the space, and Forbidden for integrations, which can't see
    restricted pages."""
    if isinstance(space.actor, Script):
        raise Forbidden("Integrations can't view a space as another person.")
    actor = actor_for_job(user_id, space.organization_id)
    found = find_space_access(tx, actor, Can.VIEW, space.space_id)
    if found is None:
        raise NotFound(f"There is no user with the ID {user_id!r} who can see this space.")
    return found


# --- other members ------------------------------------------------------------------------------------


class OtherMember(Struct, frozen=True):
    """Another member of an organization that the caller has access to. Use this to find the objects that the member can
    see. It isn't a proof, so it doesn't permit any action."""

    organization_id: str
    user_id: str
    role: str | None


def find_member(tx: Transaction, org: OrgAccess, user_id: str) -> OtherMember | None:
    """Return another member of an organization, or None if the user isn't a member or is disabled."""
    found = _find_enabled_member(tx, user_id, org.organization_id)
    return OtherMember(org.organization_id, user_id, found.role) if found else None


def role_of_member(tx: Transaction, organization_id: str, user_id: str) -> tuple[bool, str | None]:
    """Return whether a user other than the caller is an enabled member, and the user's role."""
    found = _find_enabled_member(tx, user_id, organization_id)
    return (False, None) if found is None else (True, found.role)


def role_of_person(
    tx: Transaction,
    organization_id: str,
    kind: Literal["space", "collection"],
    object_id: str,
    user_id: str,
) -> str | None:
    """Return the role that a user other than the caller, such as a possible reviewer or a person to mention, has in a
    space or collection of the organization; None if the user can't see the space or collection."""
    if kind == "space":
        found = _unless_deleted(_find_space(tx, user_id, object_id))
    else:
        found = _find_collection(tx, user_id, object_id)
    return found.role if found is not None and found.organization_id == organization_id else None
