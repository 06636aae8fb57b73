"""Spaces and collections."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from ..access import (
    RESTORE_DAYS,
    Can,
    CollectionAccess,
    KeptSpaceAccess,
    Level,
    ObjectAccess,
    OrgAccess,
    SpaceAccess,
    at_least,
    audit,
    collection_access,
    find_member,
    guard_roles,
    keep_own_role,
    organization_access,
    space_access,
)
from ..errors import Forbidden, NotFound
from ..kit.clock import now
from ..kit.db import Transaction
from ..kit.operation import Area, Call, Deletion
from ..kit.pagination import Listing, PageQuery, present_slice
from ..orgs import require_merge_rules
from . import duplicating, placing, store, transferring, trashing
from .wire import (
    Collection,
    CollectionsQuery,
    CreateCollection,
    CreateSpace,
    MemberContentPermission,
    MemberSpacesQuery,
    Move,
    Space,
    SpaceQuery,
    Transfer,
    UpdateCollection,
    UpdateSpace,
    neighbours,
    present_collection,
    present_space,
)

operation = Area("spaces").operation


@contextmanager
def _levelling(
    tx: Transaction, call: Call, access: SpaceAccess | CollectionAccess, level: Level | UnsetType
) -> Iterator[None]:
    """Around a change of what members may do by default. Raises Forbidden for more than the caller has there.

    Whoever closes what they came in by keeps their role by a grant.
    """
    if level is UNSET:
        yield
        return
    if level not in (None, "inherit") and not at_least(access.role, level):
        raise Forbidden(f"defaultLevel: `{level}` is more than your own role here, `{access.role}`.")
    place = ObjectAccess.of(access)
    with guard_roles(tx, place):
        yield
        keep_own_role(tx, call, place)


# --- spaces -------------------------------------------------------------------------------------------


@operation("getSpaceById", "GET", "/spaces/{spaceId}", needs=Can.VIEW, returns=Space)
def get_space(call: Call, space: SpaceAccess, query: SpaceQuery) -> Space:
    """One space."""
    with call.db.read() as tx:
        return present_space(call, store.get_space(tx, space.space_id), space.role)


@operation(
    "listSpacesInOrganizationById",
    "GET",
    "/orgs/{organizationId}/spaces",
    needs=Can.VIEW,
    returns=Listing[Space],
)
def list_spaces(call: Call, org: OrgAccess, query: PageQuery) -> Listing[Space]:
    """The spaces of an organization that the caller can see, newest first."""
    with call.db.read() as tx:
        found = store.list_spaces(tx, org, query.limit, query.page)
    return present_slice(found, lambda item: present_space(call, *item))


@operation(
    "listDeletedSpaces",
    "GET",
    "/orgs/{organizationId}/trash/spaces",
    needs=Can.VIEW,
    returns=Listing[Space],
    extension=True,
)
def list_deleted_spaces(call: Call, org: OrgAccess, query: PageQuery) -> Listing[Space]:
    """The spaces in the trash that the caller can see; each can be restored within 7 days of its deletion."""
    since = now() - RESTORE_DAYS * trashing.DAY
    with call.db.read() as tx:
        found = store.list_spaces(tx, org, query.limit, query.page, deleted_since=since)
    return present_slice(found, lambda item: present_space(call, *item))


@operation(
    "listSpacesForOrganizationMember",
    "GET",
    "/orgs/{organizationId}/members/{userId}/spaces",
    needs=Can.VIEW,
    returns=Listing[MemberContentPermission],
)
def list_member_spaces(
    call: Call, org: OrgAccess, user_id: str, query: MemberSpacesQuery
) -> Listing[MemberContentPermission]:
    """The spaces a member can see, each with their role there. One's own, or of anybody for administrators."""
    if org.role != "admin" and user_id != org.user_id:
        raise Forbidden("What somebody else can see is for administrators to know.")
    with call.db.read() as tx:
        member = find_member(tx, org, user_id)
        if member is None:
            raise NotFound(f"There is no member {user_id!r} in this organization.")
        found = store.list_spaces(tx, member, query.limit, query.page, ascending=query.order == "asc")
    return present_slice(
        found, lambda item: MemberContentPermission(permission=item[1], space=present_space(call, *item))
    )


