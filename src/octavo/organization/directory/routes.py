"""SCIM 2.0 for an organization. A directory calls these operations with the token of a service account with
the admin role."""

from __future__ import annotations

from typing import Any

from octavo.core.json_types import JsonObject
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Area, Call, Reply
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import OrgAccess
from octavo.organization.access.roles import Can

from . import discovery, provisioning, store, wire
from .scim_errors import ScimError, draw_error
from .types import CONFIG, MEDIA_TYPE, location

_LAST_INDEX = 2**31 - 1
operation = Area(
    "access", lenient=True, media_type=MEDIA_TYPE, error_type=ScimError, draw_error=draw_error
).operation
"""Decorator for SCIM operations. A directory sends its entire schema, and RFC 7644 requires servers to ignore
unknown attributes."""

_BASE = "/orgs/{organizationId}/scim/v2"
_USER = _BASE + "/Users/{scimUserId}"
_GROUP = _BASE + "/Groups/{groupId}"
_BODY_LIMIT = 1024 * 1024


def _reply(value: Any, status: int = 200, shape: wire.ShapeQuery | None = None) -> Reply:
    headers = {"content-type": MEDIA_TYPE, "cache-control": "no-store"}
    if status == 201:
        headers["location"] = value.meta.location
    return Reply(wire.encode(value, shape), status, headers)


def _user_state(row: store.ScimUserRow) -> JsonObject:
    return {"email": row.email, "name": row.display_name, "active": row.active, "externalId": row.external_id}


def _audit_user(
    tx: Transaction, call: Call, org: OrgAccess, action: str, row: store.ScimUserRow, **states: object
) -> None:
    # Changes to people who haven't accepted yet are recorded with their invitation.
    if row.user_id is not None:
        audit(tx, call.actor, action, org.organization_id, ("user", row.user_id), **states)


def _audit_change(
    tx: Transaction, call: Call, org: OrgAccess, before: store.ScimUserRow, after: store.ScimUserRow
) -> None:
    was, is_now = _user_state(before), _user_state(after)
    if was == is_now:
        return
    action = "member.updated"
    if before.active != after.active:
        action = "member.enabled" if after.active else "member.disabled"
    _audit_user(tx, call, org, action, after, before=was, after=is_now)


def _group_state(tx: Transaction, row: store.ScimGroupRow) -> JsonObject:
    members = store.group_members(tx, [row.id])[row.id]
    return {"title": row.title, "externalId": row.external_id, "members": [member[0] for member in members]}


def _audit_group(
    tx: Transaction, call: Call, org: OrgAccess, action: str, group_id: str, **states: object
) -> None:
    if states.get("before") != states.get("after"):
        audit(tx, call.actor, action, org.organization_id, ("team", group_id), **states)


def _config(call: Call, organization_id: str) -> JsonObject:
    unsupported = {"supported": False}
    return {
        "schemas": [CONFIG],
        "patch": {"supported": True},
        "bulk": {"supported": False, "maxOperations": 0, "maxPayloadSize": 0},
        "filter": {"supported": True, "maxResults": 1000},
        "changePassword": unsupported,
        "sort": unsupported,
        "etag": unsupported,
        "authenticationSchemes": [
            {"type": "oauthbearertoken", "name": "Bearer token", "description": "Token of a service account"}
        ],
        "meta": {
            "resourceType": "ServiceProviderConfig",
            "location": location(call, organization_id, "ServiceProviderConfig"),
        },
    }


@operation(
    "getScimConfiguration", "GET", _BASE + "/ServiceProviderConfig", needs=Can.ADMIN, returns=dict[str, Any]
)
def get_scim_configuration(call: Call, org: OrgAccess) -> Reply:
    """Get the supported SCIM features: users, groups, PATCH, and filters that consist of `attribute eq
    "value"` terms joined by `and`."""
    return _reply(_config(call, org.organization_id))


@operation("listScimResourceTypes", "GET", _BASE + "/ResourceTypes", needs=Can.ADMIN, returns=dict[str, Any])
def list_scim_resource_types(call: Call, org: OrgAccess) -> Reply:
    """List the resource types: users and groups."""
    return _reply(discovery.listing(discovery.resource_types(call, org.organization_id)))


@operation(
    "getScimResourceType",
    "GET",
    _BASE + "/ResourceTypes/{resourceType}",
    needs=Can.ADMIN,
    returns=dict[str, Any],
)
def get_scim_resource_type(call: Call, org: OrgAccess, resource_type: str) -> Reply:
    """Get a resource type: `User` or `Group`."""
    return _reply(discovery.get(discovery.resource_types(call, org.organization_id), resource_type))


