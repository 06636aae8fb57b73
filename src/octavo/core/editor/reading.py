"""Convert API documents to the editor's format.

Every top-level block is converted, converted back, and compared. A block that would change becomes an
``opaque`` node, which contains the block's JSON. ``web/studio/document/convert.ts`` does the same; a test
compares the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prosemirror.model import Fragment, Mark, Node
from prosemirror.utils import JSON

from octavo.core.document.schema import BLOCKS, INLINES
from octavo.core.json_types import JsonObject

from .schema import BLOCK_NAMES, INLINE_NAMES, MARK_RANK, SCHEMA, SPANS
from .writing import write_block

_NODES = SCHEMA.nodes
_BLOCK_TYPES = {type: _NODES[name] for name, type in BLOCK_NAMES.items()}
_INLINE_TYPES = {type: _NODES[name] for name, type in INLINE_NAMES.items() if type not in SPANS}


_DERIVED = "cellMerges"
"""Field of a table's data that the server derives from the table's attributes, which the editor changes."""


class _ForeignError(Exception):
    """Raised internally if the editor can't represent a part of the document."""


def read_document(document: JsonObject, uids: Iterator[int]) -> Node:
    """Return an API document in the editor's format. ``uids``: unused numbers for links and annotations. A document
    without blocks becomes an empty paragraph."""
    return _NODES["doc"].create(None, _blocks([read_top_block(block, uids) for block in document["nodes"]]))


def read_top_block(block: JsonObject, uids: Iterator[int]) -> Node:
    """Return a top-level block in the editor's format: as ``opaque`` if the editor couldn't return it
    unchanged."""
    try:
        node = _Reader(uids).block(block)
        node.check()
        if same(write_block(node), block):
            return node
    except (_ForeignError, ValueError):
        pass
    return _NODES["opaque"].create({"json": block})