@operation(
    "createSpace",
    "POST",
    "/orgs/{organizationId}/spaces",
    needs=Can.CREATE_CONTENT,
    returns=Space,
    status=201,
)
def create_space(call: Call, org: OrgAccess, body: CreateSpace | None) -> Space:
    """A new, empty space, in a collection when ``parent`` names one."""
    given = body or CreateSpace()
    with call.db.write() as tx:
        placing.require_parent(tx, org, given.parent)
        space = store.insert_space(
            tx,
            organization_id=org.organization_id,
            collection_id=given.parent,
            title=given.title,
            created_by=org.user_id,
            emoji=given.emoji,
            language=given.language,
            edit_mode=given.edit_mode,
        )
        role = space_access(tx, org.actor, Can.VIEW, space.id).role
        audit(
            tx, call, "space.created", org.organization_id, ("space", space.id), after={"title": space.title}
        )
    return present_space(call, space, role)


@operation("updateSpaceById", "PATCH", "/spaces/{spaceId}", needs=Can.ADMIN, returns=Space)
def update_space(call: Call, space: SpaceAccess, body: UpdateSpace) -> Space:
    """Changes the settings of a space: what is left out stays."""
    values: dict[str, Any] = {
        name: value
        for name, value in msgspec.structs.asdict(body).items()
        if value is not UNSET and name != "merge_rules"
    }
    # The one that is given takes the place of the other.
    if isinstance(body.emoji, str):
        values["icon"] = None
    elif isinstance(body.icon, str):
        values["emoji"] = None
    with call.db.write() as tx:
        if body.merge_rules is not UNSET:
            if body.merge_rules.rules is not UNSET:
                require_merge_rules(tx, space.organization_id, body.merge_rules.rules)
            values["merge_rules"] = msgspec.json.encode(body.merge_rules).decode()
        before = store.get_space(tx, space.space_id)
        if values:
            with _levelling(tx, call, space, body.default_level):
                store.update_space(tx, space.space_id, **values)
            audit(
                tx,
                call,
                "space.updated",
                space.organization_id,
                ("space", space.space_id),
                before={name: getattr(before, name) for name in values},
                after=values,
            )
        found = store.get_space(tx, space.space_id)
        role = space_access(tx, space.actor, Can.VIEW, space.space_id).role
    return present_space(call, found, role)


@operation(
    "duplicateSpace",
    "POST",
    "/spaces/{spaceId}/duplicate",
    needs=Can.ADMIN,
    returns=Space,
    status=201,
    heavy=True,
)
def duplicate_space(call: Call, space: SpaceAccess) -> Space:
    """A copy of what the space holds now, right behind it: pages, files, settings and permissions.

    Change requests, comments and the history stay with the original.
    """
    with call.db.write() as tx:
        placing.require_parent(tx, space.organization, store.get_space(tx, space.space_id).collection_id)
        made = duplicating.duplicate_space(tx, space.space_id, space.user_id)
        role = space_access(tx, space.actor, Can.VIEW, made.id).role
        audit(
            tx,
            call,
            "space.created",
            space.organization_id,
            ("space", made.id),
            after={"title": made.title, "duplicateOf": space.space_id},
        )
        return present_space(call, made, role)


@operation("deleteSpaceById", "DELETE", "/spaces/{spaceId}", needs=Can.ADMIN, returns=Deletion)
def delete_space(call: Call, space: KeptSpaceAccess) -> bool:
    """Puts a space in the trash, where it can be restored for 7 days; then it is removed for good."""
    with call.db.write() as tx:
        deleted = trashing.delete_space(tx, space.space_id)
        if deleted:
            audit(tx, call, "space.deleted", space.organization_id, ("space", space.space_id))
    return deleted


@operation(
    "restoreSpace", "POST", "/spaces/{spaceId}/restore", needs=Can.ADMIN, returns=Space, errors=(404, 409)
)
def restore_space(call: Call, space: KeptSpaceAccess) -> Space:
    """Takes a space out of the trash, with the collections it lay in. 409 when it is not in the trash."""
    with call.db.write() as tx:
        trashing.restore_space(tx, space.space_id)
        audit(tx, call, "space.restored", space.organization_id, ("space", space.space_id))
        return present_space(call, store.get_space(tx, space.space_id), space.role)


