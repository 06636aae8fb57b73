"""The choke point: the only way to an organization, collection or space is through one of these functions.

Each fetches the object, finds the caller's role there and checks the ability. Not allowed to see it: NotFound,
as if it were not there. Seen, but without the ability: Forbidden.
"""

from __future__ import annotations

from msgspec import Struct

from ..errors import Forbidden, NotFound
from ..kit.clock import now
from ..kit.db import Transaction
from ..kit.operation import Actor, Call, enters
from .evaluation import Step, list_collection_steps, role_along
from .roles import COLLECTION, ORGANIZATION, SITE, SPACE, Abilities, Can, at_least

RESTORE_DAYS = 7


class SignedIn(Struct, frozen=True):
    """Somebody, proved by a token."""

    user_id: str


class OrgAccess(Struct, frozen=True):
    """The caller inside an organization; ``role`` None is a guest."""

    organization_id: str
    user_id: str
    role: str | None


class SiteAccess(Struct, frozen=True):
    site_id: str
    organization_id: str
    user_id: str
    role: str


class CollectionAccess(Struct, frozen=True):
    collection_id: str
    organization_id: str
    user_id: str
    role: str
    member_role: str | None


class SpaceAccess(Struct, frozen=True):
    """The caller at a space. ``deleted`` spaces are entered only by operations that say so."""

    space_id: str
    organization_id: str
    user_id: str
    role: str
    member_role: str | None
    locked: bool
    deleted: bool


class KeptSpaceAccess(SpaceAccess, frozen=True):
    """The caller at a space that may lie in the trash, as long as it can be restored."""


def require_actor(call: Call) -> Actor:
    return call.actor


def check(abilities: Abilities, role: str | None, needs: Can, missing: str) -> None:
    """Raises NotFound when the role cannot even see the object, Forbidden when it lacks ``needs``."""
    if not at_least(role, abilities[Can.VIEW]):
        raise NotFound(missing)
    least = abilities[needs]
    if not at_least(role, least):
        raise Forbidden(f"This needs the role `{least}` or a higher one here; you have `{role or 'guest'}`.")


@enters(SignedIn)
def enter(call: Call, needs: Can) -> SignedIn:
    return SignedIn(require_actor(call).user_id)


@enters(OrgAccess, "organizationId")
def enter_organization(call: Call, needs: Can, organization_id: str) -> OrgAccess:
    user_id = require_actor(call).user_id
    found, role = _fresh_member_role(call, organization_id, user_id)
    missing = f"There is no organization {organization_id!r}."
    if not found:
        raise NotFound(missing)
    check(ORGANIZATION, role, needs, missing)
    return OrgAccess(organization_id, user_id, role)


def _fresh_member_role(call: Call, organization_id: str, user_id: str) -> tuple[bool, str | None]:
    def read() -> tuple[bool, str | None]:
        with call.db.read() as tx:
            return member_role(tx, organization_id, user_id)

    found: tuple[bool, str | None] = call.context.fresh.get(("member", user_id, organization_id), read)
    return found


def member_role(tx: Transaction, organization_id: str, user_id: str) -> tuple[bool, str | None]:
    """Whether the user is an enabled member, and with which role."""
    row = tx.one(
        "SELECT role FROM members WHERE organization_id = :org AND user_id = :user AND disabled = 0",
        org=organization_id,
        user=user_id,
    )
    return (False, None) if row is None else (True, row[0])


@enters(SiteAccess, "organizationId", "siteId")
def enter_site(call: Call, needs: Can, organization_id: str, site_id: str) -> SiteAccess:
    user_id = require_actor(call).user_id
    missing = f"There is no site {site_id!r} in this organization."
    with call.db.read() as tx:
        found, role = member_role(tx, organization_id, user_id)
        owner = tx.value("SELECT organization_id FROM sites WHERE id = :id", id=site_id)
    if not found or owner != organization_id:
        raise NotFound(missing)
    check(SITE, role, needs, missing)
    assert role is not None
    return SiteAccess(site_id, organization_id, user_id, role)


@enters(CollectionAccess, "collectionId")
def enter_collection(call: Call, needs: Can, collection_id: str) -> CollectionAccess:
    user_id = require_actor(call).user_id

    def read() -> CollectionAccess | None:
        with call.db.read() as tx:
            return _find_collection(tx, user_id, collection_id)

    found = call.context.fresh.get(("collection", user_id, collection_id), read)
    return _checked(found, needs, collection_id)


