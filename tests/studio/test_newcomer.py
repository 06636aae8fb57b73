"""The first guide of a newcomer: five pages with a table, a diagram, a formula, two images, and an embed are
written, linked, reviewed, and published, using only what the screen shows."""

from __future__ import annotations

import base64
import re
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect

from .conftest import App

pytestmark = pytest.mark.slow

PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def _saved(page: Any) -> None:
    expect(page.get_by_role("status").filter(has_text="Saved").first).to_be_visible()


def _insert(page: Any, name: str) -> None:
    page.keyboard.type(f"/{name}")
    page.get_by_role("listbox", name="Insert").get_by_role("option", name=name).first.wait_for()
    page.keyboard.press("Enter")


def _go_below(page: Any) -> None:
    page.keyboard.press("ControlOrMeta+End")
    page.keyboard.press("Enter")


def _click_below(page: Any) -> None:
    """Click near the bottom of the screen, below the last block."""
    box = page.get_by_role("main").bounding_box()
    page.mouse.click(box["x"] + 80, box["y"] + box["height"] - 12)
    expect(page.get_by_role("textbox", name="Page content")).to_be_focused()


def _add_page(page: Any, title: str, text: str) -> None:
    page.get_by_role("button", name="New page").click()
    field = page.get_by_role("textbox", name="Title")
    expect(field).to_have_value("Untitled")
    expect(field).to_be_focused()
    page.keyboard.type(title)
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="Page content")).to_be_focused()
    page.keyboard.type(text)
    page.keyboard.press("Enter")


def _add_image(page: Any, name: str) -> None:
    _insert(page, "Image")
    with page.expect_file_chooser() as chosen:
        page.get_by_text("Choose file", exact=True).click()
    chosen.value.set_files({"name": name, "mimeType": "image/png", "buffer": PICTURE})


def _colors(image: Any) -> set[str]:
    """Return the colors of a diagram, which is an image with its drawing in its URL."""
    return set(re.findall(r"%23[0-9a-f]{6}", image.get_attribute("src").lower()))


def test_a_newcomer_writes_links_reviews_and_publishes_a_guide(app: App) -> None:
    page = app.open("/")
    page.get_by_role("button", name="New space or collection").click()
    page.get_by_role("menuitem", name="New space").click()
    expect(page.get_by_label("Space name")).to_be_focused()
    page.keyboard.type("Harbor guide")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Start writing").click()
    page.get_by_role("textbox", name="Title").fill("Welcome")
    page.keyboard.press("Enter")
    page.keyboard.type("How boats come in.")
    page.keyboard.press("Enter")
    _saved(page)

    _add_page(page, "Berths", "Where boats lie.")
    _insert(page, "Table")
    for cell in ("Berth", "Depth", "Use", "A1", "4 m", "Visitors"):
        page.keyboard.type(cell)
        page.keyboard.press("Tab")
    _click_below(page)
    page.keyboard.type("Ask at the office.")
    _saved(page)

    _add_page(page, "Arrival", "What happens.")
    _insert(page, "Diagram")
    page.get_by_role("status").filter(has_text="Valid").wait_for()
    drawn = _colors(page.get_by_role("textbox", name="Page content").locator("img").first)
    _go_below(page)
    _saved(page)

    _add_page(page, "Fees", "What it costs.")
    _insert(page, "Formula")
    source = page.get_by_role("complementary", name="Formula").get_by_role("textbox")
    expect(source).to_be_focused()
    page.keyboard.type("f = 2 l + d")
    _click_below(page)
    expect(page.get_by_role("complementary", name="Formula")).to_be_hidden()
    _add_image(page, "tariff.png")
    _saved(page)

    _add_page(page, "Map", "Where everything is.")
    expect(page.get_by_text("Added “Untitled”")).to_have_count(1)
    _add_image(page, "map.png")
    # The image is selected, so writing goes on below it.
    page.locator(".ProseMirror-selectednode").filter(has=page.locator("img")).wait_for()
    page.keyboard.press("Enter")
    _insert(page, "Embed")
    page.keyboard.type("https://www.youtube.com/watch?v=abc_DEF-123")
    page.keyboard.press("Enter")
    page.keyboard.type("Watch the entrance.")
    _saved(page)

    # The first page links to the second one.
    page.get_by_role("tree", name="Pages").get_by_role("treeitem", name="Welcome").click()
    expect(page.get_by_role("textbox", name="Title")).to_have_value("Welcome")
    page.get_by_role("textbox", name="Page content").click()
    page.keyboard.press("ControlOrMeta+End")
    page.keyboard.type("Start with @Ber")
    page.get_by_role("option", name="Berths").first.wait_for()
    page.keyboard.press("Enter")
    _saved(page)
    # The caret of the first visit is gone.
    expect(page.locator(".caret")).to_have_count(0)

    page.get_by_role("button", name="Request review").click()
    expect(page.get_by_role("combobox", name="Reviewers")).to_be_focused()
    page.keyboard.press("ControlOrMeta+Enter")
    expect(page.get_by_text("is ready for review")).to_be_visible()
    page.get_by_role("tab", name="Review").click()
    expect(page.get_by_role("heading", name="Reviewers")).to_be_visible()
    page.get_by_role("button", name="Merge").click()
    expect(page.get_by_text("Merged “")).to_be_visible()
    # A merged change request can't become a draft again.
    expect(page.get_by_text("is ready for review")).to_have_count(0)
    expect(page.get_by_role("heading", name="Welcome", level=1)).to_be_visible()

    page.get_by_role("button", name="Publish…").click()
    dialog = page.get_by_role("dialog", name="New site")
    expect(dialog.get_by_label("Harbor guide")).to_be_checked()
    dialog.get_by_role("button", name="Create site").click()
    page.get_by_role("tab", name="Overview").wait_for()
    page.keyboard.press("ControlOrMeta+k")
    page.keyboard.type("publish")
    page.get_by_role("option", name="Publish…").click()
    page.get_by_role("dialog").get_by_role("button", name="Publish", exact=True).click()
    address = page.get_by_role("textbox", name="URL", exact=True).input_value().rstrip("/")
    home = httpx.get(f"{address}/", follow_redirects=True).text
    assert "How boats come in." in home and "berths" in home
    shown = {one: httpx.get(f"{address}/{one}").text for one in ("berths", "fees", "map")}
    assert "<table" in shown["berths"] and "Visitors" in shown["berths"]
    assert "<p>Ask at the office.</p>" in shown["berths"]
    assert "<math" in shown["fees"] and "tariff" in shown["fees"]
    assert shown["map"].index("map.png") < shown["map"].index("youtube")
    assert "<p>Watch the entrance.</p>" in shown["map"]
    page.goto(f"{address}/arrival")
    diagram = page.locator(".diagram img").first
    diagram.wait_for(state="attached")
    # The primary color, in which Mermaid doesn't draw unless it's given.
    assert "%232f55c8" in drawn & _colors(diagram)
    page.context.close()