@operation(
    "moveSpace",
    "POST",
    "/spaces/{spaceId}/move",
    needs=Can.ADMIN,
    returns=Space,
    errors=(400, 404, 409),
)
def move_space(call: Call, space: SpaceAccess, body: Move) -> Space:
    """Moves a space into a collection or to another position. 409 when that would change nothing."""
    before, after = neighbours(body)
    with call.db.write() as tx:
        was = store.get_space(tx, space.space_id).collection_id
        parent = was if body.parent is UNSET else body.parent
        with guard_roles(tx, ObjectAccess.of(space)):
            placing.move(
                tx, space.organization, ("space", space.space_id), parent, before=before, after=after
            )
        if parent != was:
            audit(
                tx,
                call,
                "space.moved",
                space.organization_id,
                ("space", space.space_id),
                before={"parent": was},
                after={"parent": parent},
            )
        role = space_access(tx, space.actor, Can.VIEW, space.space_id).role
        return present_space(call, store.get_space(tx, space.space_id), role)


@operation(
    "transferSpace",
    "POST",
    "/spaces/{spaceId}/transfer",
    needs=Can.ADMIN,
    returns=Space,
    errors=(404, 409, 412),
)
def transfer_space(call: Call, space: SpaceAccess, body: Transfer) -> Space:
    """Gives a space to another organization, where it lies at the top.

    For administrators of the organization that gives it away who may create content in the other one. 412 as
    long as it is part of a site.
    """
    with call.db.write() as tx:
        target = _target(tx, space, body.organization)
        transferring.transfer_space(tx, call, space, target)
        _audit_transfer(tx, call, ("space", space.space_id), space.organization_id, target)
        role = space_access(tx, space.actor, Can.VIEW, space.space_id).role
        return present_space(call, store.get_space(tx, space.space_id), role)


def _target(tx: Transaction, given: SpaceAccess | CollectionAccess, organization_id: str) -> OrgAccess:
    if given.member_role != "admin":
        raise Forbidden("Content is given to another organization by administrators only.")
    try:
        return organization_access(tx, given.actor, Can.CREATE_CONTENT, organization_id)
    except NotFound as error:
        raise NotFound(f"organization: {error.message}") from None


def _audit_transfer(
    tx: Transaction, call: Call, target: tuple[str, str], source: str, organization: OrgAccess
) -> None:
    for organization_id in (source, organization.organization_id):
        audit(
            tx,
            call,
            f"{target[0]}.transferred",
            organization_id,
            target,
            before={"organization": source},
            after={"organization": organization.organization_id},
        )


# --- collections --------------------------------------------------------------------------------------


@operation("getCollectionById", "GET", "/collections/{collectionId}", needs=Can.VIEW, returns=Collection)
def get_collection(call: Call, collection: CollectionAccess) -> Collection:
    """One collection."""
    with call.db.read() as tx:
        return present_collection(call, store.get_collection(tx, collection.collection_id), collection.role)


@operation(
    "listSpacesInCollectionById",
    "GET",
    "/collections/{collectionId}/spaces",
    needs=Can.VIEW,
    returns=Listing[Space],
)
def list_collection_spaces(call: Call, collection: CollectionAccess, query: PageQuery) -> Listing[Space]:
    """The spaces that lie directly in a collection and that the caller can see."""
    with call.db.read() as tx:
        found = store.list_spaces(
            tx,
            collection.organization,
            query.limit,
            query.page,
            collection_id=collection.collection_id,
        )
    return present_slice(found, lambda item: present_space(call, *item))


@operation(
    "listCollectionsInOrganizationById",
    "GET",
    "/orgs/{organizationId}/collections",
    needs=Can.VIEW,
    returns=Listing[Collection],
)
def list_collections(call: Call, org: OrgAccess, query: CollectionsQuery) -> Listing[Collection]:
    """The collections of an organization that the caller can see; with ``nested=false`` those at the top."""
    with call.db.read() as tx:
        found = store.list_collections(tx, org, query.limit, query.page, nested=query.nested)
    return present_slice(found, lambda item: present_collection(call, *item))


