"""Bad bodies and queries of every operation, made from its models: the error envelope, naming the field."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import httpx
import msgspec
import msgspec.inspect as models
import pytest

from octavo.kit.http.operation import TABLE, Operation, RawBody
from octavo.operations.installation import load_packages
from world import World

from .samples import Sample, credentials, sample_of, send

load_packages()

WITH_BODY = [operation for operation in TABLE.values() if operation.body is not None]
WITH_QUERY = [operation for operation in TABLE.values() if operation.query is not None]

_WRONG_VALUES: list[Any] = [7, "text", {"un": "expected"}, [[[]]], None, True]
_WRONG_TOKENS = [
    "!!!",
    "bm90IGpzb24",
    *(
        base64.urlsafe_b64encode(json.dumps(key).encode()).decode()
        for key in ({}, [1, 2, 3], [None], [["x"]])
    ),
]


def complaint(answer: httpx.Response, status: int, names: str = "") -> str | None:
    """Check the envelope of an error and return its problem, or None."""
    if answer.status_code != status:
        return f"expected {status}, got {answer.status_code} {answer.text[:200]}"
    content = answer.json()
    if answer.headers["content-type"] == "application/scim+json":
        return _unlike(status, names, int(content["status"]), content["detail"], answer)
    if set(content) != {"error"} or set(content["error"]) - {"field"} != {"code", "message", "reason"}:
        return f"not the envelope: {answer.text[:200]}"
    error = content["error"]
    if "field" in error and not error["message"].startswith(f"{error['field']}: "):
        return f"the message does not begin with the field: {answer.text[:200]}"
    return _unlike(status, names, error["code"], error["message"], answer)


def _unlike(status: int, names: str, code: int, message: str, answer: httpx.Response) -> str | None:
    if code != status or names not in message:
        return f"expected {status} naming {names!r}, got {answer.text[:200]}"
    return None


def _variants(kind: models.Type) -> Iterator[models.Type]:
    if isinstance(kind, models.UnionType):
        for one in kind.types:
            yield from _variants(one)
    elif isinstance(kind, models.Metadata):
        yield from _variants(kind.type)
    else:
        yield kind


def _fields(model: Any) -> dict[str, tuple[Any, list[models.Type]]]:
    """Yield each field of a struct (or of the structs of a union) on the wire, with its type and variants.
    Bodies that aren't JSON have none."""
    found: dict[str, tuple[Any, list[models.Type]]] = {}
    if model is RawBody:
        return found
    for variant in _variants(models.type_info(model)):
        if isinstance(variant, models.StructType):
            types = {field.name: field.type for field in msgspec.structs.fields(variant.cls)}
            for field in variant.fields:
                found[field.encode_name] = (types[field.name], list(_variants(field.type)))
    return found


def _refused(value: Any, type: Any) -> bool:
    try:
        msgspec.convert(value, type)
    except msgspec.ValidationError:
        return True
    return False


def _wrong_fields(operation: Operation) -> Iterator[tuple[str, Any]]:
    """Yield bodies with an invalid value in one field: wrong type, unknown word, too long, or out of range."""
    for name, (type, variants) in _fields(operation.body).items():
        candidates = list(_WRONG_VALUES)
        for variant in variants:
            if isinstance(variant, models.LiteralType):
                candidates.append("no-such-word")
            if isinstance(variant, models.StrType) and variant.max_length is not None:
                candidates.append("x" * (variant.max_length + 1))
            if isinstance(variant, models.IntType):
                candidates += [limit + 1 for limit in (variant.le,) if limit is not None]
                candidates += [limit - 1 for limit in (variant.ge,) if limit is not None]
        yield from ((name, value) for value in candidates if _refused(value, type))


def _wrong_queries(operation: Operation) -> Iterator[tuple[str, str]]:
    """Yield queries with an invalid value in one parameter, which is text."""
    fields = _fields(operation.query)
    for name, (_, variants) in fields.items():
        for variant in variants:
            inner = variant.item_type if isinstance(variant, models.ListType) else variant
            if isinstance(inner, models.LiteralType):
                yield name, "no-such-word"
            elif isinstance(inner, models.BoolType):
                yield name, "maybe"
            elif isinstance(inner, models.StrType) and inner.max_length is not None:
                yield name, "x" * (inner.max_length + 1)
            elif isinstance(inner, models.IntType):
                yield name, "abc"
                yield from ((name, str(n + 1)) for n in (inner.le,) if n is not None)
                yield from ((name, str(n - 1)) for n in (inner.ge,) if n is not None)
        # With a limit, it is the token of a page of a list; alone, it names a page.
        if name == "page" and "limit" in fields:
            yield from ((name, token) for token in _WRONG_TOKENS)
        if all(isinstance(variant, models.StrType | models.NoneType) for variant in variants):
            yield name, "with\0nul"


def _prepared(world: World, operation: Operation) -> Sample:
    sample = sample_of(operation)
    if sample.before is not None:
        sample.before(world, world.home)
    return sample


