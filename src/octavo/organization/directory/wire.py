"""SCIM resources and messages (RFC 7643, RFC 7644)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from octavo.core.json_types import JsonObject
from octavo.kit.clock import iso
from octavo.kit.http.operation import Recipient
from octavo.kit.texts import NOT_BLANK

from .provisioning import (
    AddMembers,
    ExternalId,
    GroupChange,
    RemoveMembers,
    Rename,
    ReplaceMembers,
    SentGroup,
    SentUser,
)
from .scim_errors import ScimRefused
from .store import ScimGroupRow, ScimUserRow
from .types import GROUP, LIST, USER, location

_MEMBER_PATH = re.compile(r'members\[\s*value\s+eq\s+"([^"]*)"\s*\]', re.I)
_EMAIL_PATH = re.compile(r"emails(?:\[[^\]]*\])?(\.value)?")
_ADDRESS = re.compile(r"[^\s@]+@[^\s@]+")

Text = Annotated[str, Meta(max_length=512)]


class ShapeQuery(Struct, rename="camel"):
    """Query parameters that select attributes. Their values are comma-separated names. ``attributes``: the only
    attributes to return, in addition to the ID. ``excludedAttributes``: the attributes to omit."""

    attributes: Annotated[str, Meta(max_length=1000)] | None = None
    excluded_attributes: Annotated[str, Meta(max_length=1000)] | None = None


class ListQuery(ShapeQuery, rename="camel"):
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


class UserBody(Struct, rename="camel", kw_only=True):
    """User as sent by directories. Attributes that Octavo doesn't support are ignored."""

    user_name: Annotated[str, Meta(min_length=1, max_length=320)]
    external_id: Text | None = None
    name: Name | None = None
    display_name: Text | None = None
    emails: Annotated[list[Email], Meta(max_length=50)] = []
    active: bool = True


class ScimMember(Struct):
    value: Annotated[str, Meta(max_length=64)]


class GroupBody(Struct, rename="camel"):
    display_name: Annotated[str, Meta(min_length=1, max_length=64, pattern=NOT_BLANK)]
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


# --- requests -----------------------------------------------------------------------------------------


def _address(body: UserBody) -> str:
    """Return the email address of a user: the username if it is an email address, and otherwise the primary email
    address."""
    candidates = [body.user_name, *[e.value for e in sorted(body.emails, key=lambda e: not e.primary)]]
    for found in candidates:
        if _ADDRESS.fullmatch(found.strip()):
            return found.strip().lower()
    raise ScimRefused("invalidValue", "userName: must be an email address, unless `emails` contains one")


def _name(body: UserBody) -> str | None:
    name = body.name
    parts = " ".join(part for part in (name.given_name, name.family_name) if part) if name else ""
    found = body.display_name or (name.formatted if name else None) or parts
    return found.strip()[:100] or None if found else None


def read_user(body: UserBody) -> SentUser:
    """Return the user in a request body. Raises BadRequest if the user has no email address."""
    return SentUser(_address(body), body.external_id, _name(body), body.active)


def read_user_patch(before: ScimUserRow, body: PatchBody) -> SentUser:
    """Return the user after the patch. Attributes that Octavo doesn't store are ignored. Raises BadRequest if
    the patch is invalid."""
    patched = UserBody(
        user_name=before.email,
        external_id=before.external_id,
        name=None,
        display_name=None,
        emails=[],
        active=before.active,
    )
    given, _, family = before.display_name.rpartition(" ")
    parts = Name(given_name=given, family_name=family)
    for op, attribute, value in _attributes(body):
        name = attribute.rpartition(":")[2].lower()
        if name == "name" and isinstance(value, dict):
            values = {f"name.{key.lower()}": one for key, one in value.items()}
        elif match := _EMAIL_PATH.fullmatch(name):
            values = {"emails": [{"value": value}] if match[1] and op != "remove" else value}
        else:
            values = {name: value}
        for name, one in values.items():
            patched, parts = _with_attribute(patched, parts, name, one, removed=op == "remove")
    if (parts.given_name, parts.family_name) != (given, family):
        patched = msgspec.structs.replace(patched, name=parts)
    return read_user(patched)


