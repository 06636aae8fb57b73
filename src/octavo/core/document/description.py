"""The table of node types for others: as JSON Schema in the description of the API, and as plain data for programs
that build an editor's schema of it. Both are made of ``schema.py``, so neither can say something else."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Raw

from . import schema

_AT = "#/components/schemas/"

DocumentNodes = Annotated[Raw, Meta(extra_json_schema={"$ref": f"{_AT}Document"})]
"""An answer, or a part of one, that is a document."""
DocumentObject = Annotated[dict[str, Any], Meta(extra_json_schema={"$ref": f"{_AT}Document"})]
"""A document that comes in, or is still values."""
DocumentBlocks = Annotated[
    list[Any], Meta(extra_json_schema={"items": {"$ref": f"{_AT}DocumentBlock"}, "type": "array"})
]
"""The blocks of a document alone."""

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

_SENTENCES = {
    "action": "What happens when the button is pressed, instead of following a reference.",
    "DocumentAction.action": "What the button does: `ask` asks a question, `search` opens the search.",
    "integration.action": "What the block does when it is opened, as the integration said.",
    "align": "Where the text stands, or the images.",
    "alt": "The words for those who do not see the image.",
    "anchor": "The place within the page.",
    "attributes": "Attributes of the tag or element in the Markdown that have no field of their own, by name.",
    "background": "The color behind the text.",
    "block": "Which block of the integration it is.",
    "body": "What stands between the tags of the block in the Markdown.",
    "caption": "The words below the image.",
    "checked": "Whether the task is done; only in lists of tasks.",
    "code": "The characters of the emoji, as code points in hexadecimal, joined by `-`.",
    "collapsedLineCount": "How many lines are shown before somebody asks for more.",
    "collection": "The id of the collection.",
    "color": "The color of the icon.",
    "data": "What the node carries.",
    "date": "The day of the entry, such as 2026-11-23.",
    "defaultExpanded": "Whether the text is shown from the start, as it is written in the Markdown.",
    "definition": "The columns by id, each with `id`, `title`, `type` and what its type asks for.",
    "description": "A short text that says what this is about.",
    "end": "The Markdown after the children.",
    "expandable": "Whether only the first lines are shown, and the others when somebody asks for them.",
    "expanded": "Whether the operation is shown whole from the start.",
    "expression": "The expression, which is evaluated for whoever reads.",
    "file": "The id of the file.",
    "format": "How the dates of the entries are written.",
    "formula": "The formula, in TeX.",
    "fragment": "The name by which the block that has the fragment knows it: `caption`, or the id of a cell.",
    "fragments": "The parts that hold blocks of their own: captions, cells, title and body of an expandable.",
    "fullWidth": "Whether it may be wider than the text.",
    "grouped": "Whether the schemas are shown in one box.",
    "height": "The height, in pixels or with a unit.",
    "highlighted": "Whether the line stands out.",
    "host": "The server that the address begins with.",
    "icon": "The name of the icon.",
    "id": "The anchor that links to this place name.",
    "in": "Where the parameter is: path, query, headers, or the like.",
    "info": "What else stood behind the language in the Markdown.",
    "integration": "The name of the integration.",
    "isVoid": "Whether the node has no children; what is in it, if anything, is in its fragments.",
    "key": "The name of the node, which it keeps while it is edited.",
    "kind": "Says which of the possible kinds this object is.",
    "label": "The words that are shown where the page or person that is meant cannot be.",
    "button.label": "The words on the button.",
    "leaves": "The pieces of the text, each with one set of marks.",
    "level": "The level in the Markdown, where it is not the one that this type has there.",
    "lineNumbers": "Whether the lines are numbered.",
    "marks": "The marks of the text, such as bold; the first is the outermost.",
    "meta": "What the node carries beside its content.",
    "method": "The method of the operation, such as `get`.",
    "name": "The name of the webhook.",
    "api-part.name": "The name of the parameter.",
    "nodes": "The children, in reading order.",
    "object": "Which kind of node this is.",
    "open": "Whether it is unfolded from the start.",
    "openInAIProviders": "The assistants that the prompt can be opened in.",
    "overflow": "What happens to lines that are too long.",
    "page": "The id of the page.",
    "path": "The path of the operation.",
    "props": "What the block holds, as its integration made it.",
    "query": "What is asked or searched for.",
    "records": "The rows by id, each with `orderIndex` and `values`, which are by column.",
    "ref": "What is referred to.",
    "refDark": "The image in the dark theme.",
    "required": "Whether the parameter must be given.",
    "reusableContent": "The id of the reusable content.",
    "schemas": "The names of the schemas.",
    "size": "Whether the image is shown as large as it is, or as high as the line.",
    "source": "The Markdown of what has no type of its own, up to its children.",
    "space": "The id of the space; left out where it is the same.",
    "ref.space.space": "The id of the space.",
    "spec": "The slug or the address of the description.",
    "start": "The number that the list begins with.",
    "status": "The status code of the response.",
    "style": "What kind of hint it is.",
    "summary": "What the operation does.",
    "syntax": "The language of the code.",
    "tag": "The name of the tag in the Markdown.",
    "tags": "The labels of the entry.",
    "text": "The text.",
    "DocumentMark.text": "The color of the text.",
    "title": "The title that people see.",
    "type": "Says which type of node this is.",
    "unit": "The unit, such as `%` or `px`.",
    "url": "The address.",
    "user": "The id of the user.",
    "value": "The number of units.",
    "verticalAlignment": "Where the text of the column stands, where it is lower than its neighbours.",
    "view": "How the table is shown: as a `grid` or as `cards`, and with which columns.",
    "width": "The width, in pixels or with a unit.",
    "withFrame": "Whether the images have a frame.",
}
"""What fields mean, by name; ``type.name`` goes before it. Kept here, not with the meanings of the API's other
properties: there a name has one meaning for all, here another."""


def node_types() -> dict[str, Any]:
    """The table as JSON: ``blocks`` and ``inlines`` by type, each with ``data`` (fields by name, with ``kind``, and
    ``required``, ``choices`` and ``meta`` where they hold), ``children`` ("blocks", "inlines", a type, or null),
    ``fragments`` and ``public``; ``marks``, ``colors``, ``nestedOnly``, ``columnTypes`` and ``refs``."""
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


def _row(kind: schema.NodeType) -> dict[str, Any]:
    fields = {}
    for name, field in kind.data.items():
        told: dict[str, Any] = {"kind": field.kind}
        if field.required:
            told["required"] = True
        if field.choices:
            told["choices"] = list(field.choices)
        if field.meta:
            told["meta"] = True
        fields[name] = told
    return {"data": fields, "children": kind.children, "fragments": kind.fragments, "public": kind.public}


def document_schemas() -> dict[str, _Schema]:
    """The components of the description, by name. What they require is what ``from_json`` requires."""
    made = _components()
    said = {
        "Document": "A text as a tree of nodes.",
        "DocumentBlock": "A block that may stand anywhere in a document; `type` says which.",
        "DocumentInline": "A node within a line of text; `type` says which.",
        "DocumentText": "Text, in pieces of one set of marks each.",
        "DocumentLeaf": "A piece of text with its marks. A hard line break is a `\\n` in it.",
        "DocumentMark": "How a piece of text is marked; `data` is there for `color` alone.",
        "DocumentFragment": "A part of a block that holds blocks of its own.",
        "DocumentRef": "What a node refers to; `kind` says by what.",
        "DocumentAction": "What a button does.",
        "DocumentLength": "A number of pixels, or a number of some other unit.",
    }
    for what, table in (("Block", schema.BLOCKS), ("Inline", schema.INLINES)):
        for kind in table.values():
            own = "" if kind.public else ", which is Octavo's own"
            said[f"Document{what}{_name(kind)}"] = f"A node of the type `{kind.type}`{own}."
            _say(made[f"Document{what}{_name(kind)}"], kind.type)
    for name, component in made.items():
        _say(component, name)
        component["description"] = said[name]
    return made


def _say(component: _Schema, place: str) -> None:
    """Says of every property what it means; ``place`` is a node's type or the name of the component."""
    for name, value in component.get("properties", {}).items():
        if name in ("data", "meta"):
            _say(value, place)
        if "description" not in value:
            value["description"] = _SENTENCES.get(f"{place}.{name}") or _SENTENCES[name]
    for option in component.get("anyOf", ()):
        _say(option, f"ref.{option.get('properties', {}).get('kind', {}).get('const')}")


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
        "DocumentAction": _object({"action": {"type": "string"}, "query": {"type": "string"}}, ["action"]),
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
    if kind.type == "button":
        del data["query"]
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
    """``list-ordered`` is ``ListOrdered``."""
    return "".join(word.capitalize() for word in kind.type.split("-"))
