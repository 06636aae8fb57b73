"""Keep the cells of tables in their columns.

Cells have the key of their column, so that a row that one person adds, moves, or edits can be put in order after
another person added, moved, or deleted columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace as replaced
from prosemirror.model import Fragment, Node, Slice
from prosemirror.transform import ReplaceStep
from prosemirror.utils import JSON

from octavo.core.json_types import JsonObject

from .schema import SCHEMA
from .steps import StepJson
from .writing import attrs_of, children_at

_MOST_STEPS = 2_000
"""Number of steps after which a table is replaced as a whole, because each step takes time."""


class _Cell(Struct, frozen=True):
    column: str | None
    node: Node


def column_steps(doc: Node, new_keys: Iterator[str]) -> list[StepJson]:
    """Return the steps that put all cells of each table in the order of the headings. They also insert missing cells,
    and move the text of cells without a column below the table. ``new_keys``: keys for columns without a unique key."""
    steps: list[StepJson] = []
    stack = list(children_at(doc, 0))
    tables = []
    while stack:
        node, position = stack.pop()
        if node.type.name == "table":
            tables.append((node, position))
        elif not node.is_textblock:
            stack += children_at(node, position + 1)
    # From the end, so that no step moves the positions of the next ones.
    for table, position in sorted(tables, key=lambda found: -found[1]):
        steps += _Alignment(table, position, new_keys).steps
    return steps


class _Alignment:
    """Steps that align the rows of a table at a position."""

    def __init__(self, table: Node, position: int, new_keys: Iterator[str]) -> None:
        self.steps: list[StepJson] = []
        head, *rows = children_at(table, position + 1)
        heads, renamed, gone = _keys_of(head[0], new_keys)
        self.types = [
            attrs_of(heading)["column"].get("type", "text")
            for at, heading in enumerate(head[0].children)
            if at not in gone
        ]
        left: list[Node] = []
        aligned: list[Node] = []
        for row, start in reversed(rows):
            kept, others = self._align(row, start, heads)
            aligned.insert(0, row.copy(Fragment.from_(kept)))
            left = [*others, *left]
        if len(self.steps) > _MOST_STEPS:
            headings = [
                _in_column(heading, renamed[at]) if at in renamed else heading
                for at, heading in enumerate(head[0].children)
                if at not in gone
            ]
            found = table.copy(Fragment.from_([head[0].copy(Fragment.from_(headings)), *aligned]))
            self.steps = [_replacement(position, position + table.node_size, [found, *left])]
            return
        starts = [at for _, at in children_at(head[0], head[1] + 1)]
        for at, key in renamed.items():
            self.steps.append({"stepType": "attr", "pos": starts[at], "attr": "col", "value": key})
        for at in sorted(gone, reverse=True):
            self._replace(starts[at], starts[at] + head[0].child(at).node_size)
        if left:
            end = position + table.node_size
            self.steps.insert(0, _replacement(end, end, left))

    def _align(self, row: Node, start: int, heads: Sequence[str]) -> tuple[list[Node], list[Node]]:
        """Put the cells of a row in order. Return them, and the blocks of cells without a column."""
        cells = _cells_of(row, heads)
        positions = [at for _, at in children_at(row, start + 1)]
        for cell, position in zip(cells, positions, strict=True):
            if cell.column != attrs_of(cell.node)["col"]:
                self.steps.append({"stepType": "attr", "pos": position, "attr": "col", "value": cell.column})
        cells = [
            replaced(cell, node=_in_column(cell.node, cell.column)) if cell.column is not None else cell
            for cell in cells
        ]
        position = start + 1
        for at, head in enumerate(heads):
            found = next((n for n in range(at, len(cells)) if cells[n].column == head), None)
            if found is None:
                cells.insert(at, _Cell(head, _empty_cell(self.types[at], head)))
                self._replace(position, position, [cells[at].node])
            elif found > at:
                # Recognized as a move, so changes of others in the cell go with it.
                moved = cells.pop(found)
                place = position + sum(cell.node.node_size for cell in cells[at:found])
                self._replace(place, place + moved.node.node_size)
                self._replace(position, position, [moved.node])
                cells.insert(at, moved)
            position += cells[at].node.node_size
        kept, left = cells[: len(heads)], cells[len(heads) :]
        if left:
            self._replace(position, position + sum(cell.node.node_size for cell in left))
        known = {cell.column: _words_of(cell.node) for cell in kept}
        others = [
            block
            for cell in left
            if (words := _words_of(cell.node)) and words != known.get(cell.column)
            for block in _blocks_of(cell.node)
        ]
        return [cell.node for cell in kept], others

    def _replace(self, start: int, end: int, nodes: Sequence[Node] = ()) -> None:
        self.steps.append(_replacement(start, end, nodes))


def _keys_of(head: Node, new_keys: Iterator[str]) -> tuple[list[str], dict[int, str], set[int]]:
    """Return the unique keys of the columns of a table, the new ones among them by index, and the indexes of headings
    that exist twice, because two people moved them."""
    kept: dict[str, int] = {}
    renamed: dict[int, str] = {}
    gone: set[int] = set()
    titles = [heading.text_content for heading in head.children]
    for at, heading in enumerate(head.children):
        key = attrs_of(heading)["col"]
        other = kept.get(key)
        if other is not None and titles[at] in ("", titles[other]):
            gone.add(at)
            continue
        if other is not None and not titles[other]:
            gone.add(other)
            del kept[key]
        elif other is not None or key is None:
            key = renamed[at] = next(new_keys)
        kept[key] = at
    return list(kept), renamed, gone


def _cells_of(row: Node, heads: Sequence[str]) -> list[_Cell]:
    """Return the cells of a row with their columns. Cells that were created without a column get those that the row
    doesn't have yet."""
    cells = [_Cell(attrs_of(cell)["col"], cell) for cell in row.children]
    columns = {cell.column for cell in cells}
    missing = (head for head in heads if head not in columns)
    return [replaced(cell, column=next(missing, None)) if cell.column is None else cell for cell in cells]


