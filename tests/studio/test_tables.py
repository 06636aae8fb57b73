"""Cells of tables selected, pasted, cleared, and moved in a browser; the file contains what is shown."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from playwright.sync_api import expect

from settled import PATIENCE

from .conftest import wait_for_selection

TABLE = """# Page

Before.

| Name | Size | Use |
| ---- | ---- | --- |
| one  | 1    | a   |
| two  | 2    | b   |
| three | 3   | c   |

Behind.
"""


class Sheet:
    """A page of a change request with this Markdown, open in a browser."""

    def __init__(self, app: Any, markdown: str = TABLE, title: str = "Tables") -> None:
        self.app = app
        self.space = app.create_space(title)
        changes = f"/spaces/{self.space}/change-requests"
        made = app.call("POST", changes, {"subject": "Words"})
        page = {
            "operation": "insert_page",
            "slug": "page",
            "title": "Page",
            "document": {"markdown": markdown},
        }
        app.call("POST", f"{changes}/{made['id']}/content", {"changes": [page]})
        self.content = f"{changes}/{made['number']}/content/path/page?format=markdown"
        self.path = f"/s/{self.space}/~/changes/{made['number']}/page"

    def open(self, **options: Any) -> Any:
        page = self.app.open(self.path, permissions=["clipboard-read", "clipboard-write"], **options)
        page.get_by_role("textbox", name="Page content").wait_for()
        wait_for_selection(page)
        return page

    def read(self) -> str:
        """Return the saved file."""
        return str(self.app.call("GET", self.content)["markdown"])

    def rows(self) -> list[list[str]]:
        """Return the cells of the first table of the saved file, the header row first."""
        lines = [line for line in self.read().splitlines() if line.startswith("|")]
        cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
        return [row for row in cells if not all(re.fullmatch(r":?-+:?", cell) for cell in row)]

    def until(self, rows: list[list[str]]) -> None:
        end = time.monotonic() + PATIENCE
        while self.rows() != rows and time.monotonic() < end:
            time.sleep(0.1)
        assert self.rows() == rows


def _cell(page: Any, words: str) -> Any:
    return page.locator("td, th", has_text=re.compile(f"^{words}$")).first


def _drag(page: Any, first: str, last: str) -> None:
    start, end = _cell(page, first).bounding_box(), _cell(page, last).bounding_box()
    page.mouse.move(start["x"] + 12, start["y"] + 12)
    page.mouse.down()
    page.mouse.move(end["x"] + 14, end["y"] + 14, steps=6)
    page.mouse.up()


def _paste(page: Any, **kinds: str) -> None:
    wait_for_selection(page)
    page.evaluate(
        """(kinds) => {
          const data = new DataTransfer();
          for (const [kind, value] of Object.entries(kinds)) data.setData(`text/${kind}`, value);
          document.querySelector(".ProseMirror").dispatchEvent(
            new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
        }""",
        kinds,
    )


def test_cells_are_selected_by_mouse_copied_cleared_and_restored(app):
    sheet = Sheet(app)
    page = sheet.open()
    _drag(page, "1", "b")
    bar = page.get_by_role("toolbar", name="Cells")
    expect(bar.get_by_role("status")).to_have_text("4 cells selected")
    page.keyboard.press("Control+c")
    assert page.evaluate("navigator.clipboard.readText()") == "1\ta\n2\tb"
    bar.get_by_role("button", name="Clear").click()
    head, third = ["Name", "Size", "Use"], ["three", "3", "c"]
    sheet.until([head, ["one", "", ""], ["two", "", ""], third])
    page.keyboard.press("Control+z")
    sheet.until([head, ["one", "1", "a"], ["two", "2", "b"], third])
    page.context.close()


def test_cells_are_selected_by_keyboard_and_rows_and_columns_moved(app):
    sheet = Sheet(app)
    page = sheet.open()
    _cell(page, "two").click()
    page.wait_for_function("() => getSelection().anchorNode?.textContent === 'two'")
    wait_for_selection(page)
    # As fast as keys can come, so that reports of the browser's own selection come between and after them.
    page.keyboard.press("Escape")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowDown")
    expect(page.locator(".selected-cell")).to_have_count(4)
    page.keyboard.press("Alt+ArrowUp")
    head, one, two, three = ["Name", "Size", "Use"], ["one", "1", "a"], ["two", "2", "b"], ["three", "3", "c"]
    sheet.until([head, two, three, one])
    page.keyboard.press("Alt+ArrowRight")
    sheet.until([[row[2], row[0], row[1]] for row in (head, two, three, one)])
    page.keyboard.press("Shift+Space")
    page.keyboard.press("Control+Backspace")
    sheet.until([[row[2], row[0], row[1]] for row in (head, one)])
    # Letters go into the chosen cell, and Escape leaves it for the table.
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowDown")
    page.keyboard.type("x")
    sheet.until([["Use", "Name", "Size"], ["x", "one", "1"]])
    page.context.close()


SHEETS = (
    '<meta charset="utf-8"><google-sheets-html-origin><style>td{}</style><table><colgroup><col></colgroup>'
    "<tbody><tr><td>x</td><td><a href='https://e.example/'>y</a></td></tr>"
    "<tr><td>z</td><td style='font-weight:bold'>w</td></tr></tbody></table></google-sheets-html-origin>"
)


@pytest.mark.parametrize(
    ("kinds", "cells"),
    [
        ({"plain": "x\ty\nz\tw\n"}, [["x", "y"], ["z", "w"]]),
        ({"html": SHEETS, "plain": "x\ty\nz\tw"}, [["x", "[y](https://e.example/)"], ["z", "w"]]),
        ({"plain": '"x ""1"""\t\nz\tw'}, [['x "1"', ""], ["z", "w"]]),
    ],
    ids=["text", "Sheets", "Excel"],
)
def test_pasted_cells_fill_cells_and_add_rows_and_columns(app, kinds, cells):
    sheet = Sheet(app)
    page = sheet.open()
    _cell(page, "c").click()
    _paste(page, **kinds)
    sheet.until(
        [
            ["Name", "Size", "Use", ""],
            ["one", "1", "a", ""],
            ["two", "2", "b", ""],
            ["three", "3", *cells[0]],
            ["", "", *cells[1]],
        ]
    )
    page.keyboard.press("Control+z")
    sheet.until([["Name", "Size", "Use"], ["one", "1", "a"], ["two", "2", "b"], ["three", "3", "c"]])
    page.context.close()