@pytest.mark.sqlite_first
@pytest.mark.parametrize("operation", WITH_BODY, ids=lambda operation: operation.id)
def test_invalid_bodies_are_refused(world: World, operation: Operation) -> None:
    sample = _prepared(world, operation)
    proved = credentials(world, "admin", operation)
    before = world.written()
    wrong = []

    def check(label: str, answer: httpx.Response, status: int, names: str) -> None:
        if trouble := complaint(answer, status, names):
            wrong.append(f"{label}: {trouble}")

    raw = [b"{", b"\xff\xfe", b"nul", b'"text"', b"7", b"[" * min(100_000, operation.body_limit)]
    for name, (_, variants) in _fields(operation.body).items():
        if any(isinstance(variant, models.StrType) for variant in variants):
            raw += [b'{"%s": "%s"}' % (name.encode(), text) for text in (b"\xff", b"\\ud800", b"\\u0000")]
    if not operation.body_optional:
        raw.append(b"")
    for content in raw:
        headers = {**proved, "content-type": "application/json"}
        answer = send(world, "admin", operation, world.home, content=content, headers=headers)
        check(repr(content[:40]), answer, 400, "")
    given = sample.body_for(world.home)
    if isinstance(given, dict) or given is None:
        for name, value in _wrong_fields(operation):
            body = {**(given or {}), name: value}
            answer = send(world, "admin", operation, world.home, json=body, headers=proved)
            check(f"{name}={str(value)[:40]!r}", answer, 400, name)
    too_large = {**proved, "content-length": str(operation.body_limit + 1)}
    answer = send(world, "admin", operation, world.home, content=b"{}", headers=too_large)
    check("declared too large", answer, 413, "body")
    if world.written() != before:
        wrong.append("something was changed")
    assert not wrong, "\n".join([operation.source, *wrong])


@pytest.mark.sqlite_first
@pytest.mark.parametrize("operation", WITH_QUERY, ids=lambda operation: operation.id)
def test_invalid_queries_are_refused(world: World, operation: Operation) -> None:
    sample = _prepared(world, operation)
    proved = credentials(world, "admin", operation)
    before = world.written()
    wrong = []
    for name, value in _wrong_queries(operation):
        query = {**sample.query_for(world.home), name: value}
        answer = send(world, "admin", operation, world.home, params=query, headers=proved)
        if trouble := complaint(answer, 400, name):
            wrong.append(f"{name}={value[:40]!r}: {trouble}")
    if world.written() != before:
        wrong.append("something was changed")
    assert not wrong, "\n".join([operation.source, *wrong])


def test_a_chunked_body_beyond_the_limit_is_refused(world: World) -> None:
    operation = TABLE["createSpace"]

    async def pieces():
        for _ in range(operation.body_limit // 65536 + 2):
            yield b" " * 65536

    answer = send(world, "admin", operation, world.home, content=pieces())
    assert complaint(answer, 413, "body") is None


def test_invalid_tokens_are_refused(world: World) -> None:
    for header in ("Bearer no-such-token", "Bearer ", "Bearer", "Basic YTpi", "Bearer " + "x" * 5000):
        answer = world.call("nobody", "GET", "/user", headers={"authorization": header})
        assert complaint(answer, 401, "Authorization") is None, header
        assert answer.headers["www-authenticate"] == "Bearer"


def test_unknown_paths_and_methods_return_an_error(world: World) -> None:
    for path in ("/nothing", "/orgs/x/y/z", "/orgs/%00", "/spaces/" + "x" * 3000, "/spaces/%ff"):
        assert complaint(world.call("admin", "GET", path), 404) is None, path
    answer = world.call("admin", "PUT", "/user")
    assert complaint(answer, 405, "PUT") is None
    assert answer.headers["allow"]


@pytest.mark.parametrize("tag", [[], {}, 7, None, "nothing"])
def test_invalid_discriminators_return_400(sqlite_world: World, tag: Any) -> None:
    world, place = sqlite_world, sqlite_world.home
    for path, name, key in (
        ("/orgs/{organizationId}/translations-glossary", "operations", "type"),
        ("/spaces/{spaceId}/change-requests/{changeRequestId}/content", "changes", "operation"),
    ):
        method = "PUT" if key == "type" else "POST"
        answer = world.call("admin", method, place.path(path), json={name: [{key: tag}]})
        assert complaint(answer, 400, name) is None, complaint(answer, 400, name)


@pytest.mark.parametrize("word", ["null", "NULL", "Null", "nUll"])
def test_null_is_not_a_parameter_value_but_can_be_text(sqlite_world: World, word: str) -> None:
    world, place = sqlite_world, sqlite_world.home
    sites = place.path("/orgs/{organizationId}/sites")
    answer = world.call("admin", "GET", sites, params={"published": word})
    assert complaint(answer, 400, "published") is None, complaint(answer, 400, "published")
    assert world.get("admin", sites, params={"title": word})["items"] == []


@pytest.mark.parametrize("sign", ["\r\nset-cookie: a=b", "\n", "\t", "\x1b[2J", "\x7f"])
def test_urls_with_control_characters_are_refused(sqlite_world: World, sign: str) -> None:
    world, place = sqlite_world, sqlite_world.home
    url = f"https://docs.example.org/{sign}"
    organization, site = "/orgs/{organizationId}", "/orgs/{organizationId}/sites/{siteId}"
    for method, path, name, body in (
        ("PATCH", organization, "logo", {"logo": url}),
        ("PATCH", f"/users/{world.users['admin']}", "photoURL", {"photoURL": url}),
        ("PATCH", "/spaces/{spaceId}", "icon", {"icon": url}),
        ("PATCH", f"{site}/publishing/auth", "fallbackURL", {"backend": "custom", "fallbackURL": url}),
        ("POST", f"{site}/redirects", "url", {"source": "/old", "destination": {"kind": "url", "url": url}}),
        ("POST", f"{site}/mcp-servers", "url", {"name": "Tools", "url": url}),
        ("PUT", f"{organization}/openapi/pets", "url", {"source": {"url": url}}),
        ("POST", "/urls/published", "url", {"url": url}),
    ):
        answer = world.call("admin", method, place.path(path), json=body)
        assert complaint(answer, 400, name) is None, (path, complaint(answer, 400, name))
    for path in ("/urls/content", "/urls/embed", "/urls/published"):
        answer = world.call("admin", "GET", path, params={"url": url})
        assert complaint(answer, 400, "url") is None, (path, complaint(answer, 400, "url"))
