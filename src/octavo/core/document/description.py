"""Publish the table of node types: as JSON Schema in the API description, and as plain data for code that
builds an editor's schema. Both are generated from ``schema.py``, so they always agree."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Raw

from octavo.core.json_types import JsonObject

from . import schema

_AT = "#/components/schemas/"

DocumentNodes = Annotated[Raw, Meta(extra_json_schema={"$ref": f"{_AT}Document"})]
"""Response, or part of a response, that is a document."""
DocumentObject = Annotated[dict[str, Any], Meta(extra_json_schema={"$ref": f"{_AT}Document"})]
"""Document in a request, or a document in the form of plain values."""
DocumentBlocks = Annotated[
    list[Any], Meta(extra_json_schema={"items": {"$ref": f"{_AT}DocumentBlock"}, "type": "array"})
]
"""List of a document's blocks, without the object for the document itself."""

_Schema = dict[str, Any]

_VALUES: dict[str, _Schema] = {
    "text": {"type": "string"},
    "bool": {"type": "boolean"},
    "number": {"type": "number", "minimum": 0},
    "int": {"type": "integer", "minimum": 0},
    "ref": {"$ref": f"{_AT}DocumentRef"},
    "length": {"$ref": f"{_AT}DocumentLength"},
    "texts": {"type": "array", "items": {"type": "string"}},
    "object": {"type": "object"},
}