@operation("listScimSchemas", "GET", _BASE + "/Schemas", needs=Can.ADMIN, returns=dict[str, Any])
def list_scim_schemas(call: Call, org: OrgAccess) -> Reply:
    """List the schemas of users and groups."""
    return _reply(discovery.listing(discovery.schemas(call, org.organization_id)))


@operation("getScimSchema", "GET", _BASE + "/Schemas/{schemaId}", needs=Can.ADMIN, returns=dict[str, Any])
def get_scim_schema(call: Call, org: OrgAccess, schema_id: str) -> Reply:
    """Get a schema by its URN."""
    return _reply(discovery.get(discovery.schemas(call, org.organization_id), schema_id))


@operation("listScimUsers", "GET", _BASE + "/Users", needs=Can.ADMIN, returns=wire.UserList)
def list_scim_users(call: Call, org: OrgAccess, query: wire.ListQuery) -> Reply:
    """List members and invited people as SCIM users, starting at `startIndex` (from 1)."""
    filters = provisioning.parse_filter(query.filter, store.USER_FILTERS)
    start, count = min(max(query.start_index, 1), _LAST_INDEX), max(query.count, 0)
    with call.db.read() as tx:
        rows, total = store.list_users(tx, org.organization_id, filters, start - 1, count)
    shown = [wire.present_user(call, org.organization_id, row) for row in rows]
    return _reply(wire.UserList(total, start, len(shown), shown), shape=query)


@operation(
    "createScimUser",
    "POST",
    _BASE + "/Users",
    needs=Can.ADMIN,
    returns=wire.ScimUser,
    status=201,
    errors=(409,),
    body_limit=_BODY_LIMIT,
)
def create_scim_user(call: Call, org: OrgAccess, body: wire.UserBody, query: wire.ShapeQuery) -> Reply:
    """Create a member with a new account and the organization's default role. If the person already has an
    account, they are invited instead. Until they accept, the SCIM user contains only the data that the
    directory sent."""
    with call.db.write() as tx:
        row = provisioning.create_user(tx, call.context, org, wire.read_user(body))
        _audit_user(tx, call, org, "member.added", row, after=_user_state(row))
    return _reply(wire.present_user(call, org.organization_id, row), 201, query)


@operation("getScimUser", "GET", _USER, needs=Can.ADMIN, returns=wire.ScimUser)
def get_scim_user(call: Call, org: OrgAccess, scim_user_id: str, query: wire.ShapeQuery) -> Reply:
    """Get a member or an invited person as a SCIM user."""
    with call.db.read() as tx:
        row = provisioning.get_user(tx, org.organization_id, scim_user_id)
    return _reply(wire.present_user(call, org.organization_id, row), shape=query)


@operation(
    "replaceScimUser",
    "PUT",
    _USER,
    needs=Can.ADMIN,
    returns=wire.ScimUser,
    errors=(409,),
    body_limit=_BODY_LIMIT,
)
def replace_scim_user(
    call: Call, org: OrgAccess, scim_user_id: str, body: wire.UserBody, query: wire.ShapeQuery
) -> Reply:
    """Replace a user. `active: false` disables the member and ends their sessions and tokens immediately, or
    revokes the invitation."""
    with call.db.write() as tx:
        before = provisioning.get_user(tx, org.organization_id, scim_user_id)
        row = provisioning.replace_user(tx, call.context, org, scim_user_id, wire.read_user(body))
        _audit_change(tx, call, org, before, row)
    return _reply(wire.present_user(call, org.organization_id, row), shape=query)


@operation(
    "patchScimUser",
    "PATCH",
    _USER,
    needs=Can.ADMIN,
    returns=wire.ScimUser,
    errors=(409,),
    body_limit=_BODY_LIMIT,
)
def patch_scim_user(
    call: Call, org: OrgAccess, scim_user_id: str, body: wire.PatchBody, query: wire.ShapeQuery
) -> Reply:
    """Update a user. `active: false` disables the member and ends their sessions and tokens immediately, or
    revokes the invitation."""
    with call.db.write() as tx:
        before = provisioning.get_user(tx, org.organization_id, scim_user_id)
        row = provisioning.replace_user(
            tx, call.context, org, scim_user_id, wire.read_user_patch(before, body)
        )
        _audit_change(tx, call, org, before, row)
    return _reply(wire.present_user(call, org.organization_id, row), shape=query)


