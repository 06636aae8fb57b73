"""Spaces and collections."""

from __future__ import annotations

from ..access import (
    RESTORE_DAYS,
    Actor,
    Can,
    CollectionAccess,
    KeptSpaceAccess,
    OrgAccess,
    OtherMember,
    SpaceAccess,
    VisitedSpace,
    collection_access,
    evaluate_steps,
    find_member,
    list_step_grants,
    list_steps_of_spaces,
    present_source,
    space_access,
)
from ..errors import Forbidden, NotFound
from ..kit.bodies import given
from ..kit.clock import now
from ..kit.db import Transaction
from ..kit.operation import Area, Call, Deletion
from ..kit.pagination import Listing, PageQuery, present_slice
from . import creating, duplicating, placing, store, transferring, trashing, updating
from .hooks import find_shared
from .wire import (
    Collection,
    CollectionsQuery,
    CreateCollection,
    MemberCollectionPermission,
    MemberContentPermission,
    MemberSpacesQuery,
    Move,
    RankedQuery,
    Space,
    SpaceQuery,
    Transfer,
    UpdateCollection,
    UpdateSpace,
    neighbours,
    present_collection,
    present_space,
    present_space_to_visitor,
)

operation = Area("spaces").operation
# What only administrators of an organization do: a token for spaces does not reach it.
org_operation = Area("orgs").operation


def _show_space(call: Call, tx: Transaction, space_id: str, actor: Actor) -> Space:
    """A space as it is now, with the role that the caller has there now."""
    role = space_access(tx, actor, Can.VIEW, space_id).role
    return present_space(call, store.get_space(tx, space_id), role)


def _show_collection(call: Call, tx: Transaction, collection_id: str, actor: Actor) -> Collection:
    role = collection_access(tx, actor, Can.VIEW, collection_id).role
    return present_collection(call, store.get_collection(tx, collection_id), role)


# --- spaces -------------------------------------------------------------------------------------------


@operation(
    "getSpaceById",
    "GET",
    "/spaces/{spaceId}",
    needs=Can.VIEW,
    returns=Space,
    quick=True,
    visitors=True,
    agents="docs:read",
)
def get_space(call: Call, space: SpaceAccess | VisitedSpace, query: SpaceQuery) -> Space:
    """One space."""
    with call.db.read() as tx:
        row = store.get_space(tx, space.space_id)
        if isinstance(space, VisitedSpace):
            place = store.find_place(tx, space.space_id, space.visitor.site_id)
            return present_space_to_visitor(call, row, space.visitor, place)
        presented = present_space(call, row, space.role)
        if query.share_key is not None:
            shared = find_shared(tx, call.context, space.space_id, query.share_key)
            if shared is None:
                raise NotFound("shareKey: there is no share link with this key.")
            presented.urls.published = shared
    return presented


@operation(
    "listSpacesInOrganizationById",
    "GET",
    "/orgs/{organizationId}/spaces",
    needs=Can.VIEW,
    returns=Listing[Space],
    agents="docs:read",
)
def list_spaces(call: Call, org: OrgAccess, query: RankedQuery) -> Listing[Space]:
    """The spaces of an organization that the caller can see, newest first, or in the order that people gave them."""
    with call.db.read() as tx:
        found = store.list_spaces(tx, org, query.limit, query.page, by_rank=query.order_by == "rank")
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


@org_operation(
    "purgeSpace",
    "DELETE",
    "/orgs/{organizationId}/trash/spaces/{spaceId}",
    needs=Can.ADMIN,
    returns=Deletion,
    extension=True,
)
def purge_space(call: Call, org: OrgAccess, space_id: str) -> bool:
    """Has a space in the trash removed for good now, with its history: from here on nobody can restore it.

    For administrators of the organization, who need not be able to see it.
    """
    with call.db.write() as tx:
        return trashing.give_up_space(tx, org, space_id)


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
    """The spaces a member can see, each with their role there. One's own, or of anybody for administrators, who are
    told why."""
    if org.role != "admin" and (user_id != org.user_id or query.closed):
        raise Forbidden("What somebody else can see, and what is closed, is for administrators to know.")
    with call.db.read() as tx:
        member = _member(tx, org, user_id)
        viewer = org if query.closed else member
        found = store.list_spaces(tx, viewer, query.limit, query.page, ascending=query.order == "asc")
        if org.role != "admin":
            return present_slice(
                found, lambda item: MemberContentPermission(item[1], present_space(call, *item))
            )
        steps = list_steps_of_spaces(tx, [space.id for space, _ in found.rows])
        said = list_step_grants(tx, user_id, [step for way in steps.values() for step in way])

    def present(item: tuple[store.SpaceRow, str | None]) -> MemberContentPermission:
        space, _ = item
        found = evaluate_steps(member.role, [said[step.id] for step in steps[space.id]])
        return MemberContentPermission(
            found.decision.role,
            present_space(call, space, found.decision.role),
            present_source(found, steps[space.id], org.organization_id),
        )

    return present_slice(found, present)


