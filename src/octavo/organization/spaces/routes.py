"""Operations on spaces and collections."""

from __future__ import annotations

from octavo.errors import Forbidden, NotFound, require_found
from octavo.kit.clock import DAY, now
from octavo.kit.db.database import Transaction
from octavo.kit.db.pagination import Listing, PageQuery, Slice, present_slice
from octavo.kit.http.bodies import given
from octavo.kit.http.operation import Actor, Area, Call
from octavo.organization.access.authorization import (
    RESTORE_DAYS,
    CollectionAccess,
    KeptSpaceAccess,
    OrgAccess,
    OtherMember,
    SpaceAccess,
    VisitedSpace,
    collection_access,
    find_member,
    space_access,
)
from octavo.organization.access.evaluation import evaluate_steps, list_step_grants, list_steps_of_spaces
from octavo.organization.access.rights.wire import present_source
from octavo.organization.access.roles import Can

from . import creating, duplicating, placing, store, transferring, updating
from . import trash as trashing
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
    get_neighbors,
    present_collection,
    present_space,
    present_space_to_visitor,
    present_spaces,
)

operation = Area("spaces").operation
# Operations for administrators of an organization, which the scopes for spaces don't include.
org_operation = Area("orgs").operation


def _show_space(call: Call, tx: Transaction, space_id: str, actor: Actor) -> Space:
    """Return a space with the caller's current role in it."""
    role = space_access(tx, actor, Can.VIEW, space_id).role
    return present_space(call, tx, store.get_space(tx, space_id), role)


def _present_spaces(
    call: Call, tx: Transaction, found: Slice[tuple[store.SpaceRow, str | None]]
) -> Listing[Space]:
    shown = present_spaces(call, tx, found.rows)
    return present_slice(Slice(shown, found.count, found.next_token), lambda space: space)


def _show_collection(call: Call, tx: Transaction, collection_id: str, actor: Actor) -> Collection:
    role = collection_access(tx, actor, Can.VIEW, collection_id).role
    return present_collection(call, store.get_collection(tx, collection_id), role)


# --- spaces -------------------------------------------------------------------------------------------


@operation(
    "getSpaceById",
    "GET",
    "/spaces/{spaceId}",
    needs=Can.VIEW,
    quick=True,
    cached=True,
    visitors=True,
    agents="docs:read",
)
def get_space(call: Call, space: SpaceAccess | VisitedSpace, query: SpaceQuery) -> Space:
    """Get a space."""
    with call.db.read() as tx:
        row = store.get_space(tx, space.space_id)
        if isinstance(space, VisitedSpace):
            place = store.find_place(tx, space.space_id, space.visitor.site_id)
            return present_space_to_visitor(call, row, space.visitor, place)
        presented = present_space(call, tx, row, space.role)
        if query.share_key is not None:
            shared = find_shared(tx, call.context, space.space_id, query.share_key)
            if shared is None:
                raise NotFound("shareKey: there is no share link with this key")
            presented.urls.published = shared
    return presented


@operation(
    "listSpacesInOrganizationById",
    "GET",
    "/orgs/{organizationId}/spaces",
    needs=Can.VIEW,
    cached=True,
    agents="docs:read",
)
def list_spaces(call: Call, org: OrgAccess, query: RankedQuery) -> Listing[Space]:
    """List an organization's spaces that the caller can see, newest first or in their custom order."""
    with call.db.read() as tx:
        found = store.list_spaces(tx, org, query.limit, query.page, by_rank=query.order_by == "rank")
        return _present_spaces(call, tx, found)


@operation("listDeletedSpaces", "GET", "/orgs/{organizationId}/trash/spaces", needs=Can.VIEW)
def list_deleted_spaces(call: Call, org: OrgAccess, query: PageQuery) -> Listing[Space]:
    """List the spaces that are in the trash and that the caller can see. Each of them can be restored within 7
    days of its deletion."""
    since = now() - RESTORE_DAYS * DAY
    with call.db.read() as tx:
        found = store.list_spaces(tx, org, query.limit, query.page, deleted_since=since)
        return _present_spaces(call, tx, found)


@org_operation("purgeSpace", "DELETE", "/orgs/{organizationId}/trash/spaces/{spaceId}", needs=Can.ADMIN)
def purge_space(call: Call, org: OrgAccess, space_id: str) -> bool:
    """Permanently delete a space in the trash, including its history. It can't be restored afterward.

    Requires an administrator of the organization, who doesn't need access to the space.
    """
    with call.db.write() as tx:
        return trashing.purge_space_now(tx, org, space_id)


