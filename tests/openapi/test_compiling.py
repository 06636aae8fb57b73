"""Arbitrary descriptions: a clear answer for each, within the limits."""

from __future__ import annotations

import io
import json
import stat
import zipfile
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octavo.core.document.html import render
from octavo.core.document.nodes import Document, walk
from octavo.core.document.writing import write
from octavo.sites.openapi import processing, reading
from octavo.sites.openapi.comparing import compare
from octavo.sites.openapi.compiling import Compiled, compile_description
from octavo.sites.openapi.description import ApiDescription
from octavo.sites.openapi.drawing import ApiReferenceRenderer
from octavo.sites.openapi.validating import METHODS

HEAD = "openapi: 3.1.0\ninfo: {title: T, version: '1'}\n"


def _codes(data: str | bytes) -> set[str]:
    return {
        error.code for error in compile_description(data.encode() if isinstance(data, str) else data).errors
    }


def _bomb() -> str:
    names = "abcdefghijk"
    lines = [f"x-{name}: &{name} [{', '.join([f'*{names[at]}'] * 9)}]" for at, name in enumerate(names[1:])]
    return "\n".join([HEAD + "paths: {}", "x-a: &a [1,1,1,1,1,1,1,1,1]", *lines])


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "NO_VERSION"),
        (b"just words", "NO_VERSION"),
        (b"[]", "NO_VERSION"),
        (b"\xff\xfe{", "INVALID_TEXT"),
        (b"openapi: 3.1.0\n\0", "INVALID_TEXT"),
        (b'{"openapi": "3.1.0",}', "INVALID_JSON"),
        (b"a: [1\nb: 2", "INVALID_YAML"),
        (b"a: 1\na: 2", "INVALID_YAML"),
        (b"a: &a\n  b: *a", "INVALID_YAML"),
        (b"? [a]\n: 1", "INVALID_YAML"),
        (b"a: !!python/object/apply:os.system [id]", "NO_VERSION"),
        (b"openapi: 4.0.0", "UNKNOWN_VERSION"),
        (b"swagger: '1.2'", "UNKNOWN_VERSION"),
        (b"openapi: 3.1.0\ninfo: {title: T, version: '1'}", "INVALID_DESCRIPTION"),
        (b"openapi: 3.0.0\ninfo: []\npaths: {}", "INVALID_DESCRIPTION"),
        (b'{"a":' * 200 + b"1" + b"}" * 200, "TOO_DEEP"),
        (b'{"a":' * 100_000, "TOO_DEEP"),
        (b"[" * 300, "INVALID_YAML"),
        (_bomb().encode(), "TOO_LARGE"),
        (b"#" * (reading.MAX_BYTES + 1), "TOO_LARGE"),
        (b"PK\x03\x04" + b"\0" * 100, "INVALID_ARCHIVE"),
    ],
)
def test_invalid_descriptions_are_reported(data: bytes, code: str) -> None:
    assert _codes(data) == {code}


@pytest.mark.parametrize(
    "reference",
    [
        "file:///etc/passwd",
        "/etc/passwd",
        "../../etc/passwd",
        "https://169.254.169.254/",
        "//other/x",
        "ftp://x/y",
        "other.yaml",
        "other.yaml#/a",
        "#/nothing",
        "#nothing",
        "#/components/schemas/A/$ref",
        "data:text/yaml,a",
        "#/components/schemas/A",
        "#/info/title/0",
        "C:\\x.yaml",
    ],
)
def test_external_and_broken_references_are_reported(reference: str) -> None:
    spec = {
        "openapi": "3.1.0",
        "info": {"title": "T", "version": "1"},
        "paths": {},
        "components": {"schemas": {"A": {"$ref": reference}}},
    }
    found = compile_description(json.dumps(spec, indent=1).encode()).errors
    assert [(error.code, error.pointer) for error in found] == [
        ("INVALID_REFERENCE", "#/components/schemas/A/$ref")
    ]
    assert found[0].line > 5