@operation(
    "createCollection",
    "POST",
    "/orgs/{organizationId}/collections",
    needs=Can.CREATE_CONTENT,
    returns=Collection,
    status=201,
)
def create_collection(call: Call, org: OrgAccess, body: CreateCollection | None) -> Collection:
    """A new collection, inside another one when ``parent`` names it."""
    given = body or CreateCollection()
    with call.db.write() as tx:
        placing.require_parent(tx, org, given.parent)
        placing.require_depth(tx, given.parent, 1)
        collection = store.insert_collection(
            tx, organization_id=org.organization_id, parent_id=given.parent, title=given.title
        )
        role = collection_access(tx, org.actor, Can.VIEW, collection.id).role
        target = ("collection", collection.id)
        audit(tx, call, "collection.created", org.organization_id, target, after={"title": collection.title})
    return present_collection(call, collection, role)


@operation(
    "updateCollectionById", "PATCH", "/collections/{collectionId}", needs=Can.ADMIN, returns=Collection
)
def update_collection(call: Call, collection: CollectionAccess, body: UpdateCollection) -> Collection:
    """Changes title, description or what members may do by default: what is left out stays."""
    values = {name: v for name, v in msgspec.structs.asdict(body).items() if v is not UNSET}
    with call.db.write() as tx:
        before = store.get_collection(tx, collection.collection_id)
        if values:
            with _levelling(tx, call, collection, body.default_level):
                store.update_collection(tx, collection.collection_id, **values)
            audit(
                tx,
                call,
                "collection.updated",
                collection.organization_id,
                ("collection", collection.collection_id),
                before={name: getattr(before, name) for name in values},
                after=values,
            )
        found = store.get_collection(tx, collection.collection_id)
        role = collection_access(tx, collection.actor, Can.VIEW, collection.collection_id).role
    return present_collection(call, found, role)


@operation("deleteCollectionById", "DELETE", "/collections/{collectionId}", needs=Can.ADMIN, returns=Deletion)
def delete_collection(call: Call, collection: CollectionAccess) -> bool:
    """Deletes a collection and those in it; their spaces go to the trash.

    A space that is restored within 7 days brings the collections it lay in back with it. 403 when something in
    it is not the caller's to delete.
    """
    with call.db.write() as tx:
        spaces = trashing.delete_collection(tx, collection.organization, collection.collection_id)
        target = ("collection", collection.collection_id)
        audit(tx, call, "collection.deleted", collection.organization_id, target, before={"spaces": spaces})
    return True


@operation(
    "moveCollection",
    "POST",
    "/collections/{collectionId}/move",
    needs=Can.ADMIN,
    returns=Collection,
    errors=(400, 404, 409),
)
def move_collection(call: Call, collection: CollectionAccess, body: Move) -> Collection:
    """Moves a collection into another one or to another position. 409 when that would change nothing."""
    before, after = neighbours(body)
    with call.db.write() as tx:
        was = store.get_collection(tx, collection.collection_id).parent_id
        parent = was if body.parent is UNSET else body.parent
        with guard_roles(tx, ObjectAccess.of(collection)):
            placing.move(
                tx,
                collection.organization,
                ("collection", collection.collection_id),
                parent,
                before=before,
                after=after,
            )
        if parent != was:
            audit(
                tx,
                call,
                "collection.moved",
                collection.organization_id,
                ("collection", collection.collection_id),
                before={"parent": was},
                after={"parent": parent},
            )
        role = collection_access(tx, collection.actor, Can.VIEW, collection.collection_id).role
        return present_collection(call, store.get_collection(tx, collection.collection_id), role)


@operation(
    "transferCollection",
    "POST",
    "/collections/{collectionId}/transfer",
    needs=Can.ADMIN,
    returns=Collection,
    errors=(404, 409, 412),
)
def transfer_collection(call: Call, collection: CollectionAccess, body: Transfer) -> Collection:
    """Gives a collection with all that lies in it to another organization; see `transferSpace`."""
    with call.db.write() as tx:
        target = _target(tx, collection, body.organization)
        transferring.transfer_collection(tx, call, collection, target)
        _audit_transfer(
            tx, call, ("collection", collection.collection_id), collection.organization_id, target
        )
        role = collection_access(tx, collection.actor, Can.VIEW, collection.collection_id).role
        return present_collection(call, store.get_collection(tx, collection.collection_id), role)