_DESCRIPTIONS = {
    "action": "Action of the button, instead of following a reference.",
    "DocumentAction.action": "Kind of action: `ask` asks a question, `search` opens the search, `select` selects"
    " tabs.",
    "integration.action": "Action that the integration defines for opening the block.",
    "align": "Alignment of the text or the images.",
    "alt": "Alternative text of the image.",
    "anchor": "The anchor on the page.",
    "attributes": "Other attributes of the Markdown tag or element, by name.",
    "anchor.record": "The ID of the row.",
    "anchor.column": "The ID of the column.",
    "DocumentTableCellMerge.anchor": "The first cell of the range.",
    "background": "The background color.",
    "block": "The ID of the block within the integration.",
    "body": "The Markdown between the tags of the block.",
    "caption": "The text below the image.",
    "cellMerges": "Cells that span several rows or columns, in the order of the rows and visible columns.",
    "checked": "Whether the task is done; only in task lists.",
    "code": "The characters of the emoji, as code points in hexadecimal, joined by `-`.",
    "collapsedLineCount": "The number of lines shown while the block is collapsed.",
    "colSpan": "The number of columns that the cell spans.",
    "collection": "The ID of the collection.",
    "color": "The color of the icon.",
    "data": "Properties of the node.",
    "date": "The date of the entry, such as 2026-11-23.",
    "defaultExpanded": "Whether the text is expanded by default, as written in the Markdown.",
    "definition": "The columns by ID, each with `id`, `title`, `type`, and the options of its type.",
    "description": "A short description.",
    "end": "The Markdown after the child nodes.",
    "expandable": "Whether the block is collapsed to its first lines until the reader expands it.",
    "expanded": "Whether the operation is expanded by default.",
    "expression": "The expression, evaluated for each visitor.",
    "file": "The ID of the file.",
    "format": "Format of the dates of the entries.",
    "formula": "The formula, in TeX.",
    "fragment": "The name of the fragment within its block: `caption`, or the ID of a cell.",
    "fragments": "Parts that contain blocks: captions, cells, and the title and body of an expandable.",
    "fullWidth": "Whether the block can be wider than the text.",
    "grouped": "Whether the schemas are shown together in one box.",
    "headless": "Whether the page shows the title and description of the operation instead of the block.",
    "height": "The height in pixels, or with a unit.",
    "highlighted": "Whether the line is highlighted.",
    "host": "The server part of the URL.",
    "icon": "The name of the icon.",
    "id": "The anchor for links to this heading.",
    "in": "Location of the parameter, such as `path`, `query`, or `headers`.",
    "info": "Text after the language in the Markdown.",
    "integration": "The name of the integration.",
    "isVoid": "Whether the node has no child nodes; any content is in its fragments.",
    "key": "The key of the node, which stays the same when it is edited.",
    "kind": "The kind of this object.",
    "label": "Text shown if the page or person is not available.",
    "button.label": "The text of the button.",
    "leaves": "Parts of the text, each with one set of marks.",
    "level": "The level in the Markdown, if it differs from the default of this type.",
    "lineNumbers": "Whether line numbers are shown.",
    "marks": "The marks of the text, such as bold; outermost first.",
    "meta": "Metadata of the node.",
    "method": "The HTTP method of the operation, such as `get`.",
    "name": "The name of the webhook.",
    "api-part.name": "The name of the parameter.",
    "nodes": "The child nodes, in reading order.",
    "object": "The kind of node.",
    "open": "Whether it is expanded by default.",
    "openInAIProviders": "The assistants that the prompt can be opened in.",
    "overflow": "How long lines are handled.",
    "page": "The ID of the page.",
    "path": "The path of the operation.",
    "props": "Properties of the block, as defined by its integration.",
    "query": "The question or search query.",
    "records": "The rows by ID, each with `orderIndex` and `values` by column.",
    "ref": "The target of the reference.",
    "refDark": "The image in the dark theme.",
    "required": "Whether the parameter is required.",
    "reusableContent": "The ID of the reusable content.",
    "rowSpan": "The number of rows that the cell spans.",
    "schemas": "The names of the schemas.",
    "search": "Whether the table has a search field above it.",
    "size": "Whether the image has its original size or the height of the line.",
    "button.size": "The size of the button; `medium` by default.",
    "slug": "Name shared by tabs and buttons that are selected together; derived from the title if omitted.",
    "DocumentAction.slug": "The slug of the tabs to select.",
    "source": "The Markdown of content that has no node type, up to its child nodes.",
    "space": "The ID of the space; omitted if it is the same space.",
    "ref.space.space": "The ID of the space.",
    "spec": "The slug or URL of the specification.",
    "start": "The first number of the list.",
    "status": "The status code of the response.",
    "style": "The style of the hint.",
    "summary": "A short summary of the operation.",
    "syntax": "The language of the code.",
    "tag": "The name of the tag in the Markdown.",
    "ref.tag.tag": "The slug of the tag.",
    "tags": "The labels of the entry.",
    "text": "The text.",
    "DocumentMark.text": "The color of the text.",
    "title": "The displayed title.",
    "type": "The type of node.",
    "unit": "The unit, such as `%` or `px`.",
    "url": "The address.",
    "user": "The ID of the user.",
    "value": "The amount, in units.",
    "verticalAlignment": "Vertical alignment of the text in the column, if it is shorter than its neighbors.",
    "view": "Presentation of the table: as a `grid` or as `cards`, and the visible columns.",
    "width": "The width in pixels, or with a unit.",
    "withFrame": "Whether the images have a frame.",
}
"""Descriptions of fields, by name or, if only for one type, by ``type.name``. They are separate from the descriptions
of the API's other properties, where each name has a single meaning."""


_SPAN: _Schema = {"type": "integer", "minimum": 1, "maximum": 50}


def node_types() -> JsonObject:
    """Return the table as JSON: ``blocks`` and ``inlines`` by type, each with ``data`` (fields by name, with
    ``kind``, and ``required``, ``choices``, and ``meta`` where they apply), ``children`` ("blocks", "inlines",
    a type, or null), ``fragments``, and ``public``; ``marks``, ``colors``, ``nestedOnly``, ``columnTypes``, and
    ``refs``."""
    return {
        "blocks": {name: _row(kind) for name, kind in schema.BLOCKS.items()},
        "inlines": {name: _row(kind) for name, kind in schema.INLINES.items()},
        "marks": list(schema.MARKS),
        "colors": list(schema.COLORS),
        "nestedOnly": sorted(schema.NESTED_ONLY),
        "columnTypes": list(schema.COLUMN_TYPES),
        "refs": {
            kind: {"required": list(fields), "optional": list(schema.REF_OPTIONAL.get(kind, ()))}
            for kind, fields in schema.REF_FIELDS.items()
        },
    }


