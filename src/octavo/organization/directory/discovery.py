"""Discovery for directories: the supported kinds of resources and their attributes (RFC 7643, sections 6 and
7)."""

from __future__ import annotations

from typing import Any

from octavo.errors import NotFound
from octavo.kit.http.operation import Recipient

from .types import GROUP, LIST, USER, location

Resource = dict[str, Any]

_RESOURCE_TYPE = "urn:ietf:params:scim:schemas:core:2.0:ResourceType"
_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:Schema"


def listing(resources: list[Resource]) -> Resource:
    count = len(resources)
    return {
        "schemas": [LIST],
        "totalResults": count,
        "startIndex": 1,
        "itemsPerPage": count,
        "Resources": resources,
    }


def get(resources: list[Resource], id: str) -> Resource:
    """Return the resource with this ID. Raises NotFound if there is none."""
    for resource in resources:
        if resource["id"] == id:
            return resource
    raise NotFound(f"There is no resource with the ID {id!r}.")


def resource_types(to: Recipient, organization_id: str) -> list[Resource]:
    return [
        {
            "schemas": [_RESOURCE_TYPE],
            "id": name,
            "name": name,
            "endpoint": f"/{name}s",
            "schema": schema,
            "meta": _meta(to, organization_id, "ResourceType", f"ResourceTypes/{name}"),
        }
        for name, schema in (("User", USER), ("Group", GROUP))
    ]


def schemas(to: Recipient, organization_id: str) -> list[Resource]:
    return [
        {
            "schemas": [_SCHEMA],
            "id": id,
            "name": name,
            "description": description,
            "attributes": attributes,
            "meta": _meta(to, organization_id, "Schema", f"Schemas/{id}"),
        }
        for id, name, description, attributes in (
            (USER, "User", "A member of the organization", _USER),
            (GROUP, "Group", "A team of the organization", _GROUP),
        )
    ]


def _meta(to: Recipient, organization_id: str, kind: str, path: str) -> Resource:
    return {"resourceType": kind, "location": location(to, organization_id, path)}


def _attribute(name: str, type: str = "string", **more: object) -> Resource:
    plain: Resource = {
        "name": name,
        "type": type,
        "multiValued": False,
        "required": False,
        "caseExact": False,
        "mutability": "readWrite",
        "returned": "default",
        "uniqueness": "none",
    }
    return plain | more


_USER = [
    _attribute("userName", required=True, uniqueness="server", mutability="immutable"),
    _attribute("displayName"),
    _attribute("externalId", caseExact=True),
    _attribute("active", "boolean"),
    _attribute(
        "name",
        "complex",
        subAttributes=[_attribute("formatted"), _attribute("givenName"), _attribute("familyName")],
    ),
    _attribute(
        "emails",
        "complex",
        multiValued=True,
        mutability="immutable",
        subAttributes=[_attribute("value"), _attribute("primary", "boolean"), _attribute("type")],
    ),
]
_GROUP = [
    _attribute("displayName", required=True),
    _attribute("externalId", caseExact=True),
    _attribute(
        "members",
        "complex",
        multiValued=True,
        subAttributes=[
            _attribute("value", mutability="immutable"),
            _attribute("display", mutability="readOnly"),
        ],
    ),
]
