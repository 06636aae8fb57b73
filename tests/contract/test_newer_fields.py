"""Fields that newer clients give and Octavo does not read: what restricts something is refused, never left out."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

import pytest

from octavo.kit.http.operation import TABLE, Operation
from octavo.kit.http.unknown_keys import NEWER, NOTHING, NewerFields, Shape, shape_of, unread_keys
from octavo.operations.installation import load_packages
from tools import PublicApi
from world import World

from .samples import credentials, sample_of, send
from .test_bad_input import complaint

load_packages()

REFUSED = [
    pytest.param(TABLE[id], place, name, id=f"{id}-{name}")
    for id, fields in sorted(NEWER.items())
    for place in ("query", "body")
    for name in sorted(getattr(fields, place))
]


def _with(value: Any, path: str) -> Any:
    """Return a body with this additional field."""
    head, rest = re.fullmatch(r"([^.\[]+)(?:\[\])?\.?(.*)", path).groups()  # type: ignore[union-attr]
    value = copy.deepcopy(value) if isinstance(value, dict) else {}
    if not rest:
        value[head] = True
    elif path[len(head) :].startswith("[]"):
        value[head] = [_with({}, rest)]
    else:
        value[head] = _with(value.get(head), rest)
    return value


@pytest.mark.sqlite_first
@pytest.mark.parametrize(("operation", "place", "name"), REFUSED)
def test_an_unknown_restriction_is_refused(world: World, operation: Operation, place: str, name: str) -> None:
    sample = sample_of(operation)
    if sample.before is not None:
        sample.before(world, world.home)
    proved = credentials(world, "admin", operation)
    if place == "query":
        given: dict[str, Any] = {"params": {**sample.query_for(world.home), name: "true"}}
        known = name in operation.query_names
    else:
        given = {"json": _with(sample.body_for(world.home), name)}
        known = not list(unread_keys(shape_of(operation.body) if operation.body else NOTHING, given["json"]))
    before = world.written()
    answer = send(world, "admin", operation, world.home, headers=proved, **given)
    if not known or answer.status_code == 400:
        assert complaint(answer, 400, name.split(".", maxsplit=1)[0].removesuffix("[]")) is None
        assert world.written() == before


def test_an_unknown_restriction_after_many_other_keys_is_refused(world: World) -> None:
    path = world.home.path("/orgs/{organizationId}/sites/{siteId}/sections")
    section = {"spaceId": world.home["spaceId"]}
    others = {f"key{number}": number for number in range(50)}
    answer = world.call("admin", "POST", path, json={**others, **section, "template": {"id": "blank"}})
    assert complaint(answer, 400, "template: ") is None
    assert world.call("admin", "POST", path, json={**others, **section}).status_code == 201


def test_an_unknown_filter_does_not_widen_a_list(world: World) -> None:
    operation, name = next(
        (one, name) for id, fields in NEWER.items() for one in [TABLE[id]] for name in fields.query
    )
    path = world.home.path(operation.path)
    assert complaint(world.call("admin", "GET", f"{path}?{name}=other"), 400, f"{name}: ") is None
    assert world.call("admin", "GET", f"{path}?{name}=&somethingElse=1").status_code == 200


def _unread(
    schema: Any, shape: Shape, path: str, schemas: dict[str, Any], above: tuple[str, ...]
) -> Iterator[str]:
    """Return the paths of properties of a described body that a shape lacks."""
    if reference := schema.get("$ref"):
        if reference in above:
            return
        schema, above = schemas[reference.rpartition("/")[2]], (*above, reference)
    for part in (part for key in ("allOf", "oneOf", "anyOf") for part in schema.get(key, ())):
        yield from _unread(part, shape, path, schemas, above)
    if "items" in schema and shape.items is not None:
        yield from _unread(schema["items"], shape.items, f"{path}[]", schemas, above)
    kinds = list((shape.tagged or {}).values()) or [shape]
    for name, below in schema.get("properties", {}).items():
        inside = f"{path}.{name}" if path else name
        read = [kind.fields[name] for kind in kinds if kind.fields and name in kind.fields]
        if not read and shape.tag != name and any(kind.fields is not None for kind in kinds):
            yield inside
        for one in read:
            yield from _unread(below, one, inside, schemas, above)


def _unread_of(api: PublicApi, operation: Operation) -> set[str]:
    """Return the fields in the query and body of an operation's description that Octavo ignores."""
    described = api.operations.get(operation.id)
    if described is None or operation.extension:
        return set()
    components = api.description["components"]
    given = [
        *described.get("parameters", []),
        *api.description["paths"][described["path"]].get("parameters", []),
    ]
    parameters = [
        components["parameters"][one["$ref"].rpartition("/")[2]] if "$ref" in one else one for one in given
    ]
    found = {one["name"] for one in parameters if one["in"] == "query"} - operation.query_names
    if operation.refuses_unread:
        return found
    body = described.get("requestBody", {}).get("content", {}).get("application/json")
    if body is not None and operation.takes_json:
        found |= set(_unread(body["schema"], shape_of(operation.body), "", components["schemas"], ()))
    elif body is not None and operation.body is None:
        found |= set(_unread(body["schema"], NOTHING, "", components["schemas"], ()))
    return found


def test_the_list_has_all_fields_of_the_newest_description(
    public_api: PublicApi, newest_api: PublicApi
) -> None:
    """But for those that the version which Octavo serves has as well."""
    missing = {}
    for operation in TABLE.values():
        listed = NEWER.get(operation.id, NewerFields())
        unread = _unread_of(newest_api, operation) - _unread_of(public_api, operation)
        if left := unread - listed.query - listed.body - listed.ignored:
            missing[operation.id] = sorted(left)
    assert not missing
    assert set(NEWER) <= set(newest_api.operations)