def _row(kind: schema.NodeType) -> JsonObject:
    fields = {}
    for name, field in kind.data.items():
        described: JsonObject = {"kind": field.kind}
        if field.required:
            described["required"] = True
        if field.choices:
            described["choices"] = list(field.choices)
        if field.meta:
            described["meta"] = True
        fields[name] = described
    return {"data": fields, "children": kind.children, "fragments": kind.fragments, "public": kind.public}


def document_schemas() -> dict[str, _Schema]:
    """Return the components of the API description, by name. Their schemas impose the same requirements as
    ``from_json``."""
    made = _components()
    descriptions = {
        "Document": "A document as a tree of nodes.",
        "DocumentBlock": "A block that can appear anywhere in a document; `type` is its type.",
        "DocumentInline": "A node within a line of text; `type` is its type.",
        "DocumentText": "Text, split into parts with one set of marks each.",
        "DocumentLeaf": "A part of a text with its marks. A hard line break is a `\\n` in it.",
        "DocumentMark": "A mark on a part of a text; only `color` has `data`.",
        "DocumentFragment": "A part of a block that contains blocks.",
        "DocumentRef": "The target of a node's reference; `kind` is its kind.",
        "DocumentAction": "The action of a button.",
        "DocumentTableCellMerge": "A cell with text that spans empty cells to its right and below it.",
        "DocumentLength": "A length in pixels or in another unit.",
    }
    for what, table in (("Block", schema.BLOCKS), ("Inline", schema.INLINES)):
        for kind in table.values():
            own = "" if kind.public else ", an extension of Octavo"
            descriptions[f"Document{what}{_name(kind)}"] = f"A node of the type `{kind.type}`{own}."
            _describe_properties(made[f"Document{what}{_name(kind)}"], kind.type)
    for name, component in made.items():
        _describe_properties(component, name)
        component["description"] = descriptions[name]
    return made


def _describe_properties(component: _Schema, place: str) -> None:
    """Add descriptions to the properties; ``place`` is a node's type or the name of the component."""
    for name, value in component.get("properties", {}).items():
        if name in ("data", "meta"):
            _describe_properties(value, place)
        elif "properties" in value:
            _describe_properties(value, name)
        if "description" not in value:
            value["description"] = _DESCRIPTIONS.get(f"{place}.{name}") or _DESCRIPTIONS[name]
    for option in component.get("anyOf", ()):
        _describe_properties(option, f"ref.{option.get('properties', {}).get('kind', {}).get('const')}")


def _components() -> dict[str, _Schema]:
    blocks = {f"DocumentBlock{_name(each)}": each for each in schema.BLOCKS.values()}
    inlines = {f"DocumentInline{_name(each)}": each for each in schema.INLINES.values()}
    return {
        "Document": _object(
            {
                "object": {"const": "document", "type": "string"},
                "data": {"type": "object"},
                "nodes": _array({"$ref": f"{_AT}DocumentBlock"}),
            },
            ["nodes"],
        ),
        "DocumentBlock": _one_of(
            {each.type: name for name, each in blocks.items() if each.type not in schema.NESTED_ONLY}
        ),
        **{name: _node("block", each) for name, each in blocks.items()},
        "DocumentInline": _one_of({each.type: name for name, each in inlines.items()}),
        **{name: _node("inline", each) for name, each in inlines.items()},
        "DocumentText": _object(
            {
                "object": {"const": "text", "type": "string"},
                "key": {"type": "string"},
                "leaves": _array({"$ref": f"{_AT}DocumentLeaf"}),
            },
            ["object", "leaves"],
        ),
        "DocumentLeaf": _object(
            {
                "object": {"const": "leaf", "type": "string"},
                "text": {"type": "string"},
                "marks": _array({"$ref": f"{_AT}DocumentMark"}),
            },
            ["text"],
        ),
        "DocumentMark": _object(
            {
                "object": {"const": "mark", "type": "string"},
                "type": {"type": "string", "enum": list(schema.MARKS)},
                "data": _object(
                    {
                        "text": {"type": "string", "enum": list(schema.COLORS)},
                        "background": {"type": "string", "enum": list(schema.COLORS)},
                    },
                    [],
                ),
            },
            ["type"],
        ),
        "DocumentFragment": _object(
            {
                "object": {"const": "fragment", "type": "string"},
                "key": {"type": "string"},
                "type": {"type": "string"},
                "fragment": {"type": "string"},
                "nodes": _array({"$ref": f"{_AT}DocumentBlock"}),
            },
            ["nodes"],
        ),
        "DocumentRef": {
            "anyOf": [
                _object(
                    {
                        "kind": {"const": kind, "type": "string"},
                        **{
                            name: {"type": "string"} for name in (*fields, *schema.REF_OPTIONAL.get(kind, ()))
                        },
                    },
                    ["kind", *fields],
                )
                for kind, fields in schema.REF_FIELDS.items()
            ]
        },
        "DocumentAction": _object(
            {"action": {"type": "string"}, "query": {"type": "string"}, "slug": {"type": "string"}},
            ["action"],
        ),
        "DocumentTableCellMerge": _object(
            {
                "anchor": _object(
                    {"record": {"type": "string"}, "column": {"type": "string"}}, ["record", "column"]
                ),
                "rowSpan": {**_SPAN},
                "colSpan": {**_SPAN},
            },
            ["anchor", "rowSpan", "colSpan"],
        ),
        "DocumentLength": {
            "anyOf": [
                {"type": "number", "minimum": 0},
                _object(
                    {"unit": {"type": "string"}, "value": {"type": "number", "minimum": 0}},
                    ["unit", "value"],
                ),
            ]
        },
    }


