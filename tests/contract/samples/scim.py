from . import Sample

_USER = {"userName": "grace@example.org", "displayName": "Grace"}
_GROUP = {"displayName": "Staff"}


def _rename(name: str) -> dict[str, object]:
    return {"Operations": [{"op": "replace", "path": "displayName", "value": name}]}


SAMPLES = {
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
    "createScimGroup": Sample(body={"displayName": "Others"}),
    "getScimGroup": Sample(),
    "replaceScimGroup": Sample(body=_GROUP),
    "patchScimGroup": Sample(body=_rename("Crew")),
    "deleteScimGroup": Sample(),
}