@operation(
    "listSpacesForOrganizationMember", "GET", "/orgs/{organizationId}/members/{userId}/spaces", needs=Can.VIEW
)
def list_member_spaces(
    call: Call, org: OrgAccess, user_id: str, query: MemberSpacesQuery
) -> Listing[MemberContentPermission]:
    """List the spaces that a member can see, with the member's role in each. Members can list their own
    spaces; administrators can list anyone's, and also get the reasons for the roles."""
    if org.role != "admin" and (user_id != org.user_id or query.closed):
        raise Forbidden("Only administrators can list other members' spaces or use the `closed` parameter.")
    with call.db.read() as tx:
        member = _get_member(tx, org, user_id)
        viewer = org if query.closed else member
        found = store.list_spaces(tx, viewer, query.limit, query.page, ascending=query.order == "asc")
        if org.role != "admin":
            shown = zip(found.rows, present_spaces(call, tx, found.rows), strict=True)
            rows = [MemberContentPermission(role, space) for (_, role), space in shown]
            return present_slice(Slice(rows, found.count, found.next_token), lambda row: row)
        steps = list_steps_of_spaces(tx, [space.id for space, _ in found.rows])
        said = list_step_grants(tx, user_id, [step for way in steps.values() for step in way])
        reasons = {
            id: evaluate_steps(member.role, [said[step.id] for step in way]) for id, way in steps.items()
        }
        roles = [(space, reasons[space.id].decision.role) for space, _ in found.rows]
        permissions = [
            MemberContentPermission(
                role, shown, present_source(reasons[shown.id], steps[shown.id], org.organization_id)
            )
            for (_, role), shown in zip(roles, present_spaces(call, tx, roles), strict=True)
        ]
    return present_slice(Slice(permissions, found.count, found.next_token), lambda one: one)


@operation(
    "listCollectionsForOrganizationMember",
    "GET",
    "/orgs/{organizationId}/members/{userId}/collections",
    needs=Can.VIEW,
)
def list_member_collections(
    call: Call, org: OrgAccess, user_id: str, query: PageQuery
) -> Listing[MemberCollectionPermission]:
    """List the collections that a member can see, including nested collections, with the member's role in each. Members
    can list their own collections; administrators can list anyone's."""
    if org.role != "admin" and user_id != org.user_id:
        raise Forbidden("Only administrators can list other members' collections.")
    with call.db.read() as tx:
        member = _get_member(tx, org, user_id)
        found = store.list_collections(tx, member, query.limit, query.page, nested=True)
    return present_slice(
        found, lambda item: MemberCollectionPermission(item[1], present_collection(call, *item))
    )


def _get_member(tx: Transaction, org: OrgAccess, user_id: str) -> OtherMember:
    return require_found(
        find_member(tx, org, user_id), f"There is no member with the ID {user_id!r} in this organization."
    )


@operation("updateSpaceById", "PATCH", "/spaces/{spaceId}", needs=Can.ADMIN)
def update_space(call: Call, space: SpaceAccess, body: UpdateSpace) -> Space:
    """Update the settings of a space. Omitted fields stay unchanged."""
    with call.db.write() as tx:
        updating.update_space(tx, space, given(body))
        return _show_space(call, tx, space.space_id, space.actor)


@operation(
    "duplicateSpace",
    "POST",
    "/spaces/{spaceId}/duplicate",
    needs=Can.ADMIN,
    status=201,
    yields=("content:write",),
)
def duplicate_space(call: Call, space: SpaceAccess) -> Space:
    """Duplicate a space with its pages, files, settings, and permissions. The duplicate is placed right after
    the original.

    Change requests, comments, and history aren't duplicated."""
    with duplicating.prepare_copy(call.db, space) as prepared, call.db.write() as tx:
        made = duplicating.duplicate_space(tx, space, prepared)
        return _show_space(call, tx, made.id, space.actor)


@operation("deleteSpaceById", "DELETE", "/spaces/{spaceId}", needs=Can.ADMIN)
def delete_space(call: Call, space: KeptSpaceAccess) -> bool:
    """Move a space to the trash. It can be restored for 7 days, and is then permanently deleted."""
    with call.db.write() as tx:
        return trashing.delete_space(tx, space)


@operation("restoreSpace", "POST", "/spaces/{spaceId}/restore", needs=Can.ADMIN, errors=(404, 409))
def restore_space(call: Call, space: KeptSpaceAccess) -> Space:
    """Restore a space from the trash, along with the collections that it was in. Returns 409 if it isn't in
    the trash."""
    with call.db.write() as tx:
        trashing.restore_space(tx, space)
        return present_space(call, tx, store.get_space(tx, space.space_id), space.role)


@operation("moveSpace", "POST", "/spaces/{spaceId}/move", needs=Can.ADMIN, errors=(400, 404, 409))
def move_space(call: Call, space: SpaceAccess, body: Move) -> Space:
    """Move a space to a collection or to another position. Returns 409 if the move has no effect."""
    before, after = get_neighbors(body)
    with call.db.write() as tx:
        placing.move(tx, space, body.parent, before=before, after=after)
        return _show_space(call, tx, space.space_id, space.actor)