def _node(what: str, kind: schema.NodeType) -> _Schema:
    data = {name: _value(field) for name, field in kind.data.items() if not field.meta}
    meta = {name: _value(field) for name, field in kind.data.items() if field.meta}
    required = [name for name, field in kind.data.items() if field.required]
    if kind.type == "table":
        data["cellMerges"] = _array({"$ref": f"{_AT}DocumentTableCellMerge"})
    if kind.type == "button":
        del data["query"], data["slug"]
        data["action"] = {"$ref": f"{_AT}DocumentAction"}
    fields: dict[str, _Schema] = {
        "object": {"const": what, "type": "string"},
        "type": {"const": kind.type, "type": "string"},
        "isVoid": {"type": "boolean"},
        "key": {"type": "string"},
        "data": _object(data, required),
        "meta": _object({"id": {"type": "string"}, **meta}, []),
    }
    asked = (["object"] if what == "inline" else []) + ["type"] + (["data"] if required else [])
    if kind.children is not None:
        fields["nodes"] = _array(_child(kind.children))
        asked.append("nodes")
    if kind.fragments:
        fields["fragments"] = _array({"$ref": f"{_AT}DocumentFragment"})
    if kind.type == "expandable":
        asked.append("fragments")
    return _object(fields, asked)


def _child(children: str) -> _Schema:
    if children == "blocks":
        return {"$ref": f"{_AT}DocumentBlock"}
    if children == "inlines":
        return {"anyOf": [{"$ref": f"{_AT}DocumentText"}, {"$ref": f"{_AT}DocumentInline"}]}
    return {"$ref": f"{_AT}DocumentBlock{_name(schema.BLOCKS[children])}"}


def _value(field: schema.DataField) -> _Schema:
    return {"type": "string", "enum": list(field.choices)} if field.choices else dict(_VALUES[field.kind])


def _one_of(names: dict[str, str]) -> _Schema:
    return {
        "anyOf": [{"$ref": _AT + name} for name in names.values()],
        "discriminator": {
            "propertyName": "type",
            "mapping": {kind: _AT + name for kind, name in names.items()},
        },
    }


def _object(properties: dict[str, _Schema], required: list[str]) -> _Schema:
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}


def _array(items: _Schema) -> _Schema:
    return {"type": "array", "items": items}


def _name(kind: schema.NodeType) -> str:
    """Return the name of a node type in the API description, such as ``ListOrdered`` for ``list-ordered``."""
    return "".join(word.capitalize() for word in kind.type.split("-"))
