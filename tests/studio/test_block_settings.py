"""Settings of blocks in the side panel, images resized in place, and links that find their targets."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

from playwright.sync_api import expect

from settled import PATIENCE

from .conftest import wait_for_selection

PAGE = """# Page

Before.

## Own part

```python
a = 1
```

{% hint style="info" %}
words
{% endhint %}

Behind.
"""
PIXELS = (
    b"<svg xmlns='http://www.w3.org/2000/svg' width='400' height='100'>"
    b"<rect width='400' height='100' fill='teal'/></svg>"
)
FILE = {"name": "flow.svg", "mimeType": "image/svg+xml", "buffer": PIXELS}


class Draft:
    """A change request with two new pages, one of them open in a browser."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.space = app.create_space("Settings")
        changes = f"/spaces/{self.space}/change-requests"
        made = app.call("POST", changes, {"subject": "Words"})
        pages = [
            ("Page", "page", PAGE),
            ("Outbox", "outbox", "# Outbox\n\nA.\n\n## Reading the outbox\n\nB.\n"),
        ]
        inserts = [
            {"operation": "insert_page", "slug": slug, "title": title, "document": {"markdown": markdown}}
            for title, slug, markdown in pages
        ]
        app.call("POST", f"{changes}/{made['id']}/content", {"changes": inserts})
        self.content = f"{changes}/{made['number']}/content/path/page?format=markdown"
        self.path = f"/s/{self.space}/~/changes/{made['number']}/page"

    def open(self, **options: Any) -> Any:
        page = self.app.open(self.path, **options)
        page.get_by_role("textbox", name="Page content").wait_for()
        wait_for_selection(page)
        return page

    def markdown(self) -> str:
        return str(self.app.call("GET", self.content)["markdown"])

    def until(self, right: Callable[[str], Any]) -> None:
        end = time.monotonic() + PATIENCE
        while not right(self.markdown()) and time.monotonic() < end:
            time.sleep(0.1)
        assert right(self.markdown()), self.markdown()


def _go_behind(page: Any, words: str) -> None:
    page.get_by_text(words, exact=True).click()
    wait_for_selection(page)
    page.keyboard.press("End")
    wait_for_selection(page)


def test_settings_of_code_are_in_the_side_panel_and_close_by_keyboard(app):
    draft = Draft(app)
    page = draft.open()
    column = page.get_by_text("Before.").bounding_box()
    page.locator("figure.code").hover()
    page.get_by_role("button", name="Language and title").click()
    panel = page.get_by_role("complementary", name="Code: Python")
    panel.get_by_role("textbox", name="Title").fill("x.py")
    panel.get_by_role("textbox", name="Title").press("Tab")
    panel.get_by_role("switch", name="Line numbers").check()
    draft.until(lambda found: '{% code title="x.py" lineNumbers="true" %}\n```python' in found)
    assert page.get_by_text("Before.").bounding_box() == column
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    expect(page.get_by_role("textbox", name="Page content")).to_be_focused()
    page.context.close()


def test_an_image_gets_files_of_both_themes_alt_text_width_and_caption(app):
    draft = Draft(app)
    page = draft.open()
    _go_behind(page, "Behind.")
    page.keyboard.press("Enter")
    page.keyboard.type("/image")
    page.keyboard.press("Enter")
    page.locator(".link-box input[type=file]").set_input_files(FILE)
    image = page.locator("figure.image img")
    image.click()
    image.hover()
    page.get_by_role("button", name="Settings").last.click()
    panel = page.get_by_role("complementary", name="Image")
    panel.get_by_label("Dark: Upload file").set_input_files({**FILE, "name": "night.svg"})
    expect(panel.get_by_role("group", name="Dark")).to_contain_text("night.svg")
    panel.get_by_role("textbox", name="Alt text").fill("A flow")
    panel.get_by_role("combobox", name="Alignment").select_option("left")
    draft.until(lambda found: re.search(r"<picture>.*night\.svg.*flow\.svg.*alt=\"A flow\"", found))
    # Another file of the space, without an upload.
    panel.get_by_role("group", name="Dark").get_by_role("button", name="Replace").click()
    page.get_by_role("combobox", name="Paste a link or search pages").fill("flow")
    page.get_by_role("option", name="flow.svg").click()
    panel.get_by_role("group", name="Dark").get_by_role("button", name="Remove").click()
    draft.until(lambda found: "<picture>" not in found and "flow.svg" in found)
    page.locator("figure.image img").first.click()
    bar = page.get_by_role("toolbar", name="Image")
    expect(bar.get_by_role("button", name="Left")).to_have_attribute("aria-pressed", "true")
    bar.get_by_role("button", name="Right").click()
    draft.until(lambda found: 'align="right"' in found)
    page.keyboard.press("Alt+ArrowLeft")
    page.keyboard.press("Enter")
    page.keyboard.type("From here")
    draft.until(lambda found: re.search(r"width=\"3\d\d\".*From here", found))
    slider = page.get_by_role("slider", name="Resize from right edge")
    edge = slider.bounding_box()
    page.mouse.move(edge["x"] + 5, edge["y"] + 20)
    page.mouse.down()
    page.mouse.move(edge["x"] - 95, edge["y"] + 20, steps=4)
    page.mouse.up()
    draft.until(lambda found: re.search(r"width=\"2\d\d\"", found))
    page.context.close()


