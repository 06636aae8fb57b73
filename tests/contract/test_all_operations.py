"""Properties of all operations: deletions, unknown keys, empty query values, bytes that are not text."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec
import pytest

from octavo.kit.http.operation import TABLE, Deletion, Operation, RawBody
from octavo.kit.http.unknown_keys import UNRESTRICTED, restricts, shape_of, unread_keys
from octavo.operations.installation import load_packages
from set_clock import SetClock
from world import World

from .samples import TOLD_ELSEWHERE, Sample, credentials, sample_of, send, succeeded
from .test_bad_input import complaint

load_packages()

_PARAMETER = re.compile(r"\{(\w+)\}")

DELETIONS = [operation for operation in TABLE.values() if operation.returns is Deletion]
WRITES = [
    operation for operation in TABLE.values() if operation.method != "GET" and operation.body is not RawBody
]
WITH_BODY = [operation for operation in WRITES if operation.body is not None]
WITH_QUERY = [operation for operation in TABLE.values() if operation.query is not None]
LENIENT = [operation for operation in WITH_BODY if "/scim/" in operation.path]
"""Operations that accept unknown fields. RFC 7644, section 3.3, requires servers to ignore them."""


def _prepared(world: World, operation: Operation) -> Sample:
    sample = sample_of(operation)
    if sample.before is not None:
        sample.before(world, world.home)
    return sample


def test_every_delete_is_a_deletion() -> None:
    """Except those of SCIM, for which RFC 7644 defines 404 for missing resources, those that end a mode or a
    notice, and the own account."""
    others = {o.id for o in TABLE.values() if o.method == "DELETE"} - {o.id for o in DELETIONS}
    assert others == {
        "deleteScimUser",
        "deleteScimGroup",
        "disableIntegrationDevelopmentMode",
        "deleteOwnAccount",
        "endMaintenance",
        "removeAnnouncement",
    }


@pytest.mark.sqlite_first
@pytest.mark.parametrize(
    "operation",
    [operation for operation in DELETIONS if _PARAMETER.search(operation.path)],
    ids=lambda operation: operation.id,
)
def test_deleting_missing_objects(world: World, operation: Operation) -> None:
    sample = _prepared(world, operation)
    names = _PARAMETER.findall(operation.path)
    named = sample.path.get(names[-1], names[-1])
    before = world.written()
    proved = credentials(world, "admin", operation)
    for unknown in ("nothing", world.home[named][::-1]):
        ids = {name: world.home[there] for name, there in sample.path.items()}
        path = world.home.path(operation.path, **{**ids, names[-1]: unknown})
        answer = world.call("admin", "DELETE", path, headers=proved)
        assert (answer.status_code, answer.content) == (204, b""), answer.text
        assert world.call("nobody", "DELETE", path).status_code == 401
    if not proved:
        assert world.written() == before


@pytest.mark.sqlite_first
@pytest.mark.parametrize("operation", WRITES, ids=lambda operation: operation.id)
def test_unknown_keys_are_refused_or_reported(world: World, operation: Operation) -> None:
    sample = _prepared(world, operation)
    given = sample.body_for(world.home)
    if isinstance(given, list):
        given = [{**given[0], "someNewKey": {"a": 1}}, *given[1:]]
    else:
        given = {**(given or {}), "someNewKey": {"a": 1}}
    proved = credentials(world, "admin", operation)
    before = world.written()
    answer = send(world, "admin", operation, world.home, json=given, headers=proved)
    if operation.refuses_unread:
        assert complaint(answer, 400, "someNewKey") is None, answer.text
        assert world.written() == before
        return
    if operation.id not in TOLD_ELSEWHERE:
        assert succeeded(operation, answer), answer.text
    assert "someNewKey" in answer.headers["octavo-unread-keys"]


@pytest.mark.sqlite_first
@pytest.mark.parametrize("operation", WRITES, ids=lambda operation: operation.id)
def test_unknown_restrictions_are_refused(world: World, operation: Operation) -> None:
    """Previously, a site space could be added with ``hidden``, which only updates know, and was visible."""
    sample = _prepared(world, operation)
    given = sample.body_for(world.home)
    proved = credentials(world, "admin", operation)
    before = world.written()
    for name, unrestricted in UNRESTRICTED.items():
        first, *others = given if isinstance(given, list) else [given or {}]
        changed = {**first, name: "visitor.claims.beta"}
        if name not in {key for key, _ in unread_keys(shape_of(operation.body), changed)}:
            continue
        body = [changed, *others] if isinstance(given, list) else changed
        answer = send(world, "admin", operation, world.home, json=body, headers=proved)
        assert complaint(answer, 400, name) is None, answer.text
        assert not any(restricts(name, value) for value in unrestricted)
    assert world.written() == before


def test_an_unknown_key_that_restricts_nothing_is_accepted(world: World) -> None:
    """Clients return what they received, such as ``"hidden": false``."""
    body = {"title": "Docs", "hidden": False, "draft": None, "condition": "", "defaultLevel": "inherit"}
    answer = world.call("admin", "POST", world.home.path("/orgs/{organizationId}/sites"), json=body)
    assert answer.status_code == 201, answer.text
    assert set(answer.headers["octavo-unread-keys"].split(", ")) == set(UNRESTRICTED)


def test_restrictions_are_refused_at_any_depth(world: World) -> None:
    path = world.home.path("/spaces/{spaceId}/change-requests/{changeRequestId}/content")
    page = {"operation": "insert_page", "slug": "new", "document": {"markdown": "# New\n"}}
    given = {f"key{number}": number for number in range(50)}
    answer = world.call("admin", "POST", path, json={**given, "changes": [page, {**page, "draft": True}]})
    assert complaint(answer, 400, "changes[1].draft: ") is None


def test_operations_that_refuse_unknown_keys_are_listed() -> None:
    """Our own ones, and those that replace or override a whole customization."""
    own = {o.id for o in WITH_BODY if o.extension} - {o.id for o in LENIENT}
    whole = {"updateSiteCustomizationById", "overrideSiteSpaceCustomizationById"}
    assert {o.id for o in WITH_BODY if o.refuses_unread} == own | whole


def test_unknown_keys_are_reported_with_their_path(world: World) -> None:
    change = {
        "operation": "update_page",
        "page": world.home["pageId"],
        "colour": "red",
        "document": {"markdown": "# A\n", "färbung, rot": 1},
    }
    path = world.home.path("/spaces/{spaceId}/change-requests/{changeRequestId}/content")
    answer = world.call("admin", "POST", path, json={"changes": [change]})
    assert answer.headers["octavo-unread-keys"] == (
        "changes[0].colour, changes[0].document.f%C3%A4rbung%2C%20rot"
    )
    answer = world.call("admin", "POST", path, json={"changes": [change | {"colour": 1}] * 50})
    assert answer.headers["octavo-unread-keys"].endswith(", ...")
    # Clients interpret the content of a node or a configuration.
    nodes = [{"object": "block", "type": "paragraph", "data": {"own": {"deep": 1}}, "nodes": []}]
    answer = world.call(
        "admin",
        "POST",
        path,
        json={"changes": [change | {"colour": 1, "document": {"document": nodes}}]},
    )
    assert answer.headers["octavo-unread-keys"] == "changes[0].colour"


@pytest.mark.sqlite_first
@pytest.mark.parametrize("operation", WRITES, ids=lambda operation: operation.id)
def test_bytes_that_are_not_utf_8_are_refused(world: World, operation: Operation) -> None:
    """At any position: as a value, as a key, and deep in ignored parts."""
    sample = _prepared(world, operation)
    given = json.dumps(sample.body_for(world.home) or {}).encode()
    proved = credentials(world, "admin", operation)
    headers = {**proved, "content-type": "application/json"}
    before = world.written()
    inside = given[:-1] + (b"," if given not in (b"{}", b"[]") else b"")
    if given.endswith(b"}"):
        bad = [
            inside + b'"someNewKey": "\xff"}',
            inside + b'"some\xffKey": 1}',
            inside + b'"someNewKey": [{"a": "\xc3("}]}',
            inside + b'"someNewKey": "\\ud800"}',
        ]
    else:
        bad = [inside + b'"\xff"]']
    for content in bad:
        answer = send(world, "admin", operation, world.home, content=content, headers=headers)
        assert complaint(answer, 400) is None, (content, answer.text)
    assert world.written() == before


@pytest.mark.sqlite_first
@pytest.mark.parametrize("operation", WITH_QUERY, ids=lambda operation: operation.id)
def test_an_empty_query_value_counts_as_missing(world: World, clock: SetClock, operation: Operation) -> None:
    clock.advance(0)  # signed links hold the time
    sample = _prepared(world, operation)
    if operation.id in TOLD_ELSEWHERE:
        return
    fields, given = msgspec.structs.fields(operation.query), sample.query_for(world.home)
    empty = {f.encode_name: "" for f in fields if f.encode_name not in given and not f.required}
    with_empty = send(world, "admin", operation, world.home, params={**given, **empty})
    assert succeeded(operation, with_empty), with_empty.text
    if operation.method == "GET":
        without = send(world, "admin", operation, world.home)
        assert (without.status_code, without.content) == (with_empty.status_code, with_empty.content)


def _emoji_fields(model: Any) -> list[str]:
    """Return the paths of fields of a body that contain emoji, including those of each change in a batch."""
    found = []
    for name, shape in (shape_of(model).fields or {}).items():
        if name in ("emoji", "addedReactions", "removedReactions"):
            found.append(name)
        elif name == "changes":
            below = shape.items.tagged if shape.items is not None else None
            found += [f"changes.{tag}" for tag, one in (below or {}).items() if "emoji" in (one.fields or {})]
    return found


def test_emoji_of_the_api_are_valid(world: World) -> None:
    checked, wrong = [], []
    for operation in WITH_BODY:
        for field in _emoji_fields(operation.body):
            sample = _prepared(world, operation)
            for bad in ("nope", "\U0001f4d8\U0001f4d8", "zz", "1f4d8-zz", "<b>", "110000"):
                value: Any = [bad] if field.endswith("Reactions") else bad
                body = {**(sample.body_for(world.home) or {}), field: value}
                if field.startswith("changes."):
                    change = {"page": world.home["pageId"], "title": "A", "document": {"markdown": ""}}
                    tag = field.removeprefix("changes.")
                    body = {"changes": [{"operation": tag, **change, "emoji": bad}]}
                answer = send(world, "admin", operation, world.home, json=body)
                checked.append((operation.id, field))
                if (trouble := complaint(answer, 400)) is not None:
                    wrong.append(f"{operation.id} {field}={bad!r}: {trouble}")
    assert not wrong, "\n".join(wrong)
    assert {("createSpace", "emoji"), ("updateSpaceById", "emoji")} <= set(checked)
    assert ("updateChangeRequestContent", "changes.insert_group") in checked
    for good in ("\U0001f4d8", "1f4d8", "2764-fe0f", "\u2764"):
        answer = send(world, "admin", TABLE["updateSpaceById"], world.home, json={"emoji": good})
        assert answer.is_success, answer.text


def test_cors_headers_are_allowed_and_exposed(world: World) -> None:
    asked = {
        "origin": "https://elsewhere.example",
        "access-control-request-method": "PATCH",
        "access-control-request-headers": "authorization,content-type,user-agent",
    }
    answer = world.call("nobody", "OPTIONS", world.home.path("/spaces/{spaceId}"), headers=asked)
    allowed = {name.strip().lower() for name in answer.headers["access-control-allow-headers"].split(",")}
    assert {"authorization", "content-type", "user-agent"} <= allowed
    answer = world.call("reader", "GET", world.home.path("/spaces/{spaceId}"))
    exposed = {name.strip().lower() for name in answer.headers["access-control-expose-headers"].split(",")}
    assert {name for name in answer.headers if name.startswith("x-")} - {"x-content-type-options"} <= exposed
    assert {"x-ratelimit-reset", "octavo-unread-keys", "retry-after"} <= exposed


class _Leaf(msgspec.Struct):
    name: str
    below: list[_Leaf] = []


class _Tree(msgspec.Struct):
    leaves: dict[str, _Leaf | None] = {}
    free: Any = None


def test_recursive_types_are_traversed() -> None:
    shape = shape_of(_Tree)
    value = {"leaves": {"x": {"name": "a", "below": [{"name": "b", "new": 1}]}}, "free": {"any": 1}}
    assert [path for path, _ in unread_keys(shape, value)] == ["leaves.x.below[0].new"]
    assert list(unread_keys(shape, {"leaves": 7, "free": [], "more": {}})) == [("more", {})]