@operation("transferSpace", "POST", "/spaces/{spaceId}/transfer", needs=Can.ADMIN, errors=(404, 409, 412))
def transfer_space(call: Call, space: SpaceAccess, body: Transfer) -> Space:
    """Transfer a space to the top level of another organization.

    Requires an administrator of the current organization who can create content in the new organization. Returns 412 if
    the space is part of a site."""
    with call.db.write() as tx:
        transferring.transfer_space(tx, space, body.organization)
        return _show_space(call, tx, space.space_id, space.actor)


# --- collections --------------------------------------------------------------------------------------


@operation("getCollectionById", "GET", "/collections/{collectionId}", needs=Can.VIEW, quick=True)
def get_collection(call: Call, collection: CollectionAccess) -> Collection:
    """Get a collection."""
    with call.db.read() as tx:
        return present_collection(call, store.get_collection(tx, collection.collection_id), collection.role)


@operation("listSpacesInCollectionById", "GET", "/collections/{collectionId}/spaces", needs=Can.VIEW)
def list_collection_spaces(call: Call, collection: CollectionAccess, query: RankedQuery) -> Listing[Space]:
    """List the spaces that are directly in a collection and that the caller can see, newest first or in their
    custom order."""
    org, by_rank = collection.organization, query.order_by == "rank"
    with call.db.read() as tx:
        found = store.list_spaces(
            tx, org, query.limit, query.page, collection_id=collection.collection_id, by_rank=by_rank
        )
        return _present_spaces(call, tx, found)


@operation("listCollectionsInOrganizationById", "GET", "/orgs/{organizationId}/collections", needs=Can.VIEW)
def list_collections(call: Call, org: OrgAccess, query: CollectionsQuery) -> Listing[Collection]:
    """List an organization's collections that the caller can see, newest first or in their custom order. With
    ``nested=false``, lists only collections at the top level."""
    with call.db.read() as tx:
        found = store.list_collections(
            tx, org, query.limit, query.page, nested=query.nested, by_rank=query.order_by == "rank"
        )
    return present_slice(found, lambda item: present_collection(call, *item))


@operation(
    "createCollection", "POST", "/orgs/{organizationId}/collections", needs=Can.CREATE_CONTENT, status=201
)
def create_collection(call: Call, org: OrgAccess, body: CreateCollection | None) -> Collection:
    """Create a collection. If ``parent`` is set, the new collection is created in that collection."""
    wanted = body or CreateCollection()
    with call.db.write() as tx:
        made = creating.create_collection(tx, org, wanted.title, parent=wanted.parent)
        return _show_collection(call, tx, made.id, org.actor)


@operation("updateCollectionById", "PATCH", "/collections/{collectionId}", needs=Can.ADMIN)
def update_collection(call: Call, collection: CollectionAccess, body: UpdateCollection) -> Collection:
    """Update the title, description, or default level of a collection. Omitted fields stay unchanged."""
    with call.db.write() as tx:
        updating.update_collection(tx, collection, given(body))
        return _show_collection(call, tx, collection.collection_id, collection.actor)


@operation("deleteCollectionById", "DELETE", "/collections/{collectionId}", needs=Can.ADMIN)
def delete_collection(call: Call, collection: CollectionAccess) -> bool:
    """Delete a collection and the collections in it, and move their spaces to the trash.

    Restoring a space within 7 days also restores the collections that it was in. Returns 403 if the
    collection contains spaces or collections that the caller can't delete."""
    with call.db.write() as tx:
        trashing.delete_collection(tx, collection)
    return True


@operation(
    "moveCollection", "POST", "/collections/{collectionId}/move", needs=Can.ADMIN, errors=(400, 404, 409)
)
def move_collection(call: Call, collection: CollectionAccess, body: Move) -> Collection:
    """Move a collection into another collection or to another position. Returns 409 if the move has no effect."""
    before, after = get_neighbors(body)
    with call.db.write() as tx:
        placing.move(tx, collection, body.parent, before=before, after=after)
        return _show_collection(call, tx, collection.collection_id, collection.actor)


@operation(
    "transferCollection",
    "POST",
    "/collections/{collectionId}/transfer",
    needs=Can.ADMIN,
    errors=(404, 409, 412),
)
def transfer_collection(call: Call, collection: CollectionAccess, body: Transfer) -> Collection:
    """Transfer a collection and all of its content to another organization; see `transferSpace`."""
    with call.db.write() as tx:
        transferring.transfer_collection(tx, collection, body.organization)
        return _show_collection(call, tx, collection.collection_id, collection.actor)
