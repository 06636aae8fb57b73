"""The table of node types in the description of the API, and as the basis of editors."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given

from document_strategies import documents
from octavo.core.document.description import document_schemas, node_types
from octavo.core.document.json import DocumentError, from_json, to_json
from octavo.core.document.nodes import Document
from octavo.core.document.schema import BLOCKS, INLINES

_SCHEMAS = document_schemas()


def _schema(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: f"urn:d{v}" if k == "$ref" else _schema(v) for k, v in value.items()}
    return [_schema(item) for item in value] if isinstance(value, list) else value


_REGISTRY = jsonschema_rs.Registry([("urn:d", {"components": {"schemas": _schema(_SCHEMAS)}})])
_DOCUMENT = jsonschema_rs.Draft202012Validator(
    {"$ref": "urn:d#/components/schemas/Document"}, registry=_REGISTRY
)


def test_every_type_is_described_and_can_be_reached() -> None:
    blocks = {
        value["properties"]["type"]["const"]
        for name, value in _SCHEMAS.items()
        if name.startswith("DocumentBlock") and "properties" in value
    }
    inlines = {
        value["properties"]["type"]["const"]
        for name, value in _SCHEMAS.items()
        if name.startswith("DocumentInline") and "properties" in value
    }
    assert (blocks, inlines) == (set(BLOCKS), set(INLINES))
    told = json.dumps(_SCHEMAS)
    assert not [name for name in _SCHEMAS if name != "Document" and f'schemas/{name}"' not in told]


@given(documents)
def test_documents_are_as_described(document: Document) -> None:
    shown = to_json(document)
    assert [error.message for error in _DOCUMENT.iter_errors(shown)] == []


@pytest.mark.parametrize(
    ("node", "right"),
    [
        ({"type": "hint", "data": {"style": "info"}, "nodes": []}, True),
        ({"type": "hint", "data": {"style": "loud"}, "nodes": []}, False),
        ({"type": "hint", "data": {}, "nodes": []}, False),
        ({"type": "hint", "data": {"style": "info"}}, False),
        ({"type": "divider"}, True),
        ({"type": "list-item", "nodes": []}, False),
        ({"type": "image", "data": {"ref": {"kind": "url", "url": "a.png"}}}, False),
        ({"type": "images", "nodes": [{"type": "image", "data": {"ref": {"kind": "file"}}}]}, False),
        ({"type": "expandable"}, False),
        ({"type": "nothing", "nodes": []}, False),
        (
            {
                "type": "paragraph",
                "nodes": [{"object": "text", "leaves": [{"text": "a", "marks": [{"type": "loud"}]}]}],
            },
            False,
        ),
        ({"type": "paragraph", "nodes": [{"object": "inline", "type": "emoji", "data": {}}]}, False),
    ],
)
def test_document_schema_agrees_with_the_parser(node: dict[str, Any], right: bool) -> None:
    document = {"nodes": [node]}
    assert _DOCUMENT.is_valid(document) is right
    if right:
        from_json(document)
    else:
        with pytest.raises(DocumentError):
            from_json(document)


def test_the_table_for_editors_has_every_field() -> None:
    told = json.loads(json.dumps(node_types()))
    assert told["blocks"].keys() == BLOCKS.keys()
    assert told["inlines"].keys() == INLINES.keys()
    assert told["blocks"]["hint"] == {
        "data": {
            "attributes": {"kind": "object", "meta": True},
            "style": {"kind": "text", "required": True, "choices": ["info", "warning", "danger", "success"]},
            "icon": {"kind": "text"},
        },
        "children": "blocks",
        "fragments": False,
        "public": True,
    }
    assert told["refs"]["page"] == {"required": ["page"], "optional": ["space"]}
