"""Convert documents to and from JSON, in the format of the API's JSONDocument.

``to_json`` never fails. ``from_json`` accepts input from clients: it checks everything against ``schema.py``, and
raises ``DocumentError`` with the position of the problem, such as ``document.nodes[3].data.style: must be one of ...``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from . import schema
from .anchors import place_ids
from .keys import assign_keys
from .markdown import safe_url
from .markup import SPANS
from .nodes import MAX_NODES, Block, Data, Document, Fragment, Inline, Inner, Leaf, Mark, Text
from .parts import merged_cells, object_of, table_parts

SCHEMA_VERSION = 1
MAX_DEPTH = 96
"""Maximum nesting depth of nodes, including fragments. The output of ``read`` never exceeds this limit."""
_MAX_SPAN = 50
"""Maximum number of rows or columns that a merged cell can cover."""
MAX_TEXT = 20_000_000
"""Maximum total number of text characters in one document."""


class DocumentError(ValueError):
    """Raised if a document is invalid. The message starts with the path of the invalid part."""


def to_json(document: Document) -> Data:
    """Return the document in the API's format. Nodes without keys are assigned keys (see ``keys.assign_keys``)."""
    assign_keys(document)
    ids = place_ids(document)
    return {
        "object": "document",
        "data": {"schemaVersion": SCHEMA_VERSION},
        "nodes": [_show(block, ids) for block in document.nodes],
    }


def nodes_to_json(nodes: Iterable[Inner]) -> list[Data]:
    """Return nodes with keys in the same form as in their document's JSON, but without the IDs of link targets, because
    these depend on the whole document."""
    return [_show(node, {}) for node in nodes]


def _show(node: Inner, ids: dict[int, str]) -> Data:
    shown: Data
    if isinstance(node, Text):
        leaves = [
            {
                "object": "leaf",
                "text": leaf.text,
                "marks": [_show_mark(mark) for mark in leaf.marks] if leaf.marks else [],
            }
            for leaf in node.leaves
        ]
        shown = {"object": "text", "leaves": leaves}
        if node.key:
            shown["key"] = node.key
        return shown
    if isinstance(node, Fragment):
        shown = {"object": "fragment", "fragment": node.fragment}
        if node.type:
            shown["type"] = node.type
        if node.key:
            shown["key"] = node.key
        shown["nodes"] = [_show(child, ids) for child in node.nodes]
        return shown
    inline = type(node) is Inline
    kind = (schema.INLINES if inline else schema.BLOCKS)[node.type]
    shown = {"object": "inline" if inline else "block", "type": node.type, "isVoid": kind.void}
    if node.key:
        shown["key"] = node.key
    data: Data = {}
    meta: Data = {}
    for name, value in node.data.items():
        (meta if name in kind.data and kind.data[name].meta else data)[name] = value
    if id(node) in ids:
        meta["id"] = ids[id(node)]
    elif node.type in _NEEDS_ID:
        meta["id"] = node.data.get("id") or node.key
    if node.type == "button":
        data = with_action(data)
        data.setdefault("ref", {"kind": "url", "url": ""})
    if node.type == "table" and (merges := _cell_merges(node)):
        data["cellMerges"] = merges
    shown["data"] = data
    if meta:
        shown["meta"] = meta
    if kind.children is not None:
        shown["nodes"] = [_show(child, ids) for child in node.nodes]
    if node.fragments or node.type in _ALWAYS_FRAGMENTS:
        shown["fragments"] = [_show(fragment, ids) for fragment in node.fragments]
    return shown


def _cell_merges(table: Block | Inline) -> list[Data]:
    """Return the merged cells below the header of a table, in the API's format."""
    assert isinstance(table, Block)
    columns, records, _ = table_parts(table)
    names = [name for name, _ in columns]
    ids = {id(record): name for name, record in object_of(table.data, "records").items()}
    merged, _ = merged_cells(table, names, records)
    return [
        {"anchor": {"record": ids[id(records[y])], "column": names[x]}, "rowSpan": down, "colSpan": across}
        for (y, x), (across, down) in merged.items()
        if y >= 0
    ]