def test_cells_pasted_outside_a_table_become_a_table(app):
    sheet = Sheet(app, "# Page\n\nBefore.\n")
    page = sheet.open()
    page.get_by_text("Before.").click()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    _paste(page, plain="A\tB\n1\t2")
    sheet.until([["A", "B"], ["1", "2"]])
    page.context.close()


def test_menus_sort_and_insert_rows(app):
    sheet = Sheet(app)
    page = sheet.open()
    _cell(page, "Size").hover()
    page.get_by_role("button", name="Column").nth(1).click()
    page.get_by_role("menuitem", name="Sort descending").click()
    head, one, two, three = ["Name", "Size", "Use"], ["one", "1", "a"], ["two", "2", "b"], ["three", "3", "c"]
    sheet.until([head, three, two, one])
    _cell(page, "two").hover()
    page.get_by_role("button", name="Row", exact=True).click()
    page.get_by_role("menuitem", name="Add row below").click()
    page.keyboard.type("new")
    sheet.until([head, three, two, ["new", "", ""], one])
    page.context.close()


def test_table_settings_show_cards_and_hide_the_header(app):
    sheet = Sheet(app)
    page = sheet.open()
    _cell(page, "Size").hover()
    page.get_by_role("button", name="Column").nth(1).click()
    menu = page.get_by_role("menu", name="Column “Size”")
    menu.get_by_role("menuitem", name="Table settings").click()
    panel = page.get_by_role("complementary", name="Table")
    columns = panel.get_by_role("list", name="Columns")
    expect(columns.get_by_role("listitem")).to_contain_text(["Name", "Size", "Use"])
    panel.get_by_role("switch", name="Header row").uncheck()
    expect(page.locator("th", has_text="Size")).to_be_hidden()
    panel.get_by_role("switch", name="Header row").check()
    panel.get_by_role("button", name="Add column").click()
    expect(columns.get_by_role("listitem")).to_have_count(4)
    columns.get_by_role("button", name="Column “Size”").click()
    page.get_by_role("menuitem", name="Type").click()
    page.get_by_role("menuitemradio", name="Number").click()
    expect(columns.get_by_role("listitem").nth(1)).to_contain_text("Number")
    panel.get_by_role("button", name="Cards").click()
    expect(page.get_by_role("listitem").filter(has_text="two")).to_be_visible()
    page.context.close()