def test_the_link_box_finds_pages_headings_and_files_of_the_draft(app):
    draft = Draft(app)
    page = draft.open()
    _go_behind(page, "Behind.")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Shift+Home")
    wait_for_selection(page)
    page.keyboard.press("Control+k")
    box = page.get_by_role("combobox", name="Paste a link or search pages")
    box.fill("outbox")
    page.get_by_role("option", name="Outbox", exact=True).wait_for()
    page.get_by_role("option", name="Reading the outbox").click()
    draft.until(lambda found: "[Behind](outbox.md#reading-the-outbox)" in found)
    page.keyboard.press("End")
    page.keyboard.press("Control+k")
    box.fill("nothing like this")
    expect(page.get_by_text("No results for “nothing like this”")).to_be_visible()
    page.keyboard.press("Escape")
    page.context.close()


def test_a_mention_finds_headings_of_this_page_and_pages(app):
    draft = Draft(app)
    page = draft.open()
    _go_behind(page, "Behind.")
    page.keyboard.type(" @own")
    page.get_by_role("option", name="Own part").wait_for()
    page.keyboard.press("Enter")
    page.get_by_role("textbox", name="Page content").get_by_role("link", name="Own part").wait_for()
    draft.until(lambda found: "[Own part](#own-part)" in found)
    page.keyboard.type("@outb")
    page.get_by_role("option", name="Outbox", exact=True).wait_for()
    page.keyboard.press("Enter")
    page.locator(".mention", has_text="Outbox").wait_for()
    draft.until(lambda found: "outbox.md" in found)
    page.context.close()


def test_formulas_and_diagrams_are_rendered_while_typing(app):
    draft = Draft(app)
    page = draft.open()
    _go_behind(page, "Behind.")
    page.keyboard.press("Enter")
    page.keyboard.type("/formula")
    page.keyboard.press("Enter")
    expect(page.locator("math msup").first).to_be_visible()
    page.locator(".math").hover()
    page.get_by_role("button", name="Edit formula").click()
    source = page.get_by_role("complementary", name="Formula").get_by_role("textbox")
    source.fill("\\frac{1}{2}")
    expect(page.locator("math mfrac")).to_be_visible()
    draft.until(lambda found: "$$\n\\frac{1}{2}\n$$" in found)
    page.keyboard.press("Escape")
    _go_behind(page, "Before.")
    page.keyboard.press("Enter")
    page.keyboard.type("/diagram")
    page.keyboard.press("Enter")
    drawn = page.locator(".diagram-drawn img")
    expect(drawn).to_be_visible()
    before = drawn.get_attribute("src")
    page.get_by_text("A[First] --> B[Second]").click()
    wait_for_selection(page)
    page.keyboard.press("End")
    page.keyboard.type(" --> C[Third]")
    expect(page.get_by_text("Valid", exact=True)).to_be_visible()
    expect(drawn).not_to_have_attribute("src", before)
    page.keyboard.type(" -->")
    expect(page.get_by_text("The diagram has an error in line 2.")).to_be_visible()
    expect(drawn).to_be_visible()
    page.context.close()


def test_a_link_creates_a_page_under_the_current_one(app):
    draft = Draft(app)
    page = draft.open()
    _go_behind(page, "Behind.")
    page.keyboard.type(" [[Retries")
    page.get_by_role("option", name="Create page “Retries”").wait_for()
    page.keyboard.press("Enter")
    page.locator(".mention", has_text="Retries").wait_for()
    draft.until(lambda found: "retries.md" in found)
    made = app.call("GET", draft.content.replace("path/page?", "path/page%2Fretries?"))
    assert made["title"] == "Retries"
    # Text after @ is often no mention, so Enter must not create a page there.
    page.keyboard.type("@todo write this")
    draft.until(lambda found: "@todo write this" in found)
    expect(page.get_by_role("option", name="Create page")).to_have_count(0)
    page.context.close()


