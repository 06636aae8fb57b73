"""Convert documents from the editor's format to API documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import cast

from prosemirror.model import Mark, Node

from octavo.core.document.json import with_action
from octavo.core.document.schema import BLOCKS, INLINES
from octavo.core.json_types import JsonObject

from .schema import BLOCK_NAMES, INLINE_NAMES, MARK_RANK, SPANS

_UNPLACED = 100
"""Position of marks without a stored position: after all marks that have one."""


def attrs_of(node: Node | Mark) -> JsonObject:
    """Return the attributes of a node or mark. Their values can be any JSON."""
    return cast(JsonObject, node.attrs)


def is_written(node: Node) -> bool:
    """Return whether to write a block. Empty paragraphs aren't written, because they only give people a place to
    type."""
    return bool(node.type.name != "paragraph" or node.content.size or attrs_of(node).get("blank"))


def block_key(node: Node) -> str | None:
    """Return the key of a block or block part."""
    attrs = attrs_of(node)
    key: str | None = (attrs["json"] if node.type.name == "opaque" else attrs).get("key")
    return key


def children_at(parent: Node, start: int) -> Iterator[tuple[Node, int]]:
    """Yield the children of a node with their positions. ``start``: the start of its content."""
    for node in parent.children:
        yield node, start
        start += node.node_size


def last_uid(doc: Node) -> int:
    """Return the highest number of the links and annotations in a document."""
    found = 0
    stack = [doc]
    while stack:
        node = stack.pop()
        for mark in node.marks:
            if mark.type.name in SPANS and isinstance(attrs_of(mark)["uid"], int):
                found = max(found, attrs_of(mark)["uid"])
        stack += node.children
    return found


def write_block(node: Node) -> JsonObject:
    """Return a block in the API's format."""
    if node.type.name == "opaque":
        opaque: JsonObject = attrs_of(node)["json"]
        return opaque
    type = BLOCK_NAMES[node.type.name]
    kind = BLOCKS[type]
    block = {"object": "block", "type": type, "isVoid": kind.children is None, **_attributes(node)}
    if type == "table":
        return block | _write_table(node)
    if type == "expandable":
        title, body = node.children
        block["fragments"] = [
            _fragment(title, "expandable-title", [write_block(title.child(0))]),
            _fragment(body, "expandable-body", _write_blocks(body)),
        ]
    elif kind.children == "inlines":
        block["nodes"] = _write_run(node.children, ())
    elif type == "list-item":
        block["nodes"] = _write_filled(node)
    elif kind.children is not None:
        block["nodes"] = _write_blocks(node)
    elif kind.fragments:
        written = [(caption, _write_blocks(caption)) for caption in node.children]
        fragments = [_fragment(caption, "caption", nodes) for caption, nodes in written if nodes]
        if fragments or type == "image":
            block["fragments"] = fragments
    return block


def _write_blocks(parent: Node) -> list[JsonObject]:
    return [write_block(child) for child in parent.children if is_written(child)]


def _write_filled(parent: Node) -> list[JsonObject]:
    """Return the blocks of an item or a cell. If there is no content, return an empty paragraph."""
    return _write_blocks(parent) or [write_block(parent.child(0))]


def _attributes(node: Node | Mark) -> JsonObject:
    attrs = attrs_of(node)
    found = {"key": attrs["key"]} if attrs.get("key") else {}
    found["data"] = attrs["data"]
    if attrs.get("meta"):
        found["meta"] = attrs["meta"]
    return found


def _fragment(node: Node, fragment: str, nodes: list[JsonObject]) -> JsonObject:
    found: JsonObject = {"object": "fragment", "fragment": fragment}
    found |= {name: attrs_of(node)[name] for name in ("type", "key") if attrs_of(node).get(name)}
    found["nodes"] = nodes
    return found


class _Names:
    """Names of the parts of a table. Existing parts keep their names; new parts and copies get unused names."""

    def __init__(self, taken: Iterable[str], known: Iterable[str | None]) -> None:
        self.taken = set(taken)
        self.known = {name for name in known if name is not None}

    def give(self, own: str | None, make: Callable[[int], str], first: int) -> str:
        name, number = own, first
        while name is None or name in self.taken:
            made = make(number)
            name = None if made in self.known else made
            number += 1
        self.taken.add(name)
        return name


