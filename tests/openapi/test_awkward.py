"""Awkward descriptions: drawn, tried, searched, and exported within limits, and harmless."""

from __future__ import annotations

import json
import time
from typing import Any

import msgspec
import pytest
import yaml

from octavo.core.document.html import render
from octavo.core.document.html_context import HtmlContext
from octavo.core.document.nodes import Block, Document
from octavo.sites.openapi.blocks import draw_markdown
from octavo.sites.openapi.description import ApiDescription
from octavo.sites.openapi.drawing import ApiReferenceRenderer
from octavo.sites.openapi.exporting import export
from octavo.sites.openapi.index import OperationIndex
from octavo.sites.openapi.trying import make_form
from octavo.sites.openapi.using import uses_of

HOSTILE = (
    "</script><script>alert(1)</script><img src=x onerror=alert(2)> [x](javascript:alert(3)) {{7*7}} \"'`"
)

OVERRIDING = "a\u202eb"
"""With a character that reverses the text direction."""


def _deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for level in range(levels):
        schema = {"type": "object", "properties": {f"level{level}": schema}}
    return schema


def _operation(**data: Any) -> dict[str, Any]:
    return {"responses": {"200": {"description": "It"}}, **data}


def _body(schema: Any, **media: Any) -> dict[str, Any]:
    return {"requestBody": {"content": {"application/json": {"schema": schema, **media}}}}


NODE = {"$ref": "#/components/schemas/Node"}
AWKWARD: dict[str, dict[str, Any]] = {
    "hostile": _operation(
        summary=HOSTILE,
        description=HOSTILE,
        operationId=HOSTILE,
        tags=[HOSTILE],
        parameters=[
            {
                "name": HOSTILE,
                "in": "query",
                "description": HOSTILE,
                "example": HOSTILE,
                "schema": {"enum": [HOSTILE]},
            }
        ],
        callbacks={HOSTILE: {HOSTILE: {"post": _operation(summary=HOSTILE)}}},
        **_body(
            {"properties": {HOSTILE: {"description": HOSTILE, "pattern": HOSTILE, "default": HOSTILE}}},
            example=HOSTILE,
        ),
    ),
    "values": _operation(**_body({"type": "string", "enum": [f"value {n}" for n in range(3000)]})),
    "deep": _operation(**_body(_deep(40))),
    "circular": _operation(**_body(NODE)),
    "many": _operation(
        parameters=[{"name": f"p{n}", "in": "query", "schema": {"type": "string"}} for n in range(300)]
    ),
    "large": _operation(**_body({"type": "string"}, example="x" * 5_000_000)),
    "nothing": {},
    "twice": _operation(operationId="same"),
    "again": _operation(operationId="same"),
    "scripts": _operation(
        summary="قائمة الطلبات 注文の一覧",
        tags=["רשימה"],
        **_body({"properties": {"الاسم": {"type": "string"}, "名前": {"type": "string"}, OVERRIDING: {}}}),
    ),
    "wrong": _operation(
        parameters=[None, {"name": 3}, {"$ref": "#/gone"}, {"name": "a", "in": "query", "schema": "text"}],
        requestBody={
            "content": {"application/json": {"schema": {"properties": [], "oneOf": {}, "discriminator": 3}}}
        },
        callbacks=[],
        **{"x-codeSamples": [{"source": 3}, None]},
    ),
    "each leads to all": _operation(**_body({"$ref": "#/components/schemas/Each0"})),
    "without a name": _operation(**_body({"$ref": "#/components/schemas/Odd/properties/"})),
    "odd": _operation(
        responses={"200": {"description": "It", "links": {"a": {"operationId": 3, "parameters": []}}}}
    ),
}

SERVER = "https://{a}.{b}.example.com/{c}"
SERVERS = [
    {
        "url": SERVER,
        "variables": {"a": {"default": "{b}"}, "b": {"default": "{a}"}, "c": {}},
    }
]
COMPONENTS = {
    **{
        f"Each{n}": {"oneOf": [{"$ref": f"#/components/schemas/Each{m}"} for m in range(60)]}
        for n in range(60)
    },
    "Odd": {
        "properties": {
            "": {
                "type": "array",
                "items": {"$ref": "#/components/schemas/Odd/properties/"},
                "anyOf": [{"$ref": "#/components/schemas/Odd/properties/"}] * 60,
            }
        }
    },
    "Node": {
        "properties": {"next": NODE, "all": {"items": NODE}, "one": {"oneOf": [NODE, NODE]}},
        "allOf": [NODE],
    },
}


def _describe(name: str) -> ApiDescription:
    return ApiDescription(
        {
            "openapi": "3.1.0",
            "info": {"title": HOSTILE if name == "hostile" else "Awkward", "version": "1"},
            "servers": SERVERS,
            "paths": {"/things/{id}": {"post": AWKWARD[name]}},
            "components": {"schemas": COMPONENTS},
        }
    )


