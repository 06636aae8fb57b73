"""SCIM resources and messages (RFC 7643, RFC 7644)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from ..kit.clock import iso
from ..kit.operation import Recipient
from .store import GroupRow, UserRow

USER = "urn:ietf:params:scim:schemas:core:2.0:User"
GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group"
LIST = "urn:ietf:params:scim:api:messages:2.0:ListResponse"
CONFIG = "urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"

Text = Annotated[str, Meta(max_length=512)]


class ListQuery(Struct, rename="camel"):
    filter: Annotated[str, Meta(max_length=1000)] | None = None
    start_index: int = 1
    count: Annotated[int, Meta(le=1000)] = 100


class Name(Struct, rename="camel"):
    formatted: Text | None = None
    given_name: Text | None = None
    family_name: Text | None = None


class Email(Struct):
    value: Text
    primary: bool = False
    type: Text | None = None


class UserBody(Struct, rename="camel"):
    """A user as directories send it; what Octavo has no place for is ignored."""

    user_name: Annotated[str, Meta(min_length=1, max_length=320)]
    external_id: Text | None = None
    name: Name | None = None
    display_name: Text | None = None
    emails: Annotated[list[Email], Meta(max_length=50)] = []
    active: bool = True


class ScimMember(Struct):
    value: Annotated[str, Meta(max_length=64)]
    display: str | UnsetType = UNSET


class GroupBody(Struct, rename="camel"):
    display_name: Annotated[str, Meta(min_length=1, max_length=64, pattern=r"\S")]
    external_id: Text | None = None
    members: Annotated[list[ScimMember], Meta(max_length=10_000)] = []


class PatchOperation(Struct):
    op: Annotated[str, Meta(max_length=16)]
    path: Annotated[str, Meta(max_length=500)] | None = None
    value: Any = None


class PatchBody(Struct):
    operations: Annotated[list[PatchOperation], Meta(min_length=1, max_length=1000)] = field(
        name="Operations"
    )


class ResourceMeta(Struct, rename="camel"):
    resource_type: Literal["User", "Group"]
    created: str
    last_modified: str
    location: str


class ShownName(Struct):
    formatted: str


class ScimUser(Struct, rename="camel"):
    id: str
    user_name: str
    display_name: str
    name: ShownName
    emails: list[Email]
    active: bool
    meta: ResourceMeta
    schemas: list[str] = field(default_factory=lambda: [USER])
    external_id: str | UnsetType = UNSET


class Group(Struct, rename="camel"):
    id: str
    display_name: str
    members: list[ScimMember]
    meta: ResourceMeta
    schemas: list[str] = field(default_factory=lambda: [GROUP])
    external_id: str | UnsetType = UNSET


class UserList(Struct):
    total_results: int = field(name="totalResults")
    start_index: int = field(name="startIndex")
    items_per_page: int = field(name="itemsPerPage")
    resources: list[ScimUser] = field(name="Resources")
    schemas: list[str] = field(default_factory=lambda: [LIST])


class GroupList(Struct):
    total_results: int = field(name="totalResults")
    start_index: int = field(name="startIndex")
    items_per_page: int = field(name="itemsPerPage")
    resources: list[Group] = field(name="Resources")
    schemas: list[str] = field(default_factory=lambda: [LIST])


def location(to: Recipient, organization_id: str, rest: str) -> str:
    return to.url(f"/orgs/{organization_id}/scim/v2/{rest}")


def present_user(to: Recipient, organization_id: str, row: UserRow) -> ScimUser:
    return ScimUser(
        id=row.id,
        user_name=row.email,
        display_name=row.display_name,
        name=ShownName(row.display_name),
        emails=[Email(row.email, primary=True, type="work")],
        active=row.active,
        meta=ResourceMeta(
            "User",
            iso(row.created_at),
            iso(row.updated_at),
            location(to, organization_id, f"Users/{row.id}"),
        ),
        external_id=row.external_id or UNSET,
    )


def present_group(
    to: Recipient, organization_id: str, row: GroupRow, members: list[tuple[str, str]]
) -> Group:
    return Group(
        id=row.id,
        display_name=row.title,
        members=[ScimMember(id, name) for id, name in members],
        meta=ResourceMeta(
            "Group",
            iso(row.created_at),
            iso(row.updated_at),
            location(to, organization_id, f"Groups/{row.id}"),
        ),
        external_id=row.external_id or UNSET,
    )


def encode(value: Any) -> bytes:
    return msgspec.json.encode(value)