def _attributes(body: PatchBody) -> Iterator[tuple[str, str, Any]]:
    """Yield each attribute of a patch with its operation: add, replace, or remove. Raises BadRequest if the
    patch is invalid."""
    for operation in body.operations:
        op = operation.op.lower()
        if op not in ("add", "replace", "remove"):
            raise ScimRefused("invalidValue", "Operations: `op` must be add, replace, or remove")
        values = operation.value if operation.path is None else {operation.path: operation.value}
        if not isinstance(values, dict):
            raise ScimRefused(
                "invalidPath", "Operations: provide `path`, or an object of attributes as `value`"
            )
        for attribute, value in values.items():
            yield op, attribute, value


_TEXTS = {"displayname": "display_name", "externalid": "external_id", "name.formatted": "display_name"}
_PARTS = {"name.givenname": "given_name", "name.familyname": "family_name"}


def _with_attribute(
    body: UserBody, parts: Name, name: str, value: object, *, removed: bool
) -> tuple[UserBody, Name]:
    """Return the user and the parts of the user's name with one attribute changed. ``name``: the name of the
    attribute in lowercase."""
    if name == "externalid" and removed:
        return msgspec.structs.replace(body, external_id=None), parts
    if removed and (name in _TEXTS or name in ("active", "name", "username", "emails")):
        raise ScimRefused("mutability", f"{name}: can't be removed")
    if name == "active":
        # Some directories send booleans as strings.
        known = {True: True, False: False, "true": True, "false": False}
        key = value.lower() if isinstance(value, str) else value
        if not isinstance(key, (bool, str)) or key not in known:
            raise ScimRefused("invalidValue", "active: must be true or false")
        return msgspec.structs.replace(body, active=known[key]), parts
    if name == "emails":
        return msgspec.structs.replace(body, user_name=_patched_email(body.user_name, value)), parts
    if name in _TEXTS or name in _PARTS or name == "username":
        text = "" if removed else value
        if not isinstance(text, str) or len(text) > 512:
            raise ScimRefused("invalidValue", f"{name}: must be a string of at most 512 characters")
        if name in _PARTS:
            return body, msgspec.structs.replace(parts, **{_PARTS[name]: text})
        return msgspec.structs.replace(body, **{_TEXTS.get(name, "user_name"): text}), parts
    return body, parts


def _patched_email(before: str, value: object) -> str:
    """Return the email address in a patch of ``emails``. Raises ScimRefused if it is invalid."""
    try:
        emails = msgspec.convert(value if isinstance(value, list) else [value], list[Email])
    except msgspec.ValidationError as error:
        raise ScimRefused("invalidValue", f"emails: {error}") from None
    primary = sorted(emails, key=lambda email: not email.primary)
    return primary[0].value if primary else before


def read_group(body: GroupBody) -> SentGroup:
    return SentGroup(
        body.display_name.strip(), body.external_id, tuple(member.value for member in body.members)
    )


def read_group_patch(body: PatchBody) -> Iterator[GroupChange]:
    """Yield the changes to a group in order. Raises BadRequest if a change is invalid."""
    for op, attribute, value in _attributes(body):
        name = attribute.rpartition(":")[2] if not attribute.lower().startswith("members[") else attribute
        if one := _MEMBER_PATH.fullmatch(name):
            if op != "remove":
                raise ScimRefused(
                    "invalidPath",
                    "members: only `remove` is supported for a single member. To add or replace members, use"
                    " the path `members`.",
                )
            yield RemoveMembers((one[1],))
        elif name.lower() == "members":
            yield _read_members(op, value)
        elif name.lower() == "displayname":
            try:
                title = msgspec.convert({"displayName": value}, GroupBody).display_name.strip()
            except msgspec.ValidationError:
                raise ScimRefused(
                    "invalidValue", "displayName: must be a string of 1 to 64 characters"
                ) from None
            yield Rename(title)
        elif name.lower() == "externalid":
            if op != "remove" and (not isinstance(value, str) or len(value) > 512):
                raise ScimRefused("invalidValue", "externalId: must be a string of at most 512 characters")
            yield ExternalId(None if op == "remove" else value)