def _write_table(node: Node) -> JsonObject:
    data = dict(attrs_of(node)["data"])
    view, hidden, rest = data.pop("view", {}), attrs_of(node)["hidden"], attrs_of(node)["rest"]
    head, *rows = node.children
    column_names = _Names(hidden, (attrs_of(heading)["id"] for heading in head.children))
    row_names = _Names((), (attrs_of(row)["id"] for row in rows))
    cells = [cell for row in rows for cell in row.children]
    cell_names = _Names(
        (part["fragment"] for part in rest), (attrs_of(cell).get("fragment") for cell in cells)
    )
    columns: list[str] = []
    definition = {}
    for at, heading in enumerate(head.children):
        id = column_names.give(attrs_of(heading)["id"], "c{}".format, at + 1)
        columns.append(id)
        definition[id] = {**attrs_of(heading)["column"], "id": id, "title": heading.text_content}
    orders = [attrs_of(row)["order"] for row in rows]
    is_ordered = all(
        order is not None and (not at or orders[at - 1] < order) for at, order in enumerate(orders)
    )
    fragments, records = [], {}
    for number, row in enumerate(rows):
        id = row_names.give(attrs_of(row)["id"], "r{}".format, number + 1)
        values = dict(attrs_of(row)["values"])
        # A row can have more cells than there are columns while it is edited.
        for column, cell in zip(columns, row.children, strict=False):
            if cell.type.name == "table_value":
                if attrs_of(cell)["value"] is not None:
                    values[column] = attrs_of(cell)["value"]
            elif not attrs_of(cell)["absent"] or cell.child_count > 1 or is_written(cell.child(0)):
                name = cell_names.give(attrs_of(cell)["fragment"], _cell_name(f"{id}{column}"), 1)
                values[column] = name
                fragments.append(_fragment(cell, name, _write_filled(cell)))
        order = orders[number] if is_ordered else f"{number + 1:06}"
        records[id] = {"orderIndex": order, "values": values}
    data |= {"view": {**view, "columns": columns}, "records": records, "definition": {**definition, **hidden}}
    return {"data": data, "fragments": [*fragments, *rest]}


def _cell_name(base: str) -> Callable[[int], str]:
    return lambda number: f"{base}-{number}" if number > 1 else base


def _write_run(nodes: Sequence[Node], within: tuple[Mark, ...]) -> list[JsonObject]:
    """Return adjacent inline nodes in the API's format. ``within``: the links and annotations around them that have
    already been written."""
    found: list[JsonObject] = []
    at = 0
    while at < len(nodes):
        node = nodes[at]
        outer, end = _outer_span(nodes, at, within)
        if outer is not None:
            span = {"object": "inline", "type": outer.type.name, "isVoid": False, **_attributes(outer)}
            span["nodes"] = _write_run(nodes[at:end], (*within, outer))
            if outer.type.name == "annotation":
                span["fragments"] = attrs_of(outer)["fragments"]
            found.append(span)
            at = end
            continue
        at += 1
        name = node.type.name
        if name in ("text", "hard_break"):
            text = node.text if node.text is not None else "\n"
            _add_leaf(found, {"object": "leaf", "text": text, "marks": _write_marks(node.marks)})
        elif name == "held":
            found.append(attrs_of(node)["json"])
        else:
            type = INLINE_NAMES[name]
            attributes = _attributes(node)
            if type == "button":
                attributes["data"] = with_action(attributes["data"])
            is_void = INLINES[type].children is None
            found.append({"object": "inline", "type": type, "isVoid": is_void, **attributes})
    return found


def _outer_span(nodes: Sequence[Node], at: int, within: tuple[Mark, ...]) -> tuple[Mark | None, int]:
    """Return the outermost link or annotation that starts at a node, and its end. The longest match counts as the
    outermost; if several have the same length, the one that comes first in the original document is used."""
    outer, end = None, at + 1
    for mark in nodes[at].marks:
        if mark.type.name not in SPANS or mark.is_in_set(list(within)):
            continue
        stop = at + 1
        while stop < len(nodes) and mark.is_in_set(nodes[stop].marks):
            stop += 1
        if outer is None or stop > end or (stop == end and attrs_of(mark)["uid"] < attrs_of(outer)["uid"]):
            outer, end = mark, stop
    return outer, end


def _add_leaf(found: list[JsonObject], leaf: JsonObject) -> None:
    if not found or found[-1]["object"] != "text":
        found.append({"object": "text", "leaves": [leaf]})
        return
    leaves = found[-1]["leaves"]
    if leaves[-1]["marks"] == leaf["marks"]:
        leaves[-1]["text"] += leaf["text"]
    else:
        leaves.append(leaf)


def _write_marks(marks: Sequence[Mark]) -> list[JsonObject]:
    own = [mark for mark in marks if mark.type.name not in SPANS]
    if any(attrs_of(mark)["at"] is not None for mark in own):
        own.sort(key=_place)
    return [_write_mark(mark) for mark in own]


def _place(mark: Mark) -> int:
    place: int | None = attrs_of(mark)["at"]
    return _UNPLACED + MARK_RANK[mark.type.name] if place is None else place


def _write_mark(mark: Mark) -> JsonObject:
    written: JsonObject = {"object": "mark", "type": mark.type.name}
    if mark.type.name == "color":
        written["data"] = {"text": attrs_of(mark)["text"], "background": attrs_of(mark)["background"]}
    return written