def _in_column(cell: Node, column: str) -> Node:
    return cell.type.create({**attrs_of(cell), "col": column}, cell.content, cell.marks)


def _empty_cell(type: str, column: str) -> Node:
    if type != "text":
        value = False if type == "checkbox" else None
        return SCHEMA.nodes["table_value"].create({"value": value, "col": column})
    attrs: JsonObject = {"absent": True, "col": column}
    return SCHEMA.nodes["table_cell"].create(attrs, SCHEMA.nodes["paragraph"].create())


def _words_of(cell: Node) -> list[object]:
    """Return the text and other leaves of a cell."""
    if cell.type.name == "table_value":
        return [text] if (text := _text_of(attrs_of(cell)["value"])) else []
    found: list[object] = []
    stack = list(reversed(cell.children))
    while stack:
        node = stack.pop()
        if node.is_leaf and node.type.name != "hard_break":
            found.append(node.text if node.text is not None else (node.type.name, attrs_of(node).get("data")))
        stack += reversed(node.children)
    return found


def _blocks_of(cell: Node) -> list[Node]:
    if cell.type.name != "table_value":
        return list(cell.children)
    return [SCHEMA.nodes["paragraph"].create(None, SCHEMA.text(_text_of(attrs_of(cell)["value"])))]


def _text_of(value: JSON) -> str:
    if isinstance(value, list):
        return ", ".join(filter(None, map(_text_of, value)))
    if isinstance(value, dict):
        return _text_of(value.get("url") or value.get("ref"))
    return "" if value is None or isinstance(value, bool) else str(value)


def _replacement(start: int, end: int, nodes: Sequence[Node]) -> StepJson:
    step: StepJson = dict(ReplaceStep(start, end, Slice(Fragment.from_(list(nodes)), 0, 0)).to_json())
    return step