def with_action(data: Data) -> Data:
    """Return the data of a button in the API's format, with the fields of its action in one object."""
    others = {name: value for name, value in data.items() if name not in _ACTION_FIELDS}
    action, query, slug = map(data.get, _ACTION_FIELDS)
    if action is None and query is None:
        return others
    if action == "select":
        return others | {"action": {"action": action, "slug": slug or ""}}
    return others | {"action": {"action": "search" if action is None else action, "query": query or ""}}


_ACTION_FIELDS = ("action", "query", "slug")


_NEEDS_ID = frozenset(
    ["expandable", "tabs-item", "swagger", "openapi-operation", "openapi-schemas", "openapi-webhook"]
)
_ALWAYS_FRAGMENTS = frozenset(["image", "table", "expandable", "annotation"])


def _show_mark(mark: Mark) -> Data:
    shown: Data = {"object": "mark", "type": mark.type}
    return shown | {"data": mark.data} if mark.data is not None else shown


def from_json(value: object) -> Document:
    """Validate a decoded JSON value and return its document. ``isVoid``, ``meta.id``, and unknown members are ignored;
    unknown block and inline types are rejected."""
    found = _Reader().mapping(value, "document", "document")
    return nodes_from_json(found.get("nodes"), "document.nodes")


def nodes_from_json(value: object, path: str, allowed: str = "blocks", depth: int = 1) -> Document:
    """Parse a list of blocks into a document. ``path``: the name of the list in errors. ``allowed``: the type of the
    blocks; by default, any type. ``depth``: the depth that the blocks will have in a document."""
    reader = _Reader()
    try:
        nodes = reader.array(value, path)
        return Document(
            [reader.block(node, f"{path}[{at}]", depth, allowed) for at, node in enumerate(nodes)]
        )
    except RecursionError as error:  # only if the caller has almost used up the stack
        raise DocumentError(f"{path}: is nested too deeply") from error


