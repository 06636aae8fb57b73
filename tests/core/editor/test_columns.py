"""Cells of tables in the wrong column are put in order, and no word is lost."""

from __future__ import annotations

import itertools
import random

from prosemirror.model import Node

from octavo.core.editor.columns import column_steps
from octavo.core.editor.schema import SCHEMA
from octavo.core.editor.steps import apply_steps
from octavo.core.editor.writing import attrs_of


def paragraph(text: str) -> Node:
    return SCHEMA.nodes["paragraph"].create(None, SCHEMA.text(text) if text else None)


def heading(col: str | None, title: str | None = None, type: str = "text") -> Node:
    text = SCHEMA.text(found) if (found := col if title is None else title) else None
    return SCHEMA.nodes["table_heading"].create({"col": col, "column": {"type": type}}, text)


def cell(col: str | None, text: str = "") -> Node:
    return SCHEMA.nodes["table_cell"].create({"col": col}, paragraph(text))


def value(col: str | None, given: object) -> Node:
    return SCHEMA.nodes["table_value"].create({"col": col, "value": given})


def page(heads: list[Node], *rows: list[Node]) -> Node:
    head = SCHEMA.nodes["table_head"].create(None, heads)
    table = SCHEMA.nodes["table"].create(
        {"data": {"view": {}}}, [head, *(SCHEMA.nodes["table_row"].create(None, row) for row in rows)]
    )
    return SCHEMA.nodes["doc"].create(None, [paragraph("Above."), table, paragraph("Below.")])


def aligned(doc: Node) -> list[object]:
    """Return the texts of the rows of the table, and of the blocks below it."""
    keys = map("new-{}".format, itertools.count())
    found = apply_steps(doc, column_steps(doc, keys)).doc
    found.check()
    assert column_steps(found, keys) == []
    _, table, *below = found.children
    rows: list[object] = [
        [
            attrs_of(one)["value"] if one.type.name == "table_value" else one.text_content
            for one in row.children
        ]
        for row in table.children
    ]
    return [*rows, *(block.text_content for block in below)]


def test_rows_get_the_order_of_the_headings() -> None:
    heads = [heading(col) for col in "XYZ"]
    doc = page(
        heads,
        [cell("X", "x"), cell("Y", "y"), cell("Z", "z")],
        [cell("Z", "z"), cell("X", "x"), cell("Y", "y")],
        [cell("Y", "y")],
        [],
    )
    in_order = ["x", "y", "z"]
    assert aligned(doc) == [["X", "Y", "Z"], in_order, in_order, ["", "y", ""], ["", "", ""], "Below."]


def test_words_of_deleted_columns_are_put_below_the_table() -> None:
    doc = page(
        [heading("X")],
        [cell("Y", "first"), cell("X", "x"), cell("Z")],
        [value("Z", ["one", "two"]), value("Y", 7), value("Y", False), cell("X")],
        [value("Z", {"kind": "url", "url": "https://a.example"})],
    )
    words = ["first", "one, two", "7", "https://a.example", "Below."]
    assert aligned(doc) == [["X"], ["x"], [""], [""], *words]


def test_a_column_that_two_people_moved_is_there_once() -> None:
    doc = page(
        [heading("X"), heading("Y"), heading("X")],
        [cell("X", "x"), cell("Y", "y"), cell("X", "x")],
        [cell("X"), cell("Y"), cell("X", "late")],
    )
    assert aligned(doc) == [["X", "Y"], ["x", "y"], ["", ""], "late", "Below."]
    # One of them may be what remained of a deleted heading, and with two titles there are two columns.
    emptied = page([heading("X", ""), heading("Y"), heading("X")], [cell("X", "x"), cell("Y", "y")])
    assert aligned(emptied) == [["Y", "X"], ["y", "x"], "Below."]
    renamed = page([heading("X"), heading("Y"), heading("X", "Other")], [cell("X", "x"), cell("Y", "y")])
    assert aligned(renamed) == [["X", "Y", "Other"], ["x", "y", ""], "Below."]


def test_cells_without_a_column_get_the_missing_ones_in_order() -> None:
    doc = page(
        [heading(None, "A"), heading("Y"), heading(None, "C", "checkbox")],
        [cell(None, "a"), cell("Y", "y"), value(None, True)],
        [cell("Y", "y")],
    )
    assert aligned(doc) == [["A", "Y", "C"], ["a", "y", True], ["", "y", False], "Below."]


def test_a_long_table_is_put_in_order_in_one_step() -> None:
    rows = [[cell("X", f"x{number}"), cell("Y", f"y{number}"), cell("Z")] for number in range(1_200)]
    rows[7][2] = cell("Z", "left")
    doc = page([heading("Y"), heading("X")], *rows)
    assert len(column_steps(doc, iter(()))) == 1
    found = aligned(doc)
    assert found[:2] == [["Y", "X"], ["y0", "x0"]] and found[1_200:] == [["y1199", "x1199"], "left", "Below."]


def test_no_word_of_any_table_is_lost() -> None:
    chosen = random.Random(48)
    for _ in range(300):
        number = itertools.count()
        columns = [*"ABCDE", None]
        heads = [heading(chosen.choice(columns), f"t{next(number)}") for _ in range(chosen.randint(1, 5))]
        rows = [
            [cell(chosen.choice(columns), f"w{next(number)}") for _ in range(chosen.randint(0, 6))]
            for _ in range(chosen.randint(0, 4))
        ]
        found = str(aligned(page(heads, *rows)))
        assert all(f"{one.text_content}'" in found for part in (heads, *rows) for one in part)