def test_unused_references_can_be_missing() -> None:
    """Real descriptions have mappings to files that bundling removed, and patterns in other dialects."""
    text = (
        HEAD.replace("3.1.0", "3.0.3")
        + r"""
paths: {}
components:
  schemas:
    Cat: {type: object}
    Pet:
      oneOf: [{$ref: '#/components/schemas/Cat'}]
      discriminator: {propertyName: kind, mapping: {cat: 'models/cat.yaml#/Cat', dog: '#/components/schemas/Dog'}}
    Domain: {type: string, pattern: '\A(?<n>[a-z]+)\Z'}
"""
    )
    compiled = compile_description(text.encode())
    assert compiled.errors == []
    mapping = json.loads(compiled.document)["components"]["schemas"]["Pet"]["discriminator"]["mapping"]
    assert mapping == {"cat": "models/cat.yaml#/Cat", "dog": "#/components/schemas/Dog"}
    assert {
        error.code
        for error in compile_description(text.replace("'#/components/schemas/Cat'", "'#/x'").encode()).errors
    } == {"INVALID_REFERENCE"}


def test_references_in_example_values_are_ignored() -> None:
    text = (
        HEAD
        + "paths: {}\ncomponents:\n  schemas:\n    A: {example: {$ref: 'nowhere'}, properties: {$ref: {type: string}}}"
    )
    assert compile_description(text.encode()).errors == []


def test_webhooks_of_openapi_3_0_are_checked_like_those_of_3_1() -> None:
    hook = (
        "{post: {requestBody: {content: {application/json: {schema: {$ref: 'pet.yaml'}}}}, responses: "
        "{'200': {description: ok}}}}"
    )
    head = HEAD.replace("3.1.0", "3.0.3") + "paths: {}\nx-webhooks:\n  sold:"
    compiled = compile_description(
        _archive({"openapi.yaml": f"{head} {hook}".encode(), "pet.yaml": b"type: string"})
    )
    assert compiled.errors == []
    description = ApiDescription(json.loads(compiled.document))
    (webhook,) = description.webhooks.values()
    media = webhook.data["requestBody"]["content"]["application/json"]
    assert webhook.path == "sold" and description.follow(media["schema"]) == {"type": "string"}
    wrong = compile_description(f"{head}\n    post: {{}}\n".encode()).errors
    assert [(each.pointer, each.line) for each in wrong] == [("#/x-webhooks/sold/post", 6)]
    for version, key in (("3.1.0", "webhooks"), ("3.0.3", "x-webhooks")):
        gone = {"openapi": version, key: {"sold": {"post": {}}}, "paths": {}}
        assert [*ApiDescription(gone).webhooks] == ["post sold"]


def test_unambiguous_mistakes_are_no_errors() -> None:
    text = """
openapi: 3.0.3
info: {title: T, version: '1', description: }
tags:
paths:
  /a:
    get:
      parameters:
      responses:
        '200': {description: It, content: {application/json: {schema: , example: {a: null}}}}
components:
  schemas:
    Name: {oneOf: [{type: string}, {type: 'null'}], properties: {}, default: null}
"""
    compiled = compile_description(text.encode())
    assert compiled.errors == []
    made = json.loads(compiled.document)
    media = made["paths"]["/a"]["get"]["responses"]["200"]["content"]["application/json"]
    assert media == {"example": {"a": None}} and "tags" not in made
    assert made["components"]["schemas"]["Name"]["default"] is None
    (wrong,) = compile_description(text.replace("type: string", "type: strnig").encode()).errors[:1]
    assert "strnig" in wrong.message or "null" in wrong.message
    assert compile_description(text.replace("description: It,", "").encode()).errors != []


@pytest.mark.slow
def test_a_million_paths_are_refused() -> None:
    paths = ",".join(f'"/{n}":{{}}' for n in range(1_000_000))
    found = _codes('{"openapi":"3.1.0","info":{"title":"T","version":"1"},"paths":{' + paths + "}}")
    assert found <= {"TOO_LARGE"}


def test_too_many_operations_are_refused() -> None:
    operation = {"responses": {"200": {"description": "ok"}}}
    spec = {
        "openapi": "3.0.0",
        "info": {"title": "T", "version": "1"},
        "paths": {f"/{n}": {"get": operation} for n in range(5_001)},
    }
    assert _codes(json.dumps(spec)) == {"TOO_LARGE"}


