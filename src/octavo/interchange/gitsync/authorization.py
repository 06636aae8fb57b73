"""Authorization for syncing a space, a collection, or a site: the same for each."""

from __future__ import annotations

from msgspec import Struct

from octavo.kit.http.operation import Actor, Call, enters
from octavo.organization.access.authorization import (
    CollectionAccess,
    SiteAccess,
    SpaceAccess,
    enter_collection,
    enter_site,
    enter_space,
)
from octavo.organization.access.roles import Can

from .store import Connected, OwnerKind, ProjectRow, SyncRow


class SyncAccess(Struct, frozen=True):
    """Access of the caller to what is synced, or is about to be."""

    kind: OwnerKind
    id: str
    organization_id: str
    actor: Actor

    @property
    def user_id(self) -> str:
        return self.actor.user_id

    @property
    def target(self) -> tuple[str, str]:
        """Return the kind and id that audit records use."""
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


@enters(SyncAccess, "spaceId")
def enter_synced_space(call: Call, needs: Can, space_id: str) -> SyncAccess:
    return SyncAccess.of(enter_space(call, needs, space_id))


@enters(SyncAccess, "collectionId")
def enter_synced_collection(call: Call, needs: Can, collection_id: str) -> SyncAccess:
    return SyncAccess.of(enter_collection(call, needs, collection_id))


@enters(SyncAccess, "organizationId", "siteId")
def enter_synced_site(call: Call, needs: Can, organization_id: str, site_id: str) -> SyncAccess:
    return SyncAccess.of(enter_site(call, needs, organization_id, site_id))