def _read_members(op: str, value: object) -> GroupChange:
    if op == "remove" and value is None:
        return ReplaceMembers(())
    try:
        members = msgspec.convert(value if isinstance(value, list) else [value], list[ScimMember])
    except msgspec.ValidationError as error:
        raise ScimRefused("invalidValue", f"members: {error}") from None
    ids = tuple(member.value for member in members)
    if op == "remove":
        return RemoveMembers(ids)
    return ReplaceMembers(ids) if op == "replace" else AddMembers(ids)


# --- responses ----------------------------------------------------------------------------------------
# All attributes except ``id`` and ``schemas`` are optional, because a ``ShapeQuery`` can omit them.


class ResourceMeta(Struct, rename="camel"):
    resource_type: Literal["User", "Group"] | UnsetType = UNSET
    created: str | UnsetType = UNSET
    last_modified: str | UnsetType = UNSET
    location: str | UnsetType = UNSET


class ShownName(Struct):
    formatted: str | UnsetType = UNSET


class ShownEmail(Struct):
    value: str | UnsetType = UNSET
    primary: bool | UnsetType = UNSET
    type: str | UnsetType = UNSET


class ShownMember(Struct):
    value: str | UnsetType = UNSET
    display: str | UnsetType = UNSET


class ScimUser(Struct, rename="camel", kw_only=True):
    id: str
    user_name: str | UnsetType = UNSET
    display_name: str | UnsetType = UNSET
    name: ShownName | UnsetType = UNSET
    emails: list[ShownEmail] | UnsetType = UNSET
    active: bool | UnsetType = UNSET
    meta: ResourceMeta | UnsetType = UNSET
    schemas: list[str] = field(default_factory=lambda: [USER])
    external_id: str | UnsetType = UNSET


class Group(Struct, rename="camel", kw_only=True):
    id: str
    display_name: str | UnsetType = UNSET
    members: list[ShownMember] | UnsetType = UNSET
    meta: ResourceMeta | UnsetType = UNSET
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


def present_user(to: Recipient, organization_id: str, row: ScimUserRow) -> ScimUser:
    return ScimUser(
        id=row.id,
        user_name=row.email,
        display_name=row.display_name,
        name=ShownName(row.display_name),
        emails=[ShownEmail(row.email, primary=True, type="work")],
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
    to: Recipient, organization_id: str, row: ScimGroupRow, members: list[tuple[str, str]]
) -> Group:
    return Group(
        id=row.id,
        display_name=row.title,
        members=[ShownMember(id, name) for id, name in members],
        meta=ResourceMeta(
            "Group",
            iso(row.created_at),
            iso(row.updated_at),
            location(to, organization_id, f"Groups/{row.id}"),
        ),
        external_id=row.external_id or UNSET,
    )


def encode(value: object, shape: ShapeQuery | None) -> bytes:
    """Return a resource or a list of resources as JSON, with the selected attributes."""
    content = msgspec.to_builtins(value)
    if shape is not None and (shape.attributes or shape.excluded_attributes):
        if "Resources" in content:
            content["Resources"] = [_shaped(one, shape) for one in content["Resources"]]
        else:
            content = _shaped(content, shape)
    return msgspec.json.encode(content)


_ALWAYS = ("id", "schemas")


def _shaped(resource: Mapping[str, object], shape: ShapeQuery) -> JsonObject:
    wanted, excluded = _names(shape.attributes), _names(shape.excluded_attributes)
    found: JsonObject = {}
    for name, value in resource.items():
        low = name.lower()
        parts = {one.partition(".")[2] for one in wanted if one.partition(".")[0] == low}
        if name in _ALWAYS or (not wanted and low not in excluded):
            found[name] = _of_parts(value, lambda part: f"{low}.{part}" not in excluded)  # noqa: B023
        elif parts:
            found[name] = value if "" in parts else _of_parts(value, parts.__contains__)
    return found


def _names(text: str | None) -> set[str]:
    """Return attribute names in lowercase, without the URN of their schema."""
    return {one.strip().rpartition(":")[2].lower() for one in (text or "").split(",") if one.strip()}


def _of_parts(value: object, keeps: Callable[[str], bool]) -> object:
    if isinstance(value, list):
        return [_of_parts(one, keeps) for one in value]
    return {k: v for k, v in value.items() if keeps(k.lower())} if isinstance(value, dict) else value