def collection_access(tx: Transaction, user_id: str, needs: Can, collection_id: str) -> CollectionAccess:
    return _checked(_find_collection(tx, user_id, collection_id), needs, collection_id)


def _find_collection(tx: Transaction, user_id: str, collection_id: str) -> CollectionAccess | None:
    """None when there is no such collection, or nothing that the user sees of it."""
    row = tx.one(
        "SELECT organization_id FROM collections WHERE id = :id AND deleted_at IS NULL", id=collection_id
    )
    if row is None:
        return None
    is_member, member = member_role(tx, row[0], user_id)
    role = role_along(tx, user_id, member, list_collection_steps(tx, collection_id)) if is_member else None
    return CollectionAccess(collection_id, row[0], user_id, role, member) if role is not None else None


def _checked(found: CollectionAccess | None, needs: Can, collection_id: str) -> CollectionAccess:
    missing = f"There is no collection {collection_id!r}."
    check(COLLECTION, found.role if found else None, needs, missing)
    assert found is not None
    return found


@enters(SpaceAccess, "spaceId")
def enter_space(call: Call, needs: Can, space_id: str) -> SpaceAccess:
    user_id = require_actor(call).user_id
    standing = call.context.fresh.get(
        ("space", user_id, space_id), lambda: _read_standing(call, user_id, space_id)
    )
    return _space_access(standing, user_id, needs, space_id, allow_deleted=False)


@enters(KeptSpaceAccess, "spaceId")
def enter_kept_space(call: Call, needs: Can, space_id: str) -> KeptSpaceAccess:
    user_id = require_actor(call).user_id
    with call.db.read() as tx:
        standing = _space_standing(tx, user_id, space_id)
    if standing is not None and standing.deleted_at is not None:
        if standing.deleted_at < now() - RESTORE_DAYS * 24 * 3_600_000:
            standing = None
    found = _space_access(standing, user_id, needs, space_id, allow_deleted=True)
    return KeptSpaceAccess(*(getattr(found, name) for name in SpaceAccess.__struct_fields__))


class _SpaceStanding(Struct, frozen=True):
    """How somebody stands to a space; ``role`` None: they cannot see it."""

    organization_id: str
    role: str | None
    member_role: str | None
    locked: bool
    deleted_at: int | None


def _read_standing(call: Call, user_id: str, space_id: str) -> _SpaceStanding | None:
    with call.db.read() as tx:
        return _space_standing(tx, user_id, space_id)


_SPACE = """SELECT s.organization_id, s.collection_id, s.default_level, s.edit_mode, s.deleted_at, m.user_id, m.role
            FROM spaces s LEFT JOIN members m
              ON m.organization_id = s.organization_id AND m.user_id = :user AND m.disabled = 0
            WHERE s.id = :id"""


def space_access(
    tx: Transaction, user_id: str, needs: Can, space_id: str, *, allow_deleted: bool = False
) -> SpaceAccess:
    standing = _space_standing(tx, user_id, space_id)
    return _space_access(standing, user_id, needs, space_id, allow_deleted=allow_deleted)


def _space_standing(tx: Transaction, user_id: str, space_id: str) -> _SpaceStanding | None:
    row = tx.one(_SPACE, id=space_id, user=user_id)
    if row is None:
        return None
    organization_id, collection_id, level, edit_mode, deleted_at, member_id, member = row
    role: str | None = None
    if member_id is not None:
        steps = [Step("space", space_id, level)]
        if member != "admin":
            steps += list_collection_steps(tx, collection_id)
        role = role_along(tx, user_id, member, steps)
    return _SpaceStanding(organization_id, role, member, edit_mode == "locked", deleted_at)


def _space_access(
    standing: _SpaceStanding | None, user_id: str, needs: Can, space_id: str, *, allow_deleted: bool
) -> SpaceAccess:
    missing = f"There is no space {space_id!r}."
    if standing is None or (standing.deleted_at is not None and not allow_deleted):
        raise NotFound(missing)
    check(SPACE, standing.role, needs, missing)
    assert standing.role is not None
    return SpaceAccess(
        space_id,
        standing.organization_id,
        user_id,
        standing.role,
        standing.member_role,
        standing.locked,
        standing.deleted_at is not None,
    )
