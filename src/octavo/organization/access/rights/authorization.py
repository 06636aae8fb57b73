"""Proof that a caller can share a space, a collection, or a site."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from octavo.kit.http.operation import Actor, Call, enters

from ..authorization import (
    CollectionAccess,
    OrgAccess,
    SiteAccess,
    SpaceAccess,
    enter_collection,
    enter_site,
    enter_space,
)
from ..evaluation import Kind
from ..roles import Can


class GrantObject(NamedTuple):
    """Space, collection, or site that roles are granted on."""

    kind: Kind
    id: str
    organization_id: str


class ObjectAccess(Struct, frozen=True):
    """Caller with access to an object that roles are granted on. ``role``: the caller's role on the object."""

    kind: Kind
    id: str
    organization_id: str
    actor: Actor
    role: str
    member_role: str | None

    @property
    def user_id(self) -> str:
        return self.actor.user_id

    @property
    def object(self) -> GrantObject:
        return GrantObject(self.kind, self.id, self.organization_id)

    @classmethod
    def handed_over(cls, org: OrgAccess, kind: Kind, id: str) -> ObjectAccess:
        """Return the caller's access to an object that was just transferred to their organization, with the
        caller's role on it."""
        assert org.role is not None, "guests can't create content"
        return cls(kind, id, org.organization_id, org.actor, org.role, org.role)

    @classmethod
    def of(cls, access: SpaceAccess | CollectionAccess | SiteAccess) -> ObjectAccess:
        kind: Kind
        if isinstance(access, SpaceAccess):
            kind, id = "space", access.space_id
        elif isinstance(access, CollectionAccess):
            kind, id = "collection", access.collection_id
        else:
            kind, id = "site", access.site_id
        return cls(kind, id, access.organization_id, access.actor, access.role, access.member_role)


@enters(ObjectAccess, "spaceId")
def enter_space_object(call: Call, needs: Can, space_id: str) -> ObjectAccess:
    return ObjectAccess.of(enter_space(call, needs, space_id))


@enters(ObjectAccess, "collectionId")
def enter_collection_object(call: Call, needs: Can, collection_id: str) -> ObjectAccess:
    return ObjectAccess.of(enter_collection(call, needs, collection_id))


@enters(ObjectAccess, "organizationId", "siteId")
def enter_site_object(call: Call, needs: Can, organization_id: str, site_id: str) -> ObjectAccess:
    return ObjectAccess.of(enter_site(call, needs, organization_id, site_id))
