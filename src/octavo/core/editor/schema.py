"""Schema of the editor's documents.

The same schema is in ``web/studio/document/schema.ts``, and a test compares the two. ``VERSION`` changes with the
schema: editors that were loaded with a different version can't take part in live editing until they are reloaded.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

from prosemirror.model import Schema

from octavo.core.document.schema import BLOCKS, INLINES, MARKS, NESTED_ONLY
from octavo.core.json_types import JsonObject

_Attrs = dict[str, JsonObject]

_NODE: Final[_Attrs] = {"key": {"default": None}, "data": {"default": {}}, "meta": {"default": None}}
_FRAGMENT: Final[_Attrs] = {
    "key": {"default": None},
    "fragment": {"default": None},
    "type": {"default": None},
}

_COLUMN: Final[_Attrs] = {"col": {"default": None}}
"""Key of the column of a heading or cell, by which each row keeps the order of the headings."""

_CONTENT: Final = {
    "image": "caption?",
    "file": "caption?",
    "embed": "caption?",
    "expandable": "expandable_title expandable_body",
    "table": "table_head table_row*",
    "unknown": "block*",
    "api-part": "block*",
    "api-method": "block*",
}
"""Content of types for which ``children`` isn't a full description."""
_MORE_ATTRS: Final[dict[str, _Attrs]] = {
    "paragraph": {"blank": {"default": False}},
    "table": {"hidden": {"default": {}}, "rest": {"default": []}},
}
_IN_CELLS: Final = frozenset(
    (
        *("paragraph", "heading-1", "heading-2", "heading-3"),
        *("list-unordered", "list-ordered", "list-tasks"),
        *("blockquote", "code", "images", "divider", "unknown"),
    )
)
"""Blocks that a table cell can contain."""
_MARK_ORDER: Final = (
    *("link", "annotation", "color", "bold", "italic"),
    *("strikethrough", "keyboard", "superscript", "subscript", "code"),
)
"""Marks in order from outermost to innermost."""
SPANS: Final = frozenset(("link", "annotation"))
"""Inlines that are marks in the editor."""


def editor_name(object: str, type: str) -> str:
    """Return the editor's name for a node type. ``object``: ``block`` or ``inline``. The names can differ, because
    blocks, inlines, and marks in documents may share a name."""
    name = type.replace("-", "_")
    if object == "inline":
        return f"inline_{name}" if type in BLOCKS else name
    return f"{name}_block" if type in MARKS else name


def _content(type: str, children: str | None) -> str:
    if type in _CONTENT:
        return _CONTENT[type]
    if children is None:
        return ""
    if children == "inlines":
        return "inline*"
    return "block+" if children == "blocks" else f"{editor_name('block', children)}+"


def _nodes() -> dict[str, JsonObject]:
    found: dict[str, JsonObject] = {"doc": {"content": "block+"}}
    for type, kind in BLOCKS.items():
        content = _content(type, kind.children)
        node: JsonObject = {"content": content, "attrs": _NODE | _MORE_ATTRS.get(type, {})}
        if type not in NESTED_ONLY:
            node["group"] = "block in_cells" if type in _IN_CELLS else "block"
        if type == "code-line":
            node["marks"] = "_"
        found[editor_name("block", type)] = node
    found |= {
        "caption": {"content": "paragraph+", "attrs": _FRAGMENT},
        "expandable_title": {"content": "paragraph", "attrs": _FRAGMENT},
        "expandable_body": {"content": "block+", "attrs": _FRAGMENT},
        "table_head": {"content": "table_heading+", "attrs": {}},
        "table_heading": {
            "content": "text*",
            "marks": "",
            "attrs": {
                "id": {"default": None},
                "column": {"default": {"type": "text", "textAlignment": "left"}},
                **_COLUMN,
            },
        },
        "table_row": {
            "content": "(table_cell | table_value)*",
            "attrs": {"id": {"default": None}, "order": {"default": None}, "values": {"default": {}}},
        },
        "table_cell": {
            "content": "in_cells+",
            "attrs": {**_FRAGMENT, "absent": {"default": False}, **_COLUMN},
        },
        "table_value": {"content": "", "attrs": {"value": {"default": None}, **_COLUMN}},
        "opaque": {"content": "", "group": "block in_cells", "attrs": {"json": {}}},
        "text": {"content": "", "group": "inline"},
        "hard_break": {"content": "", "inline": True, "group": "inline"},
    }
    for type in INLINES:
        if type not in SPANS:
            name = editor_name("inline", type)
            found[name] = {"content": "", "inline": True, "group": "inline", "attrs": _NODE}
    found["held"] = {
        "content": "",
        "inline": True,
        "group": "inline",
        "attrs": {"json": {}},
    }
    return found


def _marks() -> dict[str, JsonObject]:
    found = {}
    for type in (*_MARK_ORDER, *(mark for mark in MARKS if mark not in _MARK_ORDER)):
        attrs: _Attrs = {"at": {"default": None}}
        if type in SPANS:
            attrs = {"uid": {"default": 0}, **_NODE, "fragments": {"default": []}}
        elif type == "color":
            attrs |= {"text": {"default": "default"}, "background": {"default": "default"}}
        found[type] = {"attrs": attrs}
    return found


SPEC: Final[dict[str, JsonObject]] = {"nodes": _nodes(), "marks": _marks()}
VERSION: Final = hashlib.sha256(json.dumps(SPEC).encode()).hexdigest()[:16]
SCHEMA: Final[Schema[Any, Any]] = Schema(SPEC)  # type: ignore[arg-type]
MARK_RANK: Final = {name: rank for rank, name in enumerate(SPEC["marks"])}

BLOCK_NAMES: Final = {editor_name("block", type): type for type in BLOCKS}
INLINE_NAMES: Final = {editor_name("inline", type): type for type in INLINES}