def test_cells_edited_by_two_people_at_once_are_both_kept(app):
    sheet = Sheet(app)
    ines, max_ = sheet.open(), sheet.open()
    _drag(ines, "one", "1")
    _cell(max_, "c").click()
    max_.keyboard.type("!")
    ines.keyboard.press("Delete")
    ines.keyboard.press("Alt+ArrowDown")
    _cell(max_, "b").click()
    max_.keyboard.type("?")
    wanted = [["Name", "Size", "Use"], ["two", "2", "b?"], ["", "", "a"], ["three", "3", "c!"]]
    sheet.until(wanted)
    for page in (ines, max_):
        expect(page.locator("tbody tr").last).to_contain_text("c!")
        page.context.close()


@pytest.mark.slow
def test_3000_rows_are_pasted_selected_and_cleared(app):
    sheet = Sheet(app)
    page = sheet.open()
    _cell(page, "c").click()
    _paste(page, plain="\n".join(f"p{row}\tq{row}" for row in range(3000)))
    rows = [["three", "3", "p0", "q0"], *(["", "", f"p{row}", f"q{row}"] for row in range(1, 3000))]
    sheet.until(
        [["Name", "Size", "Use", ""], ["one", "1", "a", ""], ["two", "2", "b", ""], *rows],
    )
    page.keyboard.press("Control+Space")
    page.keyboard.press("Delete")
    sheet.until(
        [["Name", "Size", "", ""], ["one", "1", "", ""], ["two", "2", "", ""], ["three", "3", "", ""]]
        + [["", "", "", ""]] * 2999
    )
    page.context.close()


MERGED = """# Page

<table><thead><tr><th>Env</th><th colspan="2">Where</th></tr></thead><tbody><tr><td>S</td><td>r</td>\
<td rowspan="2">A</td></tr><tr><td>T</td><td>m</td></tr><tr><td>x</td><td>y</td><td>z</td></tr></tbody></table>
"""


def test_merged_cells_are_shown_split_and_merged(app):
    sheet = Sheet(app, MERGED, "Merged cells")

    def saved(wanted: str) -> None:
        end = time.monotonic() + PATIENCE
        while wanted not in sheet.read() and time.monotonic() < end:
            time.sleep(0.1)
        assert wanted in sheet.read()

    page = sheet.open()
    expect(_cell(page, "A")).to_have_attribute("rowspan", "2")
    expect(page.locator("td:visible, th:visible")).to_have_count(10)
    _drag(page, "x", "y")
    bar = page.get_by_role("toolbar", name="Cells")
    bar.get_by_role("button", name="Merge cells").click()
    expect(page.locator("td[colspan='2']")).to_have_text("xy")
    saved('<td colspan="2">')
    assert '<td rowspan="2">A</td>' in sheet.read() and '<th colspan="2">Where</th>' in sheet.read()
    _cell(page, "A").click()
    expect(page.locator(".selected-cell")).to_have_count(0)
    page.keyboard.press("Escape")
    bar.get_by_role("button", name="Split cells").click()
    saved("<td>A</td>")
    expect(page.locator("td:visible, th:visible")).to_have_count(10)
    page.context.close()