def _archive(files: dict[str, bytes], link: str = "") -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
        if link:
            info = zipfile.ZipInfo(link)
            info.external_attr = (stat.S_IFLNK | 0o777) << 16
            archive.writestr(info, "/etc/passwd")
    return packed.getvalue()


def test_archives_with_external_links_or_bombs_are_refused() -> None:
    good = HEAD.encode() + b"paths: {}\nx: {$ref: 'evil.yaml'}\n"
    for name in ("../evil.yaml", "/evil.yaml", "a\\evil.yaml"):
        assert _codes(_archive({"openapi.yaml": good, name: b"a: 1"})) <= {
            "INVALID_DESCRIPTION",
            "INVALID_REFERENCE",
        }
    reference = HEAD.encode() + b"paths: {/a: {$ref: 'evil.yaml'}}\n"
    assert _codes(_archive({"openapi.yaml": reference}, link="evil.yaml")) == {"INVALID_REFERENCE"}
    assert _codes(_archive({"openapi.yaml": b" " * (reading.MAX_BYTES + 1)})) == {"TOO_LARGE"}
    assert _codes(_archive({f"{n}.yaml": b"" for n in range(reading.MAX_FILES + 1)})) == {"TOO_LARGE"}
    assert _codes(_archive({"readme.md": b"nothing"})) == {"NO_VERSION"}


def test_files_of_an_archive_are_combined(tmp_path: Any) -> None:
    text = HEAD + "paths: {/a: {$ref: 'paths/a.yaml'}}\n"
    path = (
        b"get:\n  responses:\n    '200':\n      description: ok\n"
        b"      content: {application/json: {schema: {$ref: '../models.json#/Node'}}}\n"
    )
    models = b'{"Node": {"type": "object", "properties": {"next": {"$ref": "#/Node"}}}}'
    compiled = compile_description(
        _archive({"openapi.yaml": text.encode(), "paths/a.yaml": path, "models.json": models})
    )
    assert compiled.errors == []
    description = ApiDescription(json.loads(compiled.document))
    shown = write(
        Document(
            nodes=ApiReferenceRenderer(description, folded=False).operation(description.operations["get /a"])
        )
    )
    assert "`next` Node" in shown and "The same as Node above." in shown


def test_swagger_is_converted_to_openapi() -> None:
    old = {
        "swagger": "2.0",
        "info": {"title": "T", "version": "1"},
        "host": "api.test",
        "basePath": "/v2",
        "consumes": ["application/json"],
        "produces": ["application/json"],
        "securityDefinitions": {
            "basic": {"type": "basic"},
            "flow": {
                "type": "oauth2",
                "flow": "accessCode",
                "authorizationUrl": "https://a.test",
                "tokenUrl": "https://t.test",
                "scopes": {"read": "Reads"},
            },
        },
        "parameters": {
            "Body": {"in": "body", "name": "b", "required": True, "schema": {"$ref": "#/definitions/Pet"}},
            "Page": {"in": "query", "name": "page", "type": "integer"},
        },
        "responses": {"Bad": {"description": "bad", "schema": {"$ref": "#/definitions/Pet"}}},
        "definitions": {"Pet": {"type": "object", "properties": {"name": {"type": "string"}}}},
        "paths": {
            "/pets": {
                "parameters": [{"$ref": "#/parameters/Page"}],
                "post": {
                    "parameters": [{"$ref": "#/parameters/Body"}],
                    "responses": {
                        "200": {
                            "description": "ok",
                            "schema": {"$ref": "#/definitions/Pet"},
                            "examples": {"application/json": {"name": "Rex"}},
                        },
                        "400": {"$ref": "#/responses/Bad"},
                    },
                },
            },
            "/form": {
                "post": {
                    "parameters": [{"in": "formData", "name": "file", "type": "file", "required": True}],
                    "responses": {"200": {"description": "ok"}},
                }
            },
        },
    }
    compiled = compile_description(json.dumps(old).encode())
    assert compiled.errors == []
    assert compile_description(compiled.document.encode()).errors == []
    new = json.loads(compiled.document)
    post = new["paths"]["/pets"]["post"]
    assert new["servers"] == [{"url": "https://api.test/v2"}]
    assert post["requestBody"]["content"]["application/json"]["schema"] == {
        "$ref": "#/components/schemas/Pet"
    }
    assert post["parameters"] == [{"in": "query", "name": "page", "schema": {"type": "integer"}}]
    assert post["responses"]["200"]["content"]["application/json"]["example"] == {"name": "Rex"}
    form = new["paths"]["/form"]["post"]["requestBody"]["content"]["multipart/form-data"]["schema"]
    assert form["properties"]["file"] == {"type": "string", "format": "binary"}
    assert new["components"]["securitySchemes"]["basic"] == {"type": "http", "scheme": "basic"}