def same(one: object, other: object) -> bool:
    """Return whether two JSON values are equal, ignoring the order of a table's fragments. Merged cells are also
    ignored, because the table's attributes describe them as well."""
    if isinstance(one, dict) and isinstance(other, dict):
        if one.keys() - {_DERIVED} != other.keys() - {_DERIVED}:
            return False
        by_name = one.get("type") == "table"
        return all(
            same(_by_name(value), _by_name(other[name]))
            if by_name and name == "fragments"
            else name == _DERIVED or same(value, other[name])
            for name, value in one.items()
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def _by_name(fragments: Sequence[JsonObject]) -> dict[object, JsonObject]:
    return {fragment["fragment"]: fragment for fragment in fragments or ()}


def _blocks(found: list[Node]) -> Fragment:
    return Fragment.from_(found or [_NODES["paragraph"].create()])


def _attributes(json: JsonObject) -> JsonObject:
    return {"key": json.get("key"), "data": json.get("data") or {}, "meta": json.get("meta")}


def _fragment_attributes(json: JsonObject) -> JsonObject:
    return {"key": json.get("key"), "fragment": json.get("fragment"), "type": json.get("type")}


class _Reader:
    def __init__(self, uids: Iterator[int]) -> None:
        self.uids = uids

    def block(self, json: JsonObject) -> Node:
        kind = BLOCKS.get(json["type"])
        if kind is None:
            raise _ForeignError(json["type"])
        type = _BLOCK_TYPES[json["type"]]
        attrs, nodes = _attributes(json), json.get("nodes") or []
        if json["type"] == "table":
            return self.table(json)
        if json["type"] == "expandable":
            return type.create(attrs, self.expandable(json.get("fragments") or []))
        if kind.children == "inlines":
            if json["type"] == "paragraph" and not nodes:
                attrs["blank"] = True
            return type.create(attrs, self.inlines(nodes, []))
        if kind.children is not None:
            children = [self.block(node) for node in nodes]
            is_filled = json["type"] != "unknown" and kind.children == "blocks"
            return type.create(attrs, _blocks(children) if is_filled else children)
        fragments = [self.caption(part) for part in json.get("fragments") or []] if kind.fragments else []
        return type.create(attrs, fragments)

    def blocks(self, nodes: list[JsonObject]) -> Fragment:
        return _blocks([self.block(node) for node in nodes])

    def caption(self, json: JsonObject) -> Node:
        if json.get("fragment") != "caption":
            raise _ForeignError("fragment")
        return _NODES["caption"].create(_fragment_attributes(json), self.blocks(json["nodes"]))

    def expandable(self, fragments: list[JsonObject]) -> list[Node]:
        found = []
        for name in ("expandable-title", "expandable-body"):
            json = next((part for part in fragments if part.get("fragment") == name), None)
            if json is None:
                raise _ForeignError("fragment")
            type = _NODES[name.replace("-", "_")]
            found.append(type.create(_fragment_attributes(json), self.blocks(json["nodes"])))
        return found

    def table(self, json: JsonObject) -> Node:
        data = {name: value for name, value in json["data"].items() if name != _DERIVED}
        view, definition, records = dict(data["view"]), data.pop("definition"), data.pop("records")
        shown = [id for id in view.pop("columns") if id in definition]
        if not shown:
            raise _ForeignError("columns")
        fragments = {part.get("fragment"): part for part in json.get("fragments") or []}
        headings = []
        for id in shown:
            column = dict(definition[id])
            column.pop("id", None)
            title = column.pop("title", None)
            text = SCHEMA.text(title) if title else None
            headings.append(_NODES["table_heading"].create({"id": id, "column": column, "col": id}, text))
        rows = []
        for name, record in sorted(records.items(), key=lambda entry: entry[1]["orderIndex"]):
            values = dict(record["values"])
            cells = [self.cell(values.pop(id, None), id, definition[id], fragments) for id in shown]
            attrs = {"id": name, "order": record["orderIndex"], "values": values}
            rows.append(_NODES["table_row"].create(attrs, cells))
        attrs = {
            **_attributes(json),
            "data": {**data, "view": view},
            "hidden": {id: column for id, column in definition.items() if id not in shown},
            "rest": list(fragments.values()),
        }
        return _NODES["table"].create(attrs, [_NODES["table_head"].create(None, headings), *rows])

    def cell(self, value: JSON, id: str, column: JsonObject, fragments: dict[object, JsonObject]) -> Node:
        fragment = fragments.pop(value, None) if isinstance(value, str) else None
        if fragment is not None:
            attrs = {**_fragment_attributes(fragment), "col": id}
            return _NODES["table_cell"].create(attrs, self.blocks(fragment["nodes"]))
        if value is None and column["type"] == "text":
            # This cell exists only while it is empty, because the row has no value for it.
            return _NODES["table_cell"].create({"absent": True, "col": id}, _NODES["paragraph"].create())
        return _NODES["table_value"].create({"value": value, "col": id})

    def inlines(self, nodes: list[JsonObject], around: Sequence[Mark]) -> list[Node]:
        found: list[Node] = []
        for node in nodes:
            if node["object"] == "text":
                for leaf in node["leaves"]:
                    self.leaf(leaf, around, found)
            elif node["type"] in SPANS:
                mark = SCHEMA.marks[node["type"]].create(
                    {"uid": next(self.uids), **_attributes(node), "fragments": node.get("fragments") or []}
                )
                if node.get("nodes"):
                    found += self.inlines(node["nodes"], mark.add_to_set(list(around)))
                else:
                    found.append(_NODES["held"].create({"json": node}, None, list(around)))
            elif node["type"] in INLINES:
                attrs = _attributes(node)
                if node["type"] == "button":
                    attrs["data"] = _flattened(attrs["data"])
                found.append(_INLINE_TYPES[node["type"]].create(attrs, None, list(around)))
            else:
                found.append(_NODES["held"].create({"json": node}, None, list(around)))
        return found

    def leaf(self, leaf: JsonObject, around: Sequence[Mark], found: list[Node]) -> None:
        given = leaf.get("marks") or []
        ranks = [MARK_RANK.get(mark["type"], -1) for mark in given]
        if -1 in ranks:
            raise _ForeignError("mark")
        # Marks in an unusual order store their position.
        is_usual = all(one < other for one, other in zip(ranks, ranks[1:], strict=False))
        marks = list(around)
        for place, mark in enumerate(given):
            attrs = {**(mark.get("data") or {}), "at": None if is_usual else place}
            marks = SCHEMA.marks[mark["type"]].create(attrs).add_to_set(marks)
        for number, line in enumerate(leaf["text"].split("\n")):
            if number:
                found.append(_NODES["hard_break"].create(None, None, marks))
            if line:
                found.append(SCHEMA.text(line, marks))


def _flattened(data: JsonObject) -> JsonObject:
    """Return the data of a button with the strings of its action as separate, editable fields."""
    action = data.get("action")
    if not isinstance(action, dict):
        return data
    return {**{name: value for name, value in data.items() if name != "action"}, **action}
