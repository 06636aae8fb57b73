"""Sync authorization, which works the same way for spaces, collections, and sites."""

from __future__ import annotations

from msgspec import Struct

from octavo.errors import NotFound
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor, Call, enters
from octavo.organization.access.authorization import (
    CollectionAccess,
    SiteAccess,
    SpaceAccess,
    collection_access,
    enter_collection,
    enter_site,
    enter_space,
    named_site_access,
    require_actor,
    space_access,
)
from octavo.organization.access.roles import Can

from .store import Connected, OwnerKind, ProjectRow, SyncRow, find_kind


class SyncAccess(Struct, frozen=True):
    """The caller's access to the object that is synced or about to be synced."""

    kind: OwnerKind
    id: str
    organization_id: str
    actor: Actor

    @property
    def user_id(self) -> str:
        return self.actor.user_id

    @property
    def target(self) -> tuple[str, str]:
        """Return the object's kind and ID for audit records."""
        return self.kind, self.id

    @property
    def rows(self) -> type[Connected]:
        """Return the type of row that stores the sync."""
        return SyncRow if self.kind == "space" else ProjectRow

    @classmethod
    def of(cls, access: SpaceAccess | CollectionAccess | SiteAccess) -> SyncAccess:
        kind: OwnerKind
        if isinstance(access, SpaceAccess):
            kind, id = "space", access.space_id
        elif isinstance(access, CollectionAccess):
            kind, id = "collection", access.collection_id
        else:
            kind, id = "site", access.site_id
        return cls(kind, id, access.organization_id, access.actor)


def sync_access(tx: Transaction, actor: Actor, needs: Can, kind: OwnerKind, object_id: str) -> SyncAccess:
    """Return the caller's access to the object to sync. Raises NotFound if the caller can't see it, and
    Forbidden if the caller doesn't have permission."""
    if kind == "space":
        return SyncAccess.of(space_access(tx, actor, needs, object_id))
    if kind == "collection":
        return SyncAccess.of(collection_access(tx, actor, needs, object_id))
    return SyncAccess.of(named_site_access(tx, actor, needs, object_id))


@enters(SyncAccess, "installationId")
def enter_git_installation(call: Call, needs: Can, installation_id: str) -> SyncAccess:
    """Authorize the caller for the space, site, or collection that an installation syncs. The installation has the
    same ID as this object."""
    missing = NotFound(f"There is no installation with the ID {installation_id!r}.")
    actor = require_actor(call)
    with call.db.read() as tx:
        kind = find_kind(tx, installation_id)
        if kind is None:
            raise missing
        try:
            return sync_access(tx, actor, needs, kind, installation_id)
        except NotFound:
            raise missing from None


@enters(SyncAccess, "spaceId")
def enter_synced_space(call: Call, needs: Can, space_id: str) -> SyncAccess:
    return SyncAccess.of(enter_space(call, needs, space_id))


@enters(SyncAccess, "collectionId")
def enter_synced_collection(call: Call, needs: Can, collection_id: str) -> SyncAccess:
    return SyncAccess.of(enter_collection(call, needs, collection_id))


@enters(SyncAccess, "organizationId", "siteId")
def enter_synced_site(call: Call, needs: Can, organization_id: str, site_id: str) -> SyncAccess:
    return SyncAccess.of(enter_site(call, needs, organization_id, site_id))