def test_tasks_dates_and_several_blocks_by_keyboard(app):
    draft = Draft(app)
    page = draft.open()
    _go_behind(page, "Behind.")
    page.keyboard.press("Enter")
    page.keyboard.type("[] Check this")
    page.keyboard.press("ControlOrMeta+Enter")
    draft.until(lambda found: "* [x] Check this" in found or "- [x] Check this" in found)
    page.keyboard.type(" @today")
    page.get_by_role("option", name="today").wait_for()
    page.keyboard.press("Enter")
    draft.until(lambda found: re.search(r"Check this \w+ \d+, \d{4}", found))
    _go_behind(page, "Before.")
    wait_for_selection(page)
    page.keyboard.press("Escape")
    page.keyboard.press("Shift+ArrowDown")
    wait_for_selection(page)
    page.keyboard.press("Delete")
    draft.until(lambda found: "Before." not in found and "Own part" not in found and "a = 1" in found)
    page.context.close()


def test_a_button_selects_tabs_and_has_a_size(app):
    draft = Draft(app)
    text = '<a href="outbox.md" class="button primary">Go</a>\n'
    change = draft.content.partition("/path/")[0]
    found = app.call("GET", f"{change}/path/page")
    update = {"operation": "update_page", "page": found["id"], "document": {"markdown": text}}
    app.call("POST", change, {"changes": [update]})
    page = draft.open()
    page.locator(".button", has_text="Go").dblclick()
    panel = page.get_by_role("complementary", name="Button")
    panel.get_by_label("Size").select_option("Large")
    panel.get_by_label("Action").select_option("Select tabs")
    panel.get_by_label("Selection name").fill("npm")
    panel.get_by_label("Selection name").press("Tab")
    draft.until(lambda found: 'data-size="large" data-action="select" data-slug="npm"' in found)
    page.context.close()


def test_several_blocks_are_moved_and_duplicated_together(app):
    draft = Draft(app)
    page = draft.open()
    _go_behind(page, "Before.")
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Shift+End")
    wait_for_selection(page)
    page.keyboard.press("Alt+ArrowDown")
    draft.until(lambda found: re.search(r"```\n\nBefore\.\n\n## Own part\n", found))
    page.keyboard.press("ControlOrMeta+d")
    draft.until(lambda found: found.count("Before.\n\n## Own part\n") == 2)
    page.keyboard.press("ControlOrMeta+/")
    page.get_by_role("menu", name="Block menu").get_by_role("menuitem", name="Delete").click()
    draft.until(lambda found: found.count("Before.\n\n## Own part\n") == 1)
    page.context.close()


def test_the_source_of_a_diagram_is_shown_while_it_is_edited(app):
    draft = Draft(app)
    page = draft.open()
    _go_behind(page, "Behind.")
    page.keyboard.press("Enter")
    page.keyboard.type("/diagram")
    page.keyboard.press("Enter")
    source = page.get_by_text("flowchart LR")
    expect(source).to_be_visible()
    _go_behind(page, "Behind.")
    expect(source).to_be_hidden()
    page.keyboard.press("ArrowDown")
    expect(page.locator(".with-diagram.ProseMirror-selectednode")).to_be_visible()
    expect(source).to_be_hidden()
    page.keyboard.press("Enter")
    expect(source).to_be_visible()
    _go_behind(page, "Behind.")
    page.locator(".diagram-drawn").click()
    expect(source).to_be_visible()
    page.context.close()


def test_a_file_that_was_just_uploaded_is_linked(app):
    draft = Draft(app)
    page = draft.open()
    _go_behind(page, "Behind.")
    page.keyboard.press("ControlOrMeta+k")
    page.get_by_role("dialog", name="Link").get_by_label("Upload file").set_input_files(FILE)
    draft.until(lambda found: re.search(r"\[flow\.svg\]\([^)]*flow\.svg\)", found))
    page.context.close()


def test_a_selected_block_opens_the_search_and_gets_a_paragraph_below(app):
    draft = Draft(app)
    page = draft.open()
    _go_behind(page, "Behind.")
    page.keyboard.press("Enter")
    page.keyboard.type("/diagram")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Valid", exact=True)).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("ControlOrMeta+k")
    expect(page.get_by_role("combobox", name="Search or jump to")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("textbox", name="Page content")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.type("After it.")
    draft.until(lambda found: found.rstrip().endswith("```\n\nAfter it."))
    page.context.close()