class _Reader:
    def __init__(self) -> None:
        self.count = 0
        self.size = 0

    def mapping(self, value: object, path: str, kind: str) -> Data:
        if not isinstance(value, dict):
            raise DocumentError(f"{path}: must be an object, not {_name(value)}")
        if value.get("object", kind) != kind:
            raise DocumentError(f'{path}.object: must be "{kind}"')
        return value

    def array(self, value: object, path: str) -> list[object]:
        if not isinstance(value, list):
            raise DocumentError(f"{path}: must be an array, not {_name(value)}")
        self.count += len(value)
        if self.count > MAX_NODES:
            raise DocumentError(f"{path}: must have at most {MAX_NODES:,} nodes")
        return value

    def text(self, value: object, path: str) -> str:
        if not isinstance(value, str):
            raise DocumentError(f"{path}: must be a string, not {_name(value)}")
        self.size += len(value)
        if self.size > MAX_TEXT:
            raise DocumentError(f"{path}: must have at most {MAX_TEXT:,} characters")
        return clean(value)

    def deep(self, path: str, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise DocumentError(f"{path[:200]}: must be nested at most {MAX_DEPTH} levels deep")

    def block(self, value: object, path: str, depth: int, allowed: str) -> Block:
        self.deep(path, depth)
        value = self.mapping(value, path, "block")
        kind = schema.BLOCKS.get(value["type"]) if isinstance(value.get("type"), str) else None
        if kind is None:
            raise DocumentError(f"{path}.type: must be a block type, not {_shown(value.get('type'))}")
        if allowed not in ("blocks", kind.type):
            raise DocumentError(f"{path}.type: must be {allowed}, not {kind.type}")
        if allowed == "blocks" and kind.type in schema.NESTED_ONLY:
            raise DocumentError(f"{path}.type: {kind.type} isn't allowed here")
        block = Block(kind.type, self.data(kind, value, path), key=self.key(value, path))
        if kind.children is not None:
            block.nodes = self.children(kind, value.get("nodes"), path, depth)
        block.fragments = self.fragments(value, path, depth) if kind.fragments else []
        check_block(block, path)
        merges = value.get("data", {}).get("cellMerges") if kind.type == "table" else None
        if merges is not None:
            self.merge_cells(block, merges, f"{path}.data.cellMerges")
        return block

    def merge_cells(self, table: Block, value: object, path: str) -> None:
        """Merge the cells of a table that ``value`` specifies, instead of those that the table's attributes specify."""
        _, records, cells = table_parts(table)
        attributes: Data = dict(table.data.get("attributes") or {})
        for name in [name for name in attributes if name.startswith(SPANS)]:
            if name.partition("-")[2] not in table.data["definition"]:
                del attributes[name]
        for at, merge in enumerate(self.array(value, path)):
            here = f"{path}[{at}]"
            if not isinstance(merge, dict) or not isinstance(merge.get("anchor"), dict):
                raise DocumentError(f"{here}.anchor: must be an object with `record` and `column`")
            record, column = (
                self.text(merge["anchor"].get(n), f"{here}.anchor.{n}") for n in ("record", "column")
            )
            cell = table.data["records"].get(record, {}).get("values", {}).get(column)
            if not isinstance(cell, str) or cell not in cells:
                raise DocumentError(f"{here}.anchor: must refer to a text cell")
            for name, span in (("colSpan", "colspan"), ("rowSpan", "rowspan")):
                count = merge.get(name)
                if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= _MAX_SPAN:
                    raise DocumentError(f"{here}.{name}: must be a whole number from 1 to {_MAX_SPAN}")
                if count > 1:
                    attributes[f"{span}-{cell}"] = str(count)
        if attributes:
            table.data["attributes"] = attributes
        else:
            table.data.pop("attributes", None)
        made = {(one["anchor"]["record"], one["anchor"]["column"]) for one in _cell_merges(table)}
        for at, merge in enumerate(value if isinstance(value, list) else ()):
            spans = merge["colSpan"] > 1 or merge["rowSpan"] > 1
            if spans and (merge["anchor"]["record"], merge["anchor"]["column"]) not in made:
                raise DocumentError(
                    f"{path}[{at}]: must cover only existing, empty text cells that aren't part of another range"
                )

    def children(
        self, kind: schema.NodeType, value: object, path: str, depth: int
    ) -> list[Block | Inline | Text]:
        path += ".nodes"
        nodes = self.array(value, path)
        if kind.children == "inlines":
            return [*self.inlines(nodes, path, depth)]
        return [
            self.block(node, f"{path}[{at}]", depth + 1, kind.children or "blocks")
            for at, node in enumerate(nodes)
        ]

    def inlines(self, nodes: list[object], path: str, depth: int) -> list[Text | Inline]:
        """Return text and inline nodes in the form that ``read`` produces, with adjacent text nodes joined and empty
        leaves omitted."""
        found: list[Text | Inline] = []
        for at, node in enumerate(nodes):
            here = f"{path}[{at}]"
            kind = node.get("object") if isinstance(node, dict) else None
            if isinstance(node, dict) and kind == "inline":
                found.append(self.inline(node, here, depth + 1))
                continue
            if not isinstance(node, dict) or kind != "text":
                raise DocumentError(f'{here}.object: must be "text" or "inline", not {_shown(kind)}')
            key = self.key(node, here)
            for number, leaf in enumerate(self.array(node.get("leaves"), f"{here}.leaves")):
                self.leaf(leaf, f"{here}.leaves[{number}]", found, key)
        return found

    def leaf(self, value: object, path: str, found: list[Text | Inline], key: str | None) -> None:
        value = self.mapping(value, path, "leaf")
        text = self.text(value.get("text"), f"{path}.text")
        raw = value.get("marks", [])
        marks: list[Mark] = []
        for at, mark in enumerate(self.array(raw, f"{path}.marks")):
            made = self.mark(mark, f"{path}.marks[{at}]")
            if made not in marks:
                marks.append(made)
        if not text:
            return
        if not found or not isinstance(found[-1], Text):
            found.append(Text([Leaf(text, marks)], key))
        elif (last := found[-1].leaves[-1]).marks == marks:
            last.text += text
        else:
            found[-1].leaves.append(Leaf(text, marks))

    def mark(self, value: object, path: str) -> Mark:
        value = self.mapping(value, path, "mark")
        kind = value.get("type")
        if kind not in schema.MARKS:
            raise DocumentError(f"{path}.type: must be one of {', '.join(schema.MARKS)}")
        if kind != "color":
            return Mark(kind)
        data = value.get("data")
        if not isinstance(data, dict):
            raise DocumentError(f"{path}.data: must be an object, not {_name(data)}")
        for name in ("text", "background"):
            if data.get(name) not in schema.COLORS:
                raise DocumentError(f"{path}.data.{name}: must be one of {', '.join(schema.COLORS)}")
        return Mark("color", {"text": data["text"], "background": data["background"]})

    def inline(self, value: Data, path: str, depth: int) -> Inline:
        self.deep(path, depth)
        kind = schema.INLINES.get(value["type"]) if isinstance(value.get("type"), str) else None
        if kind is None:
            raise DocumentError(f"{path}.type: must be an inline type, not {_shown(value.get('type'))}")
        if kind.type == "button":
            value = self.with_plain_action(value, path)
        node = Inline(kind.type, self.data(kind, value, path), key=self.key(value, path))
        if kind.children is not None:
            node.nodes = self.inlines(self.array(value.get("nodes"), f"{path}.nodes"), f"{path}.nodes", depth)
        node.fragments = self.fragments(value, path, depth) if kind.fragments else []
        if kind.type == "button" and node.data.get("ref") == {"kind": "url", "url": ""}:
            del node.data["ref"]
        return node

    def with_plain_action(self, value: Data, path: str) -> Data:
        """Return a button with the strings of its action as separate fields, which is the form used in nodes. Keys are
        derived from the fields of nodes, so this form must not change."""
        data = value.get("data")
        action = data.get("action") if isinstance(data, dict) else None
        if not isinstance(data, dict) or not isinstance(action, dict):
            return value
        path += ".data.action"
        fields = {"action": self.text(action.get("action"), f"{path}.action")}
        if fields["action"] == "select":
            self.text(action.get("slug"), f"{path}.slug")
        for name in ("query", "slug"):
            if action.get(name):
                fields[name] = self.text(action[name], f"{path}.{name}")
        return {**value, "data": {**data, "query": None, "slug": None, **fields}}

    def fragments(self, value: Data, path: str, depth: int) -> list[Fragment]:
        found = []
        for at, fragment in enumerate(self.array(value.get("fragments", []), f"{path}.fragments")):
            here = f"{path}.fragments[{at}]"
            fragment = self.mapping(fragment, here, "fragment")
            kind = fragment.get("type")
            name = self.text(fragment.get("fragment", kind or ""), f"{here}.fragment")
            nodes = self.array(fragment.get("nodes"), f"{here}.nodes")
            found.append(
                Fragment(
                    name,
                    [self.block(n, f"{here}.nodes[{i}]", depth + 2, "blocks") for i, n in enumerate(nodes)],
                    None if kind is None else self.text(kind, f"{here}.type"),
                    self.key(fragment, here),
                )
            )
        return found

    def key(self, value: Data, path: str) -> str | None:
        key = value.get("key")
        if key is None:
            return None
        key = self.text(key, f"{path}.key")
        if not 0 < len(key) <= 100:
            raise DocumentError(f"{path}.key: must have 1 to 100 characters")
        return key

    def data(self, kind: schema.NodeType, value: Data, path: str) -> Data:
        given, meta = value.get("data", {}), value.get("meta", {})
        for name, part in (("data", given), ("meta", meta)):
            if not isinstance(part, dict):
                raise DocumentError(f"{path}.{name}: must be an object, not {_name(part)}")
        found: Data = {}
        for name, field in kind.data.items():
            source, where = (meta, "meta") if field.meta and name in meta else (given, "data")
            if source.get(name) is None:
                if field.required:
                    raise DocumentError(f"{path}.{where}.{name}: is required")
                continue
            found[name] = self.field(field, source[name], f"{path}.{where}.{name}")
        return found

    def field(self, field: schema.DataField, value: object, path: str) -> object:
        if field.kind == "text":
            value = self.text(value, path)
            if field.choices and value not in field.choices:
                raise DocumentError(f"{path}: must be one of {', '.join(field.choices)}")
            return value
        if field.kind == "bool":
            if not isinstance(value, bool):
                raise DocumentError(f"{path}: must be true or false, not {_name(value)}")
            return value
        if field.kind == "int":
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 10**9:
                raise DocumentError(f"{path}: must be a whole number from 0 to 999,999,999")
            return value
        if field.kind == "number":
            return self.number(value, path)
        if field.kind == "ref":
            return self.ref(value, path)
        if field.kind == "length":
            if isinstance(value, dict):
                unit = self.text(value.get("unit"), f"{path}.unit")
                if not re.fullmatch(r"%|[a-z]{1,4}", unit):
                    raise DocumentError(f"{path}.unit: must be `%` or a CSS length unit, such as `em`")
                size = self.number(value.get("value"), f"{path}.value")
                return size if unit == "px" else {"unit": unit, "value": size}
            return self.number(value, path)
        if field.kind == "texts":
            return [self.text(item, f"{path}[{at}]") for at, item in enumerate(self.array(value, path))]
        if not isinstance(value, dict):
            raise DocumentError(f"{path}: must be an object, not {_name(value)}")
        return self.plain(value, path, 0)

    def number(self, value: object, path: str) -> int | float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise DocumentError(f"{path}: must be a number, not {_name(value)}")
        if not math.isfinite(value) or not 0 <= value < 10**9:
            raise DocumentError(f"{path}: must be at least 0 and less than 1,000,000,000")
        return int(value) if float(value).is_integer() else value

    def ref(self, value: object, path: str) -> Data:
        if not isinstance(value, dict):
            raise DocumentError(f"{path}: must be a reference object, not {_name(value)}")
        kind = value.get("kind")
        if not isinstance(kind, str) or kind not in schema.REF_FIELDS:
            raise DocumentError(f"{path}.kind: must be one of {', '.join(schema.REF_FIELDS)}")
        found: Data = {"kind": kind}
        for name in schema.REF_FIELDS[kind]:
            found[name] = self.text(value.get(name), f"{path}.{name}")
        for name in schema.REF_OPTIONAL.get(kind, ()):
            if value.get(name) is not None:
                found[name] = self.text(value[name], f"{path}.{name}")
        if kind == "url" and not safe_url(found["url"]):
            raise DocumentError(
                f"{path}.url: this type of URL isn't allowed. Use an http, https, mailto, tel, or relative"
                " URL."
            )
        return found

    def plain(self, value: object, path: str, depth: int) -> object:
        """Return any JSON value with its strings cleaned."""
        if isinstance(value, str):
            return self.text(value, path)
        if value is None or isinstance(value, (bool, int)):
            return value
        if isinstance(value, float):
            if not math.isfinite(value):
                raise DocumentError(f"{path}: must be a finite number")
            return value
        if depth > 16:
            raise DocumentError(f"{path[:200]}: is nested too deeply")
        if isinstance(value, dict):
            self.count += len(value)
            if self.count > MAX_NODES:
                raise DocumentError(f"{path}: must have at most {MAX_NODES:,} nodes")
            return {
                self.text(name, path): self.plain(item, f"{path}.{name}", depth + 1)
                for name, item in value.items()
            }
        return [
            self.plain(item, f"{path}[{at}]", depth + 1) for at, item in enumerate(self.array(value, path))
        ]


def check_block(block: Block, path: str) -> None:
    """Check the requirements of a block's type that involve several fields. Raises DocumentError if they aren't met."""
    if block.type == "table":
        _check_table(block, path)
    elif block.type == "expandable":
        names = [fragment.fragment for fragment in block.fragments]
        if sorted(names) != ["expandable-body", "expandable-title"]:
            raise DocumentError(
                f"{path}.fragments: must contain exactly one expandable-title and one expandable-body"
            )
        title = next(f for f in block.fragments if f.fragment == "expandable-title")
        if len(title.nodes) != 1 or title.nodes[0].type != "paragraph":
            raise DocumentError(f"{path}.fragments: the expandable-title must contain exactly one paragraph")
        block.fragments = sorted(block.fragments, key=lambda fragment: fragment.fragment, reverse=True)
    elif block.type in ("image", "file", "embed"):
        for at, fragment in enumerate(block.fragments):
            if fragment.fragment != "caption" or any(n.type != "paragraph" for n in fragment.nodes):
                raise DocumentError(
                    f"{path}.fragments[{at}]: must be a caption that contains only paragraphs"
                )


def _check_table(block: Block, path: str) -> None:
    view, definition, records = (block.data[name] for name in ("view", "definition", "records"))
    path += ".data"
    if view.get("type") not in ("grid", "cards"):
        raise DocumentError(f"{path}.view.type: must be grid or cards")
    if view["type"] == "cards" and view.get("cardSize") not in ("medium", "large"):
        raise DocumentError(f"{path}.view.cardSize: must be medium or large")
    columns = view.get("columns")
    if not isinstance(columns, list) or not all(isinstance(name, str) for name in columns):
        raise DocumentError(f"{path}.view.columns: must be an array of strings")
    if view["type"] == "grid":
        view.setdefault("hideHeader", False)
    widths = view.get("columnWidths", {})
    if not isinstance(widths, dict) or not all(_is_number(width) for width in widths.values()):
        raise DocumentError(f"{path}.view.columnWidths: must be an object whose values are numbers")
    for name, column in definition.items():
        here = f"{path}.definition.{name}"
        if not isinstance(column, dict) or column.get("type") not in schema.COLUMN_TYPES:
            raise DocumentError(f"{here}.type: must be one of {', '.join(schema.COLUMN_TYPES)}")
        if not isinstance(column.get("title", ""), str):
            raise DocumentError(f"{here}.title: must be a string")
        column["id"], column["title"] = name, column.get("title", "")
        if column["type"] == "text":
            column.setdefault("textAlignment", "left")
            if column["textAlignment"] not in ("center", "right", "left"):
                raise DocumentError(f"{here}.textAlignment: must be left, center, or right")
        if column["type"] == "rating" and not _is_number(column.get("max")):
            raise DocumentError(f"{here}.max: must be a number")
        if column["type"] == "select":
            _check_options(column, here)
    for name, record in records.items():
        here = f"{path}.records.{name}"
        if not isinstance(record, dict) or not isinstance(record.get("orderIndex"), str):
            raise DocumentError(f"{here}.orderIndex: must be a string")
        if not isinstance(record.get("values"), dict):
            raise DocumentError(f"{here}.values: must be an object")
        for column_id, value in record["values"].items():
            if column_id in definition and not _fits(definition[column_id]["type"], value):
                kind = definition[column_id]["type"]
                raise DocumentError(
                    f"{here}.values.{column_id}: must be a valid value for a column of type {kind}"
                )


def _check_options(column: Data, path: str) -> None:
    options = column.get("options")
    if not isinstance(options, list):
        raise DocumentError(f"{path}.options: must be an array")
    for at, option in enumerate(options):
        for name in ("value", "label", "color"):
            if not isinstance(option, dict) or not isinstance(option.get(name), str):
                raise DocumentError(f"{path}.options[{at}].{name}: must be a string")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 10**15


def _is_ref(value: object) -> bool:
    if not isinstance(value, dict) or value.get("kind") not in schema.REF_FIELDS:
        return False
    fields = schema.REF_FIELDS[value["kind"]]
    return all(isinstance(value.get(name), str) for name in fields) and (
        value["kind"] != "url" or safe_url(value["url"])
    )


def _fits(kind: str, value: object) -> bool:
    if value is None:
        return True
    if kind in ("number", "rating"):
        return _is_number(value)
    if kind == "checkbox":
        return isinstance(value, bool)
    if kind == "select":
        return isinstance(value, str) or (
            isinstance(value, list) and all(isinstance(item, str) for item in value)
        )
    if kind in ("files", "users"):
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    if kind == "text":
        return isinstance(value, str)
    if kind == "image" and isinstance(value, dict) and "ref" in value:
        return _is_ref(value["ref"]) and all(
            isinstance(value.get(name, ""), str) for name in ("objectFit", "alt")
        )
    return _is_ref(value)


_UNCLEAN = re.compile(r"[\x00\ud800-\udfff]")


def clean(text: str) -> str:
    """Return the text without characters that Markdown can't contain: NUL and lone surrogates become U+FFFD, and all
    line breaks become line feeds."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _UNCLEAN.sub("\ufffd", text) if _UNCLEAN.search(text) else text


def _name(value: object) -> str:
    if value is None:
        return "nothing"
    for types, name in (
        (bool, "a boolean"),
        ((int, float), "a number"),
        (str, "a string"),
        (list, "an array"),
    ):
        if isinstance(value, types):
            return name
    return "an object"


def _shown(value: object) -> str:
    return f'"{value[:60]}"' if isinstance(value, str) else _name(value)
