"""The proof that somebody may share a space or a collection: the same for either."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from octavo.kit.http.operation import Actor, Call, enters

from ..authorization import CollectionAccess, OrgAccess, SpaceAccess, enter_collection, enter_space
from ..evaluation import Kind
from ..roles import Can


class GrantObject(NamedTuple):
    """A space or collection that roles are granted at."""

    kind: Kind
    id: str
    organization_id: str


class ObjectAccess(Struct, frozen=True):
    """The caller at an object that roles are granted at; ``role``: theirs there."""

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
        """The caller at something that was just given to their organization: with the role they have in it."""
        assert org.role is not None, "who may create content is no guest"
        return cls(kind, id, org.organization_id, org.actor, org.role, org.role)

    @classmethod
    def of(cls, access: SpaceAccess | CollectionAccess) -> ObjectAccess:
        kind: Kind
        if isinstance(access, SpaceAccess):
            kind, id = "space", access.space_id
        else:
            kind, id = "collection", access.collection_id
        return cls(kind, id, access.organization_id, access.actor, access.role, access.member_role)


@enters(ObjectAccess, "spaceId")
def enter_space_object(call: Call, needs: Can, space_id: str) -> ObjectAccess:
    return ObjectAccess.of(enter_space(call, needs, space_id))


@enters(ObjectAccess, "collectionId")
def enter_collection_object(call: Call, needs: Can, collection_id: str) -> ObjectAccess:
    return ObjectAccess.of(enter_collection(call, needs, collection_id))