@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_specifications_are_rendered_within_limits(name: str) -> None:
    begin = time.process_time()
    description = _describe(name)
    operation = description.operations["post /things/{id}"]
    page = render(
        Document(nodes=ApiReferenceRenderer(description, folded=True).operation(operation, operation.title)),
        HtmlContext(try_it=lambda data: "/~try"),
    ).body
    plain = render(Document(nodes=ApiReferenceRenderer(description, folded=False).operation(operation))).body
    form = msgspec.json.encode(make_form(description, operation))
    assert len(page) < 600_000 and len(plain) < 600_000 and len(form) < 600_000, (
        len(page),
        len(plain),
        len(form),
    )
    for html in (page, plain):
        assert (
            "<script" not in html
            and "onerror=alert(2)>" not in html.replace("&gt;", "")
            and "javascript:" not in html.replace("(javascript:", "")
        )
    found = list(OperationIndex(description).find("things"))
    assert found and found[0].operation is operation
    uses_of(description)
    exported = {form: export(description, form).content for form in ("json", "yaml", "postman", "http")}
    assert json.loads(exported["json"]) == description.data
    assert yaml.safe_load(exported["yaml"]) == description.data
    assert json.loads(exported["postman"])["item"]
    assert exported["http"].count(b"\n###") == 1
    assert time.process_time() - begin < 20


def test_operations_are_found_by_natural_questions() -> None:
    paths: dict[str, Any] = {
        "/repos/{owner}/{repo}/issues": {
            "get": _operation(summary="List issues", operationId="issues/list"),
            "post": _operation(
                summary="Create an issue",
                **_body({"properties": {"labels": {"items": {"properties": {"color": {}}}}}}),
            ),
        },
        "/repos/{owner}/{repo}/labels": {"get": _operation(summary="List labels")},
        "/users": {"delete": _operation(summary="Delete users")},
    }
    label = {"properties": {"color": {}, "issue": {"$ref": "#/components/schemas/Issue"}}}
    components = {"schemas": {"IssueLabel": label, "Issue": {"properties": {"closed_by": {}}}}}
    index = OperationIndex(ApiDescription({"paths": paths, "components": components}))

    def first(query: str) -> tuple[str, str]:
        found = next(index.find(query))
        return found.kind, found.name

    assert first("/repos/me/app/issues") == ("operation", "List issues")
    assert first("POST /repos/me/app/issues") == ("operation", "Create an issue")
    assert first("issues/list") == ("operation", "List issues")
    assert first("delete") == ("operation", "Delete users")
    assert first("body.labels.color") == ("field", "labels.color")
    # Fields of models link to the model that defines them.
    assert [(each.model, each.id) for each in index.find("closed_by")] == [("Issue", "issue.closed_by")]
    fields = [each for each in index.find("issuelabel") if each.kind == "field"]
    assert [each.id for each in fields] == ["issuelabel.color", "issuelabel.issue"]
    assert [each.name for each in index.find("issuelabel") if each.kind == "model"] == ["IssueLabel"]
    assert (
        not list(index.find("zzzz")) and not list(index.find("")) and not list(index.find("/nowhere/at/all"))
    )


def test_types_and_levels_share_the_limit() -> None:
    deep = {"properties": {f"pet{n}": _deep(3) for n in range(300)}}
    paths = {f"/{n}": {"post": _operation(summary="Pets", **_body(deep))} for n in range(3)}
    found = [
        *OperationIndex(ApiDescription({"paths": paths, "components": {"schemas": {"pet": {}}}})).find("pet")
    ]
    fields = [each.name for each in found if each.kind == "field"]
    assert "pet199" in fields and len(fields) < 500
    assert [each.name for each in found if each.kind == "model"] == ["pet"]


def test_types_are_searched_for_links_a_few_levels_deep(monkeypatch: pytest.MonkeyPatch) -> None:
    """However deeply lists are nested, drawing each level costs the same."""

    def count(levels: int) -> int:
        schema: Any = {"type": "string"}
        for _ in range(levels):
            schema = {"type": "array", "items": {"anyOf": [schema, {"type": "null"}]}}
        description = ApiDescription({"paths": {}, "components": {"schemas": {"A": schema}}})
        drawer, asked = ApiReferenceRenderer(description, folded=True, linked=["A"]), []
        name_of = ApiDescription.name_of
        monkeypatch.setattr(description, "name_of", lambda value: asked.append(value) or name_of(value))
        drawer._links(schema)
        return len(asked)

    assert count(5) == count(40)


@pytest.mark.parametrize(
    "about",
    [
        "A key-value pair: the user_id, and a note.",
        "An amount - in cents - of `currency`.",
        "Not _this_ one, nor: -this_ one",
        "See [there](https://example.com): it-is.",
        "A :smile: and http://example.com",
        "# Head\n\n* one\n* two",
    ],
)
def test_plain_descriptions_equal_parsed_markdown(about: str) -> None:
    """Cached Markdown isn't affected by changes to the blocks of the first page."""
    drawer = ApiReferenceRenderer(ApiDescription({}), folded=False)

    def drawn() -> list[Block]:
        return drawer.value("it", {"type": "string", "description": about})[1:]

    first = drawn()
    # Headings are bold lines there.
    if not about.startswith("#"):
        assert first == draw_markdown(about, anchored=False)
    for block in first:
        block.nodes, block.data["id"] = [], "changed"
    assert drawn() == drawn() != first