def test_the_process_has_limits_and_no_access_to_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    assert processing.compile_apart((HEAD + "paths: {}").encode()).errors == []
    monkeypatch.setattr(processing, "BOUNDS", processing.BOUNDS._replace(seconds=0.001))
    assert {error.code for error in processing.compile_apart(b"a: 1").errors} == {"TOO_LARGE"}


def test_an_archive_is_not_read_beyond_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    assert msgspec.json.decode(msgspec.json.encode(Compiled()), type=Compiled) == Compiled()
    read = 0
    original = zipfile.ZipExtFile.read

    def count(self: Any, size: int = -1) -> bytes:
        nonlocal read
        data = original(self, size)
        read += len(data)
        return data

    monkeypatch.setattr(zipfile.ZipExtFile, "read", count)
    files = {f"{n}.yaml": b" " * (4 * 1024 * 1024) for n in range(20)}
    assert _codes(_archive(files)) == {"TOO_LARGE"}
    assert read <= reading.MAX_BYTES + 4 * 1024 * 1024 + 1


# --- drawing ------------------------------------------------------------------------------------------------

EVIL = (
    "<script>alert(1)</script><img src=x onerror=alert(1)>[x](javascript:alert(1)) {% raw %} \"'`\\ </code>"
)


def _poisoned(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _poisoned(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_poisoned(inner) for inner in value]
    return EVIL if value == "EVIL" else value


def test_descriptions_cannot_execute_anything() -> None:
    schema = {
        "type": "object",
        "description": "EVIL",
        "title": "EVIL",
        "properties": {
            EVIL: {
                "type": "string",
                "description": "EVIL",
                "enum": ["EVIL"],
                "default": "EVIL",
                "pattern": "EVIL",
                "example": "EVIL",
                "x-enumDescriptions": {EVIL: "EVIL"},
            }
        },
    }
    media = {"schema": schema}
    operation = {
        "summary": "EVIL",
        "description": "EVIL",
        "operationId": "EVIL",
        "x-stability": "EVIL",
        "deprecated": True,
        "x-deprecated-sunset": "EVIL",
        "security": [{EVIL: ["EVIL"]}],
        "x-codeSamples": [{"lang": "EVIL", "label": "EVIL", "source": "EVIL"}],
        "servers": [{"url": "EVIL", "description": "EVIL", "variables": {EVIL: {"default": "EVIL"}}}],
        "parameters": [
            {"name": "EVIL", "in": "query", "required": True, "description": "EVIL", "schema": schema}
        ],
        "requestBody": {"description": "EVIL", "content": {EVIL: media}},
        "responses": {
            EVIL: {"description": "EVIL", "headers": {EVIL: {"schema": schema}}, "content": {EVIL: media}}
        },
    }
    other = {key: value for key, value in operation.items() if key != "x-codeSamples"}
    data = {
        "info": {"title": "EVIL", "description": "EVIL", "version": "EVIL"},
        "paths": {EVIL: {"get": operation, "post": other}},
        "components": {
            "schemas": {EVIL: schema},
            "securitySchemes": {EVIL: {"type": "apiKey", "name": "EVIL", "in": "query"}},
        },
    }
    description = ApiDescription(_poisoned(data))
    for folded in (True, False):
        drawer = ApiReferenceRenderer(description, folded=folded)
        nodes = [block for each in description.operations.values() for block in drawer.operation(each)]
        nodes += [*drawer.schemas(description.schemas), *drawer.information()]
        shown = str(render(Document(nodes=nodes)).body)
        for tag in ("<script", "<img", 'href="javascript:'):
            assert tag not in shown


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _chain(make: Any) -> dict[str, Any]:
    """Nine schemas, each named after the next one."""
    names = "ABCDEFGHI"
    return {name: make(_ref(after)) for name, after in pairwise(names)} | {"I": {"properties": {"x": {}}}}


@pytest.mark.parametrize(
    "schemas",
    [
        {"A": {"allOf": [_ref("B")]}, "B": {"allOf": [_ref("A")], "properties": {"x": {"type": "string"}}}},
        {"A": {"oneOf": [_ref("A"), _ref("A")], "anyOf": [_ref("A")], "items": _ref("A")}},
        {"A": {"items": {"items": {"items": _ref("A")}}}},
        _chain(lambda below: {"allOf": [below] * 40}),
        _chain(lambda below: {"oneOf": [below] * 40, "anyOf": [below] * 40}),
        _chain(lambda below: {"properties": {f"p{n}": below for n in range(40)}}),
        _chain(
            lambda below: {"additionalProperties": below, "items": below, "allOf": [{"items": below}, below]}
        ),
        {
            "A": {
                "type": ["object", "string", "array"],
                "required": ["gone", "a"],
                "items": False,
                "not": {},
                "properties": {
                    "a": {
                        "type": "string",
                        "enum": [1, {}],
                        "const": False,
                        "minimum": 5,
                        "maximum": 1,
                        "default": [],
                    }
                },
                "oneOf": [False, True, {}],
                "additionalProperties": False,
                "allOf": [{"type": "integer"}, {"type": "string"}, False],
            }
        },
    ],
)
def test_contradicting_and_recursive_schemas_are_cheap(schemas: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    media = {"content": {"application/json": {"schema": _ref("A")}}}
    operation = {"requestBody": media, "responses": {"200": {"description": "It", **media}}}
    spec = {
        "openapi": "3.1.0",
        "info": {"title": "T", "version": "1"},
        "paths": {"/a": {"post": operation}},
        "components": {"schemas": schemas},
    }
    compiled = compile_description(json.dumps(spec).encode())
    assert compiled.errors == []
    followed = 0
    follow = ApiDescription.follow

    def count(self: ApiDescription, value: Any) -> Any:
        nonlocal followed
        followed += 1
        return follow(self, value)

    monkeypatch.setattr(ApiDescription, "follow", count)
    description, other = (ApiDescription(json.loads(compiled.document)) for _ in range(2))
    other.schemas[max(other.schemas)]["properties"] = {"y": {"type": "integer"}}
    for folded in (True, False):
        drawer = ApiReferenceRenderer(description, folded=folded)
        document = Document(nodes=drawer.operation(description.operations["post /a"]) + drawer.schemas(["A"]))
        assert sum(1 for _ in walk(document)) < 60_000
        render(document)
    assert len(compare(description, other)) < 200
    assert followed < 60_000


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "properties",
                    "items",
                    "allOf",
                    "oneOf",
                    "enum",
                    "$ref",
                    "content",
                    "schema",
                    "required",
                    "additionalProperties",
                    "examples",
                    "example",
                    "headers",
                    "in",
                    "name",
                    "format",
                    "description",
                ]
            )
            | st.text(max_size=3),
            inner,
            max_size=4,
        )
    ),
    max_leaves=25,
)


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(
            [
                "parameters",
                "requestBody",
                "responses",
                "security",
                "tags",
                "servers",
                "summary",
                "x-codeSamples",
                "deprecated",
            ]
        ),
        json_values,
    ),
    json_values,
    st.sampled_from(METHODS),
)
def test_unchecked_parts_of_a_specification_are_rendered(operation: Any, schema: Any, method: str) -> None:
    data = {"paths": {"/a": {method: operation}}, "components": {"schemas": {"A": schema}}, "tags": [schema]}
    description = ApiDescription(data)
    description.tags()
    for folded in (True, False):
        drawer = ApiReferenceRenderer(description, folded=folded)
        nodes = [block for each in description.operations.values() for block in drawer.operation(each)]
        document = Document(nodes=[*nodes, *drawer.schemas(["A"]), *drawer.information()])
        assert sum(1 for _ in walk(document)) < 100_000
        render(document)
        if not folded:  # folded content is always HTML
            write(document)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_bytes_get_a_response(data: bytes) -> None:
    assert compile_description(data).errors
