from typing import Any

from world import Place

from . import Sample

_USER = {"userName": "grace@example.org", "displayName": "Grace"}


def _rename(name: str) -> dict[str, object]:
    return {"Operations": [{"op": "replace", "path": "displayName", "value": name}]}


def _group(name: str) -> Any:
    return lambda place: {"displayName": name, "members": _members(place)}


def _members(place: Place) -> list[dict[str, str]]:
    return [{"value": place["scimUserId"]}]


SAMPLES = {
    "listScimResourceTypes": Sample(),
    "getScimResourceType": Sample(),
    "listScimSchemas": Sample(),
    "getScimSchema": Sample(),
    "getScimConfiguration": Sample(),
    "listScimUsers": Sample(),
    "createScimUser": Sample(body=_USER),
    "getScimUser": Sample(),
    "replaceScimUser": Sample(
        body=lambda place: {"userName": f"ada@{place.name}.test", "displayName": "Ada"}
    ),
    "patchScimUser": Sample(body=_rename("Ada")),
    "deleteScimUser": Sample(),
    "listScimGroups": Sample(),
    "createScimGroup": Sample(body=_group("Others")),
    "getScimGroup": Sample(),
    "replaceScimGroup": Sample(body=_group("Staff")),
    "patchScimGroup": Sample(
        body=lambda place: {"Operations": [{"op": "add", "path": "members", "value": _members(place)}]}
    ),
    "deleteScimGroup": Sample(),
}
