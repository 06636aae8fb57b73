"""Spaces and collections."""

from __future__ import annotations

from ..access import Can, CollectionAccess, OrgAccess, SpaceAccess, collection_access, space_access
from ..errors import NotFound
from ..kit.db import Transaction
from ..kit.operation import Call, operation
from ..kit.pagination import Listing, PageQuery, present_slice
from . import store
from .wire import (
    Collection,
    CollectionsQuery,
    CreateCollection,
    CreateSpace,
    Space,
    SpaceQuery,
    present_collection,
    present_space,
)


def _require_parent(tx: Transaction, org: OrgAccess, parent_id: str | None) -> None:
    """A parent named in a body must be a collection of the same organization that the caller may fill."""
    if parent_id is not None:
        parent = collection_access(tx, org.user_id, Can.CREATE, parent_id)
        if parent.organization_id != org.organization_id:
            raise NotFound(f"parent: there is no collection {parent_id!r} in this organization.")


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
        roles = {s.id: space_access(tx, org.user_id, Can.VIEW, s.id).role for s in found.rows}
    return present_slice(found, lambda space: present_space(call, space, roles[space.id]))


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
        _require_parent(tx, org, given.parent)
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
        role = space_access(tx, org.user_id, Can.VIEW, space.id).role
    return present_space(call, space, role)


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
    org = OrgAccess(collection.organization_id, collection.user_id, collection.member_role)
    with call.db.read() as tx:
        found = store.list_spaces(tx, org, query.limit, query.page, collection_id=collection.collection_id)
        roles = {s.id: space_access(tx, org.user_id, Can.VIEW, s.id).role for s in found.rows}
    return present_slice(found, lambda space: present_space(call, space, roles[space.id]))


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
        roles = {c.id: collection_access(tx, org.user_id, Can.VIEW, c.id).role for c in found.rows}
    return present_slice(found, lambda collection: present_collection(call, collection, roles[collection.id]))


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
        _require_parent(tx, org, given.parent)
        collection = store.insert_collection(
            tx, organization_id=org.organization_id, parent_id=given.parent, title=given.title
        )
        role = collection_access(tx, org.user_id, Can.VIEW, collection.id).role
    return present_collection(call, collection, role)