@operation(
    "listCollectionsForOrganizationMember",
    "GET",
    "/orgs/{organizationId}/members/{userId}/collections",
    needs=Can.VIEW,
    returns=Listing[MemberCollectionPermission],
    extension=True,
)
def list_member_collections(
    call: Call, org: OrgAccess, user_id: str, query: PageQuery
) -> Listing[MemberCollectionPermission]:
    """The collections a member can see, nested ones too, each with their role there. One's own, or of anybody for
    administrators."""
    if org.role != "admin" and user_id != org.user_id:
        raise Forbidden("What somebody else can see is for administrators to know.")
    with call.db.read() as tx:
        member = _member(tx, org, user_id)
        found = store.list_collections(tx, member, query.limit, query.page, nested=True)
    return present_slice(
        found, lambda item: MemberCollectionPermission(item[1], present_collection(call, *item))
    )


def _member(tx: Transaction, org: OrgAccess, user_id: str) -> OtherMember:
    member = find_member(tx, org, user_id)
    if member is None:
        raise NotFound(f"There is no member {user_id!r} in this organization.")
    return member


@operation("updateSpaceById", "PATCH", "/spaces/{spaceId}", needs=Can.ADMIN, returns=Space)
def update_space(call: Call, space: SpaceAccess, body: UpdateSpace) -> Space:
    """Changes the settings of a space: what is left out stays."""
    with call.db.write() as tx:
        updating.update_space(tx, space, given(body))
        return _show_space(call, tx, space.space_id, space.actor)


@operation(
    "duplicateSpace",
    "POST",
    "/spaces/{spaceId}/duplicate",
    needs=Can.ADMIN,
    returns=Space,
    status=201,
    yields=("content:write",),
)
def duplicate_space(call: Call, space: SpaceAccess) -> Space:
    """A copy of what the space holds now, right behind it: pages, files, settings and permissions.

    Change requests, comments and the history stay with the original.
    """
    with duplicating.prepare_copy(call.db, space) as prepared, call.db.write() as tx:
        made = duplicating.duplicate_space(tx, space, prepared)
        return _show_space(call, tx, made.id, space.actor)


@operation("deleteSpaceById", "DELETE", "/spaces/{spaceId}", needs=Can.ADMIN, returns=Deletion)
def delete_space(call: Call, space: KeptSpaceAccess) -> bool:
    """Puts a space in the trash, where it can be restored for 7 days; then it is removed for good."""
    with call.db.write() as tx:
        return trashing.delete_space(tx, space)


@operation(
    "restoreSpace", "POST", "/spaces/{spaceId}/restore", needs=Can.ADMIN, returns=Space, errors=(404, 409)
)
def restore_space(call: Call, space: KeptSpaceAccess) -> Space:
    """Takes a space out of the trash, with the collections it lay in. 409 when it is not in the trash."""
    with call.db.write() as tx:
        trashing.restore_space(tx, space)
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
        placing.move(tx, space, body.parent, before=before, after=after)
        return _show_space(call, tx, space.space_id, space.actor)


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
        transferring.transfer_space(tx, space, body.organization)
        return _show_space(call, tx, space.space_id, space.actor)


# --- collections --------------------------------------------------------------------------------------


@operation(
    "getCollectionById",
    "GET",
    "/collections/{collectionId}",
    needs=Can.VIEW,
    returns=Collection,
    quick=True,
)
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
def list_collection_spaces(call: Call, collection: CollectionAccess, query: RankedQuery) -> Listing[Space]:
    """The spaces that lie directly in a collection and that the caller can see, newest first, or in the order that
    people gave them."""
    org, by_rank = collection.organization, query.order_by == "rank"
    with call.db.read() as tx:
        found = store.list_spaces(
            tx, org, query.limit, query.page, collection_id=collection.collection_id, by_rank=by_rank
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
    """The collections of an organization that the caller can see, newest first, or in the order that people gave them;
    with ``nested=false`` those at the top."""
    with call.db.read() as tx:
        found = store.list_collections(
            tx, org, query.limit, query.page, nested=query.nested, by_rank=query.order_by == "rank"
        )
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
    wanted = body or CreateCollection()
    with call.db.write() as tx:
        made = creating.create_collection(tx, org, wanted.title, parent=wanted.parent)
        return _show_collection(call, tx, made.id, org.actor)


@operation(
    "updateCollectionById", "PATCH", "/collections/{collectionId}", needs=Can.ADMIN, returns=Collection
)
def update_collection(call: Call, collection: CollectionAccess, body: UpdateCollection) -> Collection:
    """Changes title, description or what members may do by default: what is left out stays."""
    with call.db.write() as tx:
        updating.update_collection(tx, collection, given(body))
        return _show_collection(call, tx, collection.collection_id, collection.actor)


@operation("deleteCollectionById", "DELETE", "/collections/{collectionId}", needs=Can.ADMIN, returns=Deletion)
def delete_collection(call: Call, collection: CollectionAccess) -> bool:
    """Deletes a collection and those in it; their spaces go to the trash.

    A space that is restored within 7 days brings the collections it lay in back with it. 403 when something in
    it is not the caller's to delete.
    """
    with call.db.write() as tx:
        trashing.delete_collection(tx, collection)
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
        placing.move(tx, collection, body.parent, before=before, after=after)
        return _show_collection(call, tx, collection.collection_id, collection.actor)


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
        transferring.transfer_collection(tx, collection, body.organization)
        return _show_collection(call, tx, collection.collection_id, collection.actor)