@operation("deleteScimUser", "DELETE", _USER, needs=Can.ADMIN, errors=(409,))
def delete_scim_user(call: Call, org: OrgAccess, scim_user_id: str) -> None:
    """Immediately remove a member, including their sessions, tokens, team memberships, and grants. Returns
    404 if the member doesn't exist."""
    with call.db.write() as tx:
        before = provisioning.get_user(tx, org.organization_id, scim_user_id)
        provisioning.delete_user(tx, org, scim_user_id)
        _audit_user(tx, call, org, "member.removed", before, before=_user_state(before))


def _present_groups(call: Call, org: OrgAccess, rows: list[store.ScimGroupRow]) -> list[wire.Group]:
    with call.db.read() as tx:
        members = store.group_members(tx, [row.id for row in rows])
    return [wire.present_group(call, org.organization_id, row, members[row.id]) for row in rows]


@operation("listScimGroups", "GET", _BASE + "/Groups", needs=Can.ADMIN, returns=wire.GroupList)
def list_scim_groups(call: Call, org: OrgAccess, query: wire.ListQuery) -> Reply:
    """List teams as SCIM groups, starting at `startIndex` (from 1)."""
    filters = provisioning.parse_filter(query.filter, store.GROUP_FILTERS)
    start, count = min(max(query.start_index, 1), _LAST_INDEX), max(query.count, 0)
    with call.db.read() as tx:
        rows, total = store.list_groups(tx, org.organization_id, filters, start - 1, count)
    shown = _present_groups(call, org, rows)
    return _reply(wire.GroupList(total, start, len(shown), shown), shape=query)


@operation(
    "createScimGroup",
    "POST",
    _BASE + "/Groups",
    needs=Can.ADMIN,
    returns=wire.Group,
    status=201,
    errors=(409,),
    body_limit=_BODY_LIMIT,
)
def create_scim_group(call: Call, org: OrgAccess, body: wire.GroupBody, query: wire.ShapeQuery) -> Reply:
    """Create a team with the given members of the organization."""
    with call.db.write() as tx:
        row = provisioning.create_group(tx, org.organization_id, wire.read_group(body))
        _audit_group(tx, call, org, "team.created", row.id, after=_group_state(tx, row))
    return _reply(_present_groups(call, org, [row])[0], 201, query)


@operation("getScimGroup", "GET", _GROUP, needs=Can.ADMIN, returns=wire.Group)
def get_scim_group(call: Call, org: OrgAccess, group_id: str, query: wire.ShapeQuery) -> Reply:
    """Get a team as a SCIM group."""
    with call.db.read() as tx:
        row = provisioning.get_group(tx, org.organization_id, group_id)
    return _reply(_present_groups(call, org, [row])[0], shape=query)


@operation("replaceScimGroup", "PUT", _GROUP, needs=Can.ADMIN, returns=wire.Group, body_limit=_BODY_LIMIT)
def replace_scim_group(
    call: Call, org: OrgAccess, group_id: str, body: wire.GroupBody, query: wire.ShapeQuery
) -> Reply:
    """Replace the title and members of a team."""
    with call.db.write() as tx:
        was = _group_state(tx, provisioning.get_group(tx, org.organization_id, group_id))
        row = provisioning.replace_group(tx, org.organization_id, group_id, wire.read_group(body))
        _audit_group(tx, call, org, "team.updated", group_id, before=was, after=_group_state(tx, row))
    return _reply(_present_groups(call, org, [row])[0], shape=query)


@operation("patchScimGroup", "PATCH", _GROUP, needs=Can.ADMIN, returns=wire.Group, body_limit=_BODY_LIMIT)
def patch_scim_group(
    call: Call, org: OrgAccess, group_id: str, body: wire.PatchBody, query: wire.ShapeQuery
) -> Reply:
    """Add and remove members of a team, or rename it."""
    with call.db.write() as tx:
        was = _group_state(tx, provisioning.get_group(tx, org.organization_id, group_id))
        row = provisioning.patch_group(tx, org.organization_id, group_id, wire.read_group_patch(body))
        _audit_group(tx, call, org, "team.updated", group_id, before=was, after=_group_state(tx, row))
    return _reply(_present_groups(call, org, [row])[0], shape=query)


@operation("deleteScimGroup", "DELETE", _GROUP, needs=Can.ADMIN)
def delete_scim_group(call: Call, org: OrgAccess, group_id: str) -> None:
    """Delete a team and its grants. Returns 404 if the team doesn't exist."""
    with call.db.write() as tx:
        was = _group_state(tx, provisioning.get_group(tx, org.organization_id, group_id))
        provisioning.delete_group(tx, org.organization_id, group_id)
        _audit_group(tx, call, org, "team.removed", group_id, before=was)
