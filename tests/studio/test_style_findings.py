"""Findings in the text while it is edited: underlined, explained, and fixed, by pointer and by key."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from .test_accessibility import check

RULES = {
    "Use short words": """Short words are easier to read.

```yaml
extends: substitution
message: Use ‘%s’, not ‘%s’.
level: error
ignorecase: true
swap:
  utilize: use
```
""",
    "Leave out words": """Such words blame readers who get stuck.

```yaml
extends: substitution
message: Leave out this word.
swap:
  simply: ""
```
""",
}
TEXT = "You utilize the tide table.\n\nA quiet paragraph.\n\nTODO: say when.\n"


@pytest.fixture(scope="module")
def space(app):
    space = app.fill_space("Tides", ["Start", "Plain"], editMode="live")
    [page, _] = app.call("GET", f"/spaces/{space}/content/pages")["pages"]
    change = {"operation": "update_page", "page": page["id"], "document": {"markdown": TEXT}}
    app.call("POST", f"/spaces/{space}/content", {"changes": [change]})
    sites = f"/orgs/{app.organization}/sites"
    site = app.call("POST", sites, {"title": "Tides", "spaces": [space]})["id"]
    guide = app.call("POST", f"{sites}/{site}/styleguide", {})["id"]
    rules = [
        {"operation": "insert_page", "title": title, "document": {"markdown": text}}
        for title, text in RULES.items()
    ]
    app.call("POST", f"/spaces/{guide}/content", {"changes": rules})
    return space


@pytest.fixture
def draft(app, space):
    """Return the path of a page in a new change request."""
    made = app.call("POST", f"/spaces/{space}/change-requests", {"subject": "Tides"})
    return f"/s/{space}/~/changes/{made['number']}/start"


def _edit(app, draft, who=None, **options):
    page = app.open_as(who, draft, **options) if who else app.open(draft, **options)
    body = page.get_by_role("textbox", name="Page content")
    expect(body).to_be_visible()
    return page, body


def test_findings_are_underlined_explained_and_fixed(app, draft):
    page, body = _edit(app, draft)
    marks = body.locator(".fault")
    expect(marks).to_have_text(["utilize", "TODO"])

    # By pointer, without leaving the text.
    marks.first.click()
    box = page.get_by_role("dialog", name="Use short words")
    expect(box).to_contain_text("Use ‘use’, not ‘utilize’.")
    expect(box).to_contain_text("Short words are easier to read.")
    expect(body).to_be_focused()
    check(page)
    box.get_by_role("button", name="Replace with “use”").click()
    expect(box).to_have_count(0)
    expect(body.get_by_text("You use the tide table.")).to_be_visible()
    expect(marks).to_have_text(["TODO"])

    # By key, with what is written now.
    page.keyboard.press("Control+z")
    expect(marks).to_have_text(["utilize", "TODO"])
    body.get_by_text("A quiet paragraph.").click()
    page.keyboard.press("End")
    page.keyboard.type(" You simply read it.")
    expect(marks).to_have_text(["utilize", "simply", "TODO"])
    page.keyboard.press("Control+Home")
    page.keyboard.press("Control+.")
    expect(box.get_by_role("button", name="Replace with “use”")).to_be_focused()
    page.keyboard.press("Control+.")
    other = page.get_by_role("dialog", name="Leave out words")
    expect(other.get_by_role("button", name="Remove “simply”")).to_be_focused()
    page.keyboard.press("Enter")
    expect(body.get_by_text("A quiet paragraph. You read it.")).to_be_visible()
    expect(body).to_be_focused()
    page.keyboard.press("Control+.")
    unfinished = page.get_by_role("dialog", name="Text is unfinished")
    expect(unfinished.get_by_role("button", name="Next")).to_be_focused()
    page.keyboard.press("Escape")
    expect(unfinished).to_have_count(0)
    expect(body).to_be_focused()

    # In the panel beside the page, too.
    panel = page.get_by_role("button", name="Side panel")
    if panel.get_attribute("aria-pressed") == "false":
        panel.click()
    listed = page.get_by_role("list", name="Findings").get_by_role("listitem")
    expect(listed).to_have_count(2)
    expect(listed.first).to_contain_text("“utilize” Use ‘use’, not ‘utilize’.")
    listed.first.get_by_role("button").press("Enter")
    expect(box.get_by_role("button", name="Replace with “use”")).to_be_focused()
    check(page)
    page.keyboard.press("Enter")
    expect(listed).to_have_count(1)
    expect(page.get_by_role("status").filter(has_text="Saved")).to_be_visible()
    page.context.close()


def test_underlines_follow_the_text_that_others_write(app, draft):
    one, body = _edit(app, draft)
    two, other = _edit(app, draft, app.colleague("Mei"))
    paragraph, same = body.locator("p").nth(1), other.locator("p").nth(1)
    paragraph.click()
    one.keyboard.press("End")
    one.keyboard.type(" They utilize it.")
    mark = paragraph.locator(".fault", has_text="utilize")
    expect(mark).to_be_visible()
    expect(same.locator(".fault")).to_have_text(["utilize"])
    mark.click()
    box = one.get_by_role("dialog", name="Use short words")
    expect(box).to_be_visible()
    same.click()
    two.keyboard.press("Home")
    two.keyboard.type("Simply read: ")
    expect(paragraph).to_have_text("Simply read: A quiet paragraph. They utilize it.")
    expect(paragraph.locator(".fault")).to_have_text(["utilize"])
    box.get_by_role("button", name="Replace with “use”").click()
    expect(same).to_have_text("Simply read: A quiet paragraph. They use it.")
    expect(same.locator(".fault")).to_have_count(0)
    one.context.close()
    two.context.close()


@pytest.mark.parametrize("look", ["light", "dark"])
def test_findings_are_explained_on_a_phone(app, draft, look):
    page, body = _edit(app, draft, viewport={"width": 390, "height": 800}, color_scheme=look, has_touch=True)
    mark = body.locator(".fault", has_text="TODO")
    mark.tap()
    box = page.get_by_role("dialog", name="Text is unfinished")
    expect(box).to_be_visible()
    check(page)
    placed = box.bounding_box()
    assert placed is not None and placed["x"] >= 0 and placed["x"] + placed["width"] <= 390
    box.get_by_role("button", name="Close").tap()
    expect(box).to_have_count(0)
    page.context.close()


def test_underlines_can_be_turned_off(app, draft):
    page = app.open("/~/account")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.get_by_role("checkbox", name="Underline findings while editing").uncheck()
    page.goto(app.url + draft)
    body = page.get_by_role("textbox", name="Page content")
    body.get_by_text("TODO").click()
    page.keyboard.press("End")
    page.keyboard.type(" You utilize it.")
    expect(page.get_by_role("status").filter(has_text="Saved")).to_be_visible()
    page.wait_for_timeout(1_500)
    expect(body.locator(".fault")).to_have_count(0)
    assert not [url for url in asked if re.search("/styleguide/", url)]
    page.context.close()
